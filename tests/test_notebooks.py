"""The notebooks in `examples/` run from top to bottom; their own assertions hold."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = ("look_inside_one_step", "find_a_stack", "train_on_a_dataset")


def test_every_notebook_is_run_here() -> None:
    assert {path.stem for path in EXAMPLES.rglob("*.ipynb")} == set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_no_stored_output_and_runs(name: str, tmp_path: Path) -> None:
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert any("assert " in cell.source for cell in code)
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=where).execute()
    assert all(cell.execution_count for cell in code)
    assert not list(tmp_path.iterdir())
