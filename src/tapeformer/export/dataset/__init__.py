"""Chains of thought as training data: Parquet for `datasets`, chats as JSON lines, a card."""

from tapeformer.export.dataset.options import DatasetOptions
from tapeformer.export.dataset.verify import Verified, verify_dataset
from tapeformer.export.dataset.write import write_dataset

__all__ = ["DatasetOptions", "Verified", "verify_dataset", "write_dataset"]
