"""Many inputs of one model: run at once if there is machine code for it, answered in order."""

from tapeformer.inference.batch.files import Summary, run_file
from tapeformer.inference.batch.inputs import Inputs
from tapeformer.inference.batch.runner import BatchModel, BatchOptions, BatchRunner

__all__ = ["BatchModel", "BatchOptions", "BatchRunner", "Inputs", "Summary", "run_file"]
