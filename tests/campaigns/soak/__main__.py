"""`python -m tests.campaigns.soak --minutes 30`: random trials, compared with what cannot be wrong.

Kinds of trials: machines (random machines by every construction and engine, beside the direct
simulation), lanes (full batches against single streams), edited (models with large weights, in
every engine and type), configs (forged bundles), kills (commands killed at random moments).

Seeds count on from those that the history has, so that every campaign tries new ones. A failure is
shrunk and printed with the command that repeats it: `--kind edited --seed 17`. What was checked is
added to `history.jsonl` beside this file; the exit status is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.campaigns.soak.configs import ConfigTrial
from tests.campaigns.soak.edited import EditedTrial
from tests.campaigns.soak.kills import KillTrial
from tests.campaigns.soak.lanes import LaneTrial
from tests.campaigns.soak.machines import MachineTrial
from tests.campaigns.soak.trial import Checked, Trial, failure, shrunk

HISTORY = Path(__file__).parent / "history.jsonl"
KINDS: dict[str, Callable[[int], Trial]] = {
    "machines": MachineTrial,
    "lanes": LaneTrial,
    "edited": EditedTrial,
    "configs": ConfigTrial,
    "kills": KillTrial,
}
SHARES = {"machines": 0.35, "lanes": 0.3, "edited": 0.2, "configs": 0.1, "kills": 0.05}
"""How much of the time each kind of trial gets."""


def history() -> list[dict[str, Any]]:
    """Return the campaigns so far."""
    if not HISTORY.exists():
        return []
    return [json.loads(line) for line in HISTORY.read_text(encoding="utf-8").splitlines()]


def first_seed(kind: str) -> int:
    """Return the first seed of a kind that no campaign has tried."""
    tried = (campaign["seeds"].get(kind, [0, 0])[1] for campaign in history())
    return max(tried, default=0)


def repeated(kind: str, seed: int) -> str:
    """Run one trial; where it fails, shrink it and return what is left of it."""
    trial = KINDS[kind](seed)
    wrong = failure(trial, trial.parts)
    if not wrong:
        return ""
    left = shrunk(trial)
    return f"{kind} {seed}: {wrong}\n  left of {len(trial.parts)} parts: {left}"[:4000]


def campaign(kinds: list[str], minutes: float) -> dict[str, Any]:
    """Run trials, each kind for its share of the time; return what was checked and what failed."""
    total, wrong = Checked(), list[str]()
    seeds: dict[str, list[int]] = {}
    share = sum(SHARES[kind] for kind in kinds)
    for kind in kinds:
        end = time.monotonic() + 60 * minutes * SHARES[kind] / share
        seeds[kind] = [first_seed(kind), first_seed(kind)]
        while time.monotonic() < end:
            seed = seeds[kind][1]
            seeds[kind][1] += 1
            try:
                trial = KINDS[kind](seed)
                total += trial.run(trial.parts)
            except Exception as error:
                once = f"{kind} {seed}: {type(error).__name__}: {error}; not when repeated"
                wrong.append(repeated(kind, seed) or once[:4000])
                print(wrong[-1], flush=True)
        print(f"{kind}: seeds {seeds[kind]}, so far {total}", flush=True)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return {"date": date, "minutes": minutes, "seeds": seeds, **asdict(total), "wrong": wrong}


def main() -> None:
    """Run a campaign and record it, or repeat one trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind")
    parser.add_argument("--seed", type=int, help="repeat this trial of the kind")
    asked = parser.parse_args()
    kinds = asked.kind or list(KINDS)
    if asked.seed is not None:
        wrong = repeated(kinds[0], asked.seed)
        print(wrong or "nothing is wrong")
        sys.exit(bool(wrong))
    found = campaign(kinds, asked.minutes)
    with HISTORY.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    print(json.dumps(found, indent=1))
    sys.exit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
