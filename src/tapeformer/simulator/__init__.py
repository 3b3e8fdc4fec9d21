"""The direct simulator: the oracle. It reads machines and shares no code with the compiler."""

from tapeformer.simulator.fast import simulate
from tapeformer.simulator.result import Configuration, Outcome, Result, Tape
from tapeformer.simulator.stepwise import Stepper, configurations

__all__ = ["Configuration", "Outcome", "Result", "Stepper", "Tape", "configurations", "simulate"]
