"""A command in a process of its own, forked from one that has imported the package already.

A new interpreter takes longer to import than most commands take to run. The process has its own
descriptors, environment, working folder and exit status, as if it had been started by a shell.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

SECONDS = 120
USED = ("inference.run", "inference.batch.run", "inference.compare", "engines.native.engine")


def run(words: tuple[str, ...], stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command; its environment and folder are those of the caller."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "0").write_text(stdin or "", encoding="utf-8")
        asked = {"words": words, "folder": name, "cwd": os.getcwd(), "env": dict(os.environ)}
        status = _ask(_server(), json.dumps(asked))
        out, errors = ((folder / part).read_text(encoding="utf-8") for part in "12")
    return subprocess.CompletedProcess(["tapeformer", *words], status, out, errors)


@cache
def _server() -> subprocess.Popen[str]:
    """Start the process to fork from; it ends when its standard input does."""
    command = [sys.executable, "-m", "tests.cli.forked"]
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _ask(server: subprocess.Popen[str], line: str) -> int:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(line + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


def serve() -> None:
    """Fork a process for each line that is read; answer with its status as `subprocess` counts."""
    from tapeformer.cli.app import COMMANDS

    for name in (*(f"cli.{command}" for command in COMMANDS), *USED):
        import_module(f"tapeformer.{name}")
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _become(asked)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(asked: dict[str, Any]) -> None:
    """Be the command: never returns."""
    status = 1
    try:
        signal.alarm(SECONDS)
        os.environ.clear()
        os.environ.update(asked["env"])
        os.chdir(asked["cwd"])
        _redirect(Path(asked["folder"]))
        sys.argv = ["tapeformer", *asked["words"]]
        status = _status()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _redirect(folder: Path) -> None:
    """Give the process standard streams of its own."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        opened = os.open(folder / str(number), flags | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", 1, closefd=False, encoding="utf-8")  # noqa: SIM115


def _status() -> int:
    """Run the command line; return its exit status."""
    from tapeformer.__main__ import main

    try:
        main()
    except SystemExit as exit:
        if isinstance(exit.code, str):
            print(exit.code, file=sys.stderr)
            return 1
        return exit.code or 0
    return 0


if __name__ == "__main__":
    serve()
