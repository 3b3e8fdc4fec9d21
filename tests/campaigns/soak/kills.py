"""A command that is killed at random moments gives the same answers when it is run again."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.campaigns.kills import disturbed, new_place
from tests.campaigns.soak.trial import Checked, WrongError


class KillTrial:
    """One run or batch that is killed one to three times."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.parts: Sequence[object] = ()
        self.batch = random.Random(f"kind of kill {seed}").random() < 0.5

    def run(self, parts: Sequence[object]) -> Checked:
        """Compare with an undisturbed run of the same command."""
        del parts
        chance = random.Random(f"kills {self.seed}")
        with tempfile.TemporaryDirectory() as name:
            plain, begun = new_place(Path(name), "plain"), time.monotonic()
            expected = plain.result(self.batch)
            longest = time.monotonic() - begun
            wrong = disturbed(
                new_place(Path(name), "killed"), self.batch, expected, chance, longest
            )
        if wrong:
            raise WrongError("; ".join(wrong))
        return Checked(kills=1)
