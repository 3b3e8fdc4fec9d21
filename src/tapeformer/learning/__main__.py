"""`python -m tapeformer.learning CONFIG DATA OUTPUT [ARM...]`: training where only PyTorch is there.

The command `tapeformer learn` does the same, and prepares the data as well. Started by `torchrun`,
several processes (and GPUs) train an arm with given look-backs together.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path

from tapeformer.learning.config import load_config
from tapeformer.learning.distributed import join, team
from tapeformer.learning.experiment import run_experiment


def main() -> None:
    """Run the arms that are named, or all of them, on prepared data."""
    given = _parser().parse_args()
    device = join()
    found = run_experiment(
        load_config(given.config),
        given.data,
        given.output,
        arms=given.arms or None,
        longest=given.longest,
        device=None if device is None else str(device),
        watch=lambda text: print(text, file=sys.stderr, flush=True),
    )
    if team().rank == 0:
        print(json.dumps(found))


def _parser() -> ArgumentParser:
    parser = ArgumentParser("python -m tapeformer.learning", description=__doc__)
    for name in ("config", "data", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("arms", nargs="*")
    parser.add_argument("--longest", type=int, help="leave out longer test words")
    return parser


if __name__ == "__main__":
    main()
