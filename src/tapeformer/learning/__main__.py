"""`python -m tapeformer.learning CONFIG DATA OUTPUT [ARM...]`: training where only PyTorch is there.

The command `tapeformer learn` does the same, and prepares the data as well.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tapeformer.learning.config import load_config
from tapeformer.learning.experiment import run_experiment


def main() -> None:
    """Run the arms that are named, or all of them, on prepared data."""
    config, data, output, *arms = sys.argv[1:]
    found = run_experiment(
        load_config(config),
        Path(data),
        Path(output),
        arms=arms or None,
        watch=lambda text: print(text, file=sys.stderr, flush=True),
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
