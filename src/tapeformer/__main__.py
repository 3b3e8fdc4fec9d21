"""`python -m tapeformer` is `tapeformer`."""

import atexit
import gc
import os
import signal
import sys

COLLECT_AFTER = 200_000
"""Objects that are made before cycles are looked for: modules and models have few, and looking takes
a tenth of the start."""

ONE_THREAD = "OPENBLAS_NUM_THREADS", "1"
"""NumPy multiplies small matrices only, and would start threads for large ones when it is imported."""

MONITORING_TOOLS = range(6)
"""The numbers that debuggers, profilers and the like can have in `sys.monitoring`."""


def main() -> None:
    """Run the command line; Ctrl-C while modules are still loading ends it without a traceback."""
    gc.set_threshold(COLLECT_AFTER)
    os.environ.setdefault(*ONE_THREAD)
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tapeformer.cli.app import main as run

    signal.signal(signal.SIGINT, before)
    try:
        run()
    except SystemExit as ending:
        _end(ending.code)
        raise


def _end(status: object) -> None:
    """End at once: to take all modules apart takes a tenth of a short command's time.

    What is still to be written to standard output is written before, by the command itself. Profilers,
    debuggers and `python -i` go on.
    """
    if isinstance(status, int | None) and not (_watched() or sys.flags.interactive):
        atexit._run_exitfuncs()
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(status or 0)


def _watched() -> bool:
    """Say whether a profiler or a debugger follows this process."""
    if sys.gettrace() or sys.getprofile():
        return True
    monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on
    return monitoring is not None and any(map(monitoring.get_tool, MONITORING_TOOLS))


if __name__ == "__main__":
    main()
