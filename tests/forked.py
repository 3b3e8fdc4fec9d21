"""Processes that are forked from one that has done its imports already.

A new interpreter takes longer to import than most commands take to run. A forked process has its
own descriptors, environment, working folder and exit status, as if a shell had started it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


class Server:
    """Runs a function, `module:name`, as the main function of new processes.

    `imported` are the modules that are there from the start. The packages in `forgotten` are
    imported again by each process, from its own PYTHONPATH. No process may use more than `memory`.
    """

    def __init__(
        self,
        function: str,
        imported: Sequence[str],
        forgotten: Sequence[str] = (),
        memory: int = resource.RLIM_INFINITY,
    ) -> None:
        self.always = {"function": function, "forgotten": forgotten, "memory": memory}
        command = [sys.executable, "-m", "tests.forked", *imported]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)

    def run(
        self,
        words: Sequence[str],
        stdin: str = "",
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] = os.environ,
        seconds: int = 120,
        computing: int = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run the function with a command line.

        Its status is -SIGALRM after so many seconds, -SIGXCPU after so many of computing.
        """
        with tempfile.TemporaryDirectory() as streams:
            (Path(streams) / "0").write_text(stdin, encoding="utf-8")
            asked: dict[str, Any] = {"words": words, "streams": streams, "seconds": seconds}
            asked |= {"computing": computing}
            asked |= {"folder": str(folder or Path.cwd()), "environment": dict(environment)}
            status = self._answer(json.dumps({**self.always, **asked}))
            texts = [
                (Path(streams) / n).read_text(encoding="utf-8", errors="replace") for n in "12"
            ]
        return subprocess.CompletedProcess(list(words), status, *texts)

    def _answer(self, line: str) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


def serve(imported: Sequence[str]) -> None:
    """Fork a process for each line that is read; answer with its status as `subprocess` counts."""
    for name in imported:
        with contextlib.suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(json.loads(line))
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(asked: dict[str, Any]) -> None:
    """Be the new process: never returns."""
    status = 1
    try:
        os.setsid()
        signal.alarm(asked["seconds"])
        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
        resource.setrlimit(resource.RLIMIT_CPU, (asked["computing"], asked["computing"] + 5))
        _move(asked)
        _redirect(Path(asked["streams"]))
        sys.argv = ["", *asked["words"]]
        status = _status(asked["function"])
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _move(asked: dict[str, Any]) -> None:
    """Take over an environment, a folder and a path; forget what another path may have."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    for name in [name for name in sys.modules if name.partition(".")[0] in asked["forgotten"]]:
        del sys.modules[name]
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(":"))


def _redirect(folder: Path) -> None:
    """Give the process standard streams of its own."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        opened = os.open(folder / str(number), flags | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", 1, closefd=False, encoding="utf-8")  # noqa: SIM115


def _status(function: str) -> int:
    """Call the main function; return the exit status that it asks for."""
    module, _, name = function.partition(":")
    try:
        status = getattr(import_module(module), name)()
    except SystemExit as exit:
        status = exit.code
    if isinstance(status, str):
        print(status, file=sys.stderr)
        return 1
    return int(status or 0)


if __name__ == "__main__":
    serve(sys.argv[1:])
