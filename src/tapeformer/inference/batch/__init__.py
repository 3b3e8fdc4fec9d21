"""Many inputs of one model: decoded at once where there is machine code, answers in order."""

from tapeformer.inference.batch.files import Summary, run_file
from tapeformer.inference.batch.inputs import Inputs
from tapeformer.inference.batch.runner import BatchModel, BatchOptions, BatchRunner

__all__ = ["BatchModel", "BatchOptions", "BatchRunner", "Inputs", "Summary", "run_file"]
