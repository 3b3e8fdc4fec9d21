"""`python -m tapeformer` is `tapeformer`."""

from tapeformer.cli.app import main

main()
