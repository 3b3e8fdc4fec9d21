"""`python -m tapeformer.learning CONFIG DATA OUTPUT [ARM...]`: training where only PyTorch is there.

The command `tapeformer learn` does the same, and prepares the data as well. Started by `torchrun`,
several processes (and GPUs) train an arm with given look-backs together.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tapeformer.learning.config import load_config
from tapeformer.learning.distributed import join, team
from tapeformer.learning.experiment import run_experiment


def main() -> None:
    """Run the arms that are named, or all of them, on prepared data."""
    config, data, output, *arms = sys.argv[1:]
    device = join()
    found = run_experiment(
        load_config(config),
        Path(data),
        Path(output),
        arms=arms or None,
        device=None if device is None else str(device),
        watch=lambda text: print(text, file=sys.stderr, flush=True),
    )
    if team().rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
