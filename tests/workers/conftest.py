"""What one thread answers, for tests of those that work beside each other."""

from __future__ import annotations

import pytest

from tapeformer.inference.batch import BatchModel, BatchOptions, run_file
from tapeformer.workers import Where
from tests.workers.worker_processes import BUNDLE, INPUTS, MACHINE


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    answers = tmp_path_factory.mktemp("alone") / "answers"
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=answers.parent))
    run_file(model, INPUTS, answers, where=Where(processes=1))
    return answers.read_bytes()
