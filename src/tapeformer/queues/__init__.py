"""Synchronous multi-queue machines: the bridge between tapes and attention."""

from tapeformer.layout import Layout
from tapeformer.queues.record import Queue, QueueMachine, Register
from tapeformer.queues.run import QueueRun, Token, factor_names, generate, prompt
from tapeformer.queues.show import show, show_token
from tapeformer.queues.verify import verify, verify_layout

__all__ = [
    "Layout",
    "Queue",
    "QueueMachine",
    "QueueRun",
    "Register",
    "Token",
    "factor_names",
    "generate",
    "prompt",
    "show",
    "show_token",
    "verify",
    "verify_layout",
]
