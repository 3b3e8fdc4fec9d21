"""Native, sparse and dense engines side by side on random models and on models with one edit.

`python -m tests.campaigns.native --models 200` runs as many random queue machines, and as many
models with one parameter changed; `--gallery 40` does the same with gallery machines by both
constructions. It prints what differs and ends with status 1 if anything does.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from tapeformer.compile import compile_machine
from tapeformer.compile_options import CompileOptions
from tapeformer.engines import dense, native, sparse
from tapeformer.gallery import gallery_machine
from tapeformer.generation import Reader
from tapeformer.lowering.step2 import transformer
from tapeformer.weights.matrices import matrix
from tapeformer.weights.parameters import parameters, with_parameters
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.record import Matrix, Token, TransformerWeights
from tests.table_machines import table_machine

TOKENS = 60
MACHINES = ("busy_beaver_3", "busy_beaver_5", "copy", "palindrome", "same_word", "binary_addition")


@dataclass(frozen=True, eq=False)
class Case:
    """A model with its look-backs and a prompt."""

    name: str
    weights: TransformerWeights
    offsets: tuple[int, ...]
    prompt: tuple[Token, ...]


def random_case(seed: int) -> Case:
    """A random queue machine as a model, with a random word."""
    chance = random.Random(seed)
    rules = ["a", *chance.choices(["a", "b", "c", "one"], k=chance.randrange(3))]
    made = table_machine(seed, rules, untested=["one", "b"])
    lengths = {"a": 2 * chance.randint(1, 8), "b": chance.randint(1, 16), "c": 4, "one": 1}
    weights = transformer(made.machine, chance.choice(["queue", "offset"]))
    word = "".join(chance.choices("01", k=chance.randint(1, 12)))
    offsets = offsets_for(weights, lengths)
    return Case(f"machine {seed}", weights, offsets, made.prompt(weights, word))


def gallery_case(seed: int) -> Case:
    """A gallery machine by one of the constructions, with a short word."""
    chance = random.Random(seed)
    machine = gallery_machine(chance.choice(MACHINES))
    construction = chance.choice(["paper", "realtime"])
    options = CompileOptions(construction, levels=chance.choice([3, 4]), base=2)
    bundle = compile_machine(machine, options)
    symbols = sorted(bundle.prompt.symbols)
    word = chance.choices(symbols, k=chance.randrange(3)) if symbols else []
    prompt = Reader(bundle).prompt(word)
    name = f"{machine.name} by {construction}, {seed}"
    return Case(name, bundle.weights, bundle.offsets, prompt)


def edited(case: Case, seed: int, path: str = "") -> Case:
    """The same with one entry changed, sometimes one that was zero, of any or a given parameter."""
    chance = random.Random(seed)
    among = [p for p in parameters(case.weights) if min(p.shape) > 0 and path in ("", p.path)]
    parameter = chance.choice(among)
    at = tuple(chance.randrange(size) for size in parameter.shape)
    old = parameter.value
    value = chance.choice([-2, -1, 0, 1, 2, 3])
    if isinstance(old, Matrix):
        places = zip(old.rows.tolist(), old.columns.tolist(), strict=True)
        entries = dict(zip(places, old.values.tolist(), strict=True))
        if entries and chance.random() < 0.7:
            at = chance.choice(sorted(entries))
        entries[at[0], at[1]] = value
        new: Matrix | np.ndarray = matrix(old.shape, entries)
    else:
        new = old.copy()
        new[at] = value
    weights = with_parameters(case.weights, {parameter.path: new})
    return replace(case, name=f"{case.name}, {parameter.path}[{at}] = {value}", weights=weights)


def traces(case: Case, cache: Path, tokens: int = TOKENS) -> Iterator[tuple[str, object]]:
    """The tokens, the margin and the last window by each engine."""
    for name, engine in (
        ("dense", dense.Engine(case.weights, case.offsets)),
        ("sparse", sparse.Engine(case.weights, case.offsets)),
        ("native", native.Engine(case.weights, case.offsets, cache=cache)),
    ):
        engine.prompt(case.prompt)
        rows = np.concatenate([engine.advance(7), engine.advance(tokens - 7)])
        yield name, (rows.tolist(), engine.margin, engine.window_tokens().tolist())


def differences(case: Case, cache: Path) -> list[str]:
    """The engines that do not agree with the dense one."""
    found = dict(traces(case, cache))
    return [name for name, trace in found.items() if trace != found["dense"]]


def main() -> int:
    """Runs the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--gallery", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    results: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        start = options.seed
        plains = chain(
            map(random_case, range(start, start + options.models)),
            map(gallery_case, range(start, start + options.gallery)),
        )
        for seed, plain in enumerate(plains, start):
            for case in (plain, edited(plain, seed)):
                wrong = differences(case, Path(folder))
                results["differ" if wrong else "agree"] += 1
                if wrong:
                    print(f"{case.name}: {', '.join(wrong)} differ from dense")
    print(", ".join(f"{count} {what}" for what, count in sorted(results.items())))
    return 1 if results["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
