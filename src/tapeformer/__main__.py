"""`python -m tapeformer` is `tapeformer`."""

import gc
import os
import signal

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
    finally:
        gc.freeze()  # or Python would look for cycles in all modules once more before it ends


if __name__ == "__main__":
    main()
