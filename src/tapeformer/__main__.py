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

    Standard output is flushed before. Profilers, debuggers and `python -i` go on.
    """
    if sys.gettrace() or sys.getprofile() or sys.flags.interactive:
        return
    if isinstance(status, int | None):
        atexit._run_exitfuncs()
        os._exit(status or 0)


if __name__ == "__main__":
    main()
