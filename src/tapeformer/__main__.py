"""`python -m tapeformer` is `tapeformer`."""

import signal


def main() -> None:
    """Run the command line; Ctrl-C while modules are still loading ends it without a traceback."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tapeformer.cli.app import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
