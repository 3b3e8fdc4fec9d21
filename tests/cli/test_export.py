"""`tapeformer export` as a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "tapeformer", "export", *arguments]
    return subprocess.run(program, capture_output=True, text=True)


def test_a_machine_is_compiled_and_exported(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    options = ("parity_of_ones", "--construction", "post", "--space", "4", "--to", "torch")
    done = command(*options, "-o", str(folder), "--dtype", "bfloat16", "--json")
    assert done.returncode == 0, done.stderr
    assert "parameters as bfloat16" in done.stderr
    record = json.loads(done.stdout)
    assert (record["machine"], record["to"], record["dtype"]) == (
        "parity_of_ones",
        "torch",
        "bfloat16",
    )
    assert set(record["files"]) == {path.name for path in folder.iterdir()}
    again = command(*options, "-o", str(folder))
    assert again.returncode == 2
    assert "already there" in again.stderr
    assert "--overwrite" in again.stderr
