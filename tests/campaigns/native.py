"""Dense, sparse and native engines and batches side by side: whole traces, whatever the weights.

`python -m tests.campaigns.native --gallery` runs every gallery machine by both constructions,
`--models 200` as many random Turing machines and as many random queue machines, `--edited 200` as
many models with one parameter changed, `--small 200` as many small models with random weights.
What differs is printed, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions.realtime.layout import fewest_levels
from tapeformer.engines import dense, native, sparse
from tapeformer.engines.batch import Budget, prompts_of
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.native.batch import Batch
from tapeformer.engines.stream import Stream, Value, stops
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.inference.decode import Reader
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.weights.matrices import matrix
from tapeformer.weights.parameters import parameters, with_parameters
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.record import Matrix, Token, TransformerWeights
from tests.constructions.machines import random_machine, random_word
from tests.small_models import SmallModel
from tests.table_machines import table_machine

TOKENS = 60
DENSE_TOKENS, SPARSE_TOKENS, RUN_TOKENS = 200, 2000, 600
WIDE, WIDE_TOKENS = 4000, 30
"""Models wider than this take the dense engine long, so it is asked for few tokens."""
CONSTRUCTIONS = ("paper", "realtime")
TO_EDIT = ("busy_beaver_3", "busy_beaver_5", "copy", "palindrome", "parity_of_ones", "left_end")
LONGEST = 14

End = tuple[tuple[int, int], float, list[list[int]]]
"""Tokens made and counted, the margin, and the last window."""


@dataclass(frozen=True, eq=False)
class Case:
    """A model with its look-backs and a prompt; a run of it goes on while `running` is so."""

    name: str
    weights: TransformerWeights
    offsets: tuple[int, ...]
    prompt: tuple[Token, ...]
    running: Value = (0, 0)
    counted: Value = (0, 0)


def random_case(seed: int) -> Case:
    """A random queue machine as a model, with a random word."""
    chance = random.Random(seed)
    rules = ["a", *chance.choices(["a", "b", "c", "one"], k=chance.randrange(3))]
    made = table_machine(seed, rules, untested=["one", "b"])
    lengths = {"a": 2 * chance.randint(1, 8), "b": chance.randint(1, 16), "c": 4, "one": 1}
    weights = transformer(made.machine, chance.choice(["queue", "offset"]))
    word = "".join(chance.choices("01", k=chance.randint(1, 12)))
    offsets = offsets_for(weights, lengths)
    return Case(f"queue machine {seed}", weights, offsets, made.prompt(weights, word))


def small_case(seed: int) -> Case:
    """A small Transformer with random weights."""
    made, chance = SmallModel(seed), random.Random(seed)
    factors = chance.choices(range(len(made.sizes)), k=2)
    running, counted = ((factor, chance.randrange(made.sizes[factor])) for factor in factors)
    name = f"small model {seed}"
    return Case(name, made.weights, made.offsets, made.prompt, running, counted)


def machine_case(machine: TuringMachine, construction: str, word: tuple[str, ...]) -> Case:
    """A Turing machine by one of the constructions, with a word and a little room."""
    levels = max(4, fewest_levels(len(word)))
    options = CompileOptions("realtime", levels=levels, base=2)
    if construction == "paper":
        options = CompileOptions("paper", levels=2, space=max(12, len(word)))
    bundle = compile_machine(machine, options)
    reader = Reader(bundle)
    return Case(
        f"{machine.name} by {construction}",
        bundle.weights,
        bundle.offsets,
        reader.prompt(word),
        reader.goes_on,
        reader.makes_a_step,
    )


def turing_case(seed: int) -> Case:
    """A random Turing machine: 1 to 3 tapes, both kinds of tape, both constructions in turn."""
    kind = list(TapeKind)[seed // 6 % 2]
    machine = random_machine(seed, 1 + seed // 2 % 3, kind)
    return machine_case(machine, CONSTRUCTIONS[seed % 2], random_word(seed, machine, LONGEST))


@lru_cache(maxsize=2 * len(TO_EDIT))
def gallery_case(name: str, construction: str) -> Case:
    """A gallery machine with the longest of its worked inputs that is not very long."""
    machine = gallery_machine(name)
    words = sorted((case.word for case in machine.cases), key=len)
    short = [word for word in words if len(word) <= LONGEST]
    return machine_case(machine, construction, short[-1] if short else words[0])


def edited_case(seed: int) -> Case:
    """A gallery machine, or every third time a random Turing machine, with one edit."""
    chance = random.Random(seed)
    if seed % 3 == 0:
        return edited(turing_case(seed // 3 * 2 + seed % 2), seed)
    return edited(gallery_case(chance.choice(TO_EDIT), chance.choice(CONSTRUCTIONS)), seed)


def edited(case: Case, seed: int, path: str = "") -> Case:
    """The same with one entry changed, sometimes one that was zero, of any or a given parameter."""
    chance = random.Random(seed)
    among = [p for p in parameters(case.weights) if min(p.shape) > 0 and path in ("", p.path)]
    kinds = sorted({_kind(p.path) for p in among})
    kind = chance.choice(kinds)
    parameter = chance.choice([p for p in among if _kind(p.path) == kind])
    at = tuple(chance.randrange(size) for size in parameter.shape)
    old = parameter.value
    if isinstance(old, Matrix):
        places = zip(old.rows.tolist(), old.columns.tolist(), strict=True)
        entries = dict(zip(places, old.values.tolist(), strict=True))
        if entries and chance.random() < 0.7:
            at = chance.choice(sorted(entries))
        value = _other(chance, entries.get((at[0], at[1]), 0))
        new: Matrix | np.ndarray = matrix(old.shape, {**entries, (at[0], at[1]): value})
    else:
        new = old.copy()
        new[at] = value = _other(chance, int(old[at]))
    weights = with_parameters(case.weights, {parameter.path: new})
    return replace(case, name=f"{case.name}, {parameter.path}[{at}] = {value}", weights=weights)


def _kind(path: str) -> str:
    """What a parameter is for: its path without numbers."""
    return "".join(letter for letter in path if not letter.isdecimal())


def _other(chance: random.Random, old: int) -> int:
    """Another value: the sign flipped, a little more or less, any small number, or a large one."""
    drawn = [-old, old - 1, old + 1, chance.randint(-2, 3), chance.choice([-900, -9, 9, 900])]
    return chance.choice([value for value in drawn if value != old])


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


def differences(case: Case, cache: Path, tokens: int = TOKENS) -> list[str]:
    """The engines that do not agree with the dense one."""
    found = dict(traces(case, cache, tokens))
    return [name for name, trace in found.items() if trace != found["dense"]]


def long_differences(case: Case, cache: Path, tokens: int = SPARSE_TOKENS) -> list[str]:
    """Where native code, in one stream or in a batch, does not agree with the sparse engine."""
    sparse_one = sparse.Engine(case.weights, case.offsets)
    native_one = native.Engine(case.weights, case.offsets, cache=cache)
    ends = []
    for engine in (sparse_one, native_one):
        engine.prompt(case.prompt)
        rows = np.concatenate([engine.advance(tokens // 2), engine.advance(tokens // 2)])
        ends.append((rows.tolist(), engine.margin, engine.window_tokens().tolist()))
    wrong = [] if ends[0] == ends[1] else ["native, long"]
    return wrong + _run_differences(case, cache, RUN_TOKENS)


def _run_differences(case: Case, cache: Path, tokens: int) -> list[str]:
    """The same for runs to a verdict: several prompts alone, and all of them in a batch."""
    prompts = [case.prompt, case.prompt[:1], case.prompt[: len(case.prompt) // 2 + 1]]
    alone = [ended(case, prompt, cache, tokens) for prompt in prompts]
    wrong = [f"native, run {i}" for i, (slow, fast) in enumerate(alone) if slow != fast]
    try:
        watched = (case.running[0], case.counted[0])
        batch = Batch(case.weights, case.offsets, cache, watched=watched)
    except NotLogicError:
        return wrong
    rows = prompts_of([np.asarray(prompt, np.int32) for prompt in prompts])
    found = batch.run(rows, case.running, ((case.counted, 1),), Budget(1 << 60, tokens))
    for end in chain.from_iterable(found):
        for place, index in enumerate(end.inputs.tolist()):
            made = int(end.tokens[place]), int(end.counted[place])
            got = (made, float(end.margin[place]), end.windows.rows(place).tolist())
            expected = kept_part(alone[index][0], batch.places.kept)
            if not end.doubted[place] and got != expected:
                wrong.append(f"batch, run {index}")
    return wrong


def kept_part(end: End, kept: NDArray[np.int64]) -> End:
    """An end with 0 where a batch keeps a factor no longer, because no head can fetch it."""
    made, margin, rows = end
    window = np.array(rows)
    ages = np.arange(len(window))[::-1, None]
    return made, margin, np.where(ages < kept, window, 0).tolist()


def ended(case: Case, prompt: tuple[Token, ...], cache: Path, tokens: int) -> tuple[End, End]:
    """A run to its verdict, by the sparse and by the native engine."""
    ends = []
    for engine in (
        sparse.Engine(case.weights, case.offsets),
        native.Engine(case.weights, case.offsets, cache=cache),
    ):
        engine.prompt(prompt)
        made = _run(engine, tokens, case)
        ends.append((made, engine.margin, engine.window_tokens().tolist()))
    return ends[0], ends[1]


def _run(engine: Stream, most: int, case: Case) -> tuple[int, int]:
    """Tokens made and counted up to the verdict, also where another engine takes over."""
    made = counted = 0
    while made < most:
        more, hits = engine.run(most - made, (case.running,), case.counted)
        made, counted = made + more, counted + hits
        if more and stops(engine.last_token(), (case.running,)):
            break
    return made, counted


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """All that was asked for, one after another."""
    most = max(options.models, options.edited, options.small)
    seeds = range(options.seed, options.seed + most)
    names = gallery_names() if options.gallery else ()
    yield from (gallery_case(name, kind) for name in names for kind in CONSTRUCTIONS)
    models, edits = seeds[: options.models], seeds[: options.edited]
    yield from chain(map(random_case, models), map(turing_case, models), map(edited_case, edits))
    yield from map(small_case, seeds[: options.small])


def main() -> int:
    """Runs the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gallery", action="store_true", help="every gallery machine, twice")
    parser.add_argument("--models", type=int, default=0, help="random machines")
    parser.add_argument("--edited", type=int, default=0, help="models with one entry changed")
    parser.add_argument("--small", type=int, default=0, help="small models with random weights")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    results: Counter[str] = Counter()
    for case in cases(options):
        wrong, reason = compared(case)
        results["differ" if wrong else "agree"] += 1
        results["by machine code"] += not reason
        told = f"{', '.join(wrong)} DIFFER" if wrong else "agree"
        print(f"{case.name}: {told}{f' ({reason})' if reason else ''}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(results.items())))
    return 1 if results["differ"] else 0


def compared(case: Case) -> tuple[list[str], str]:
    """What differs, and why there was no machine code for it, if there was none."""
    wide = len(case.weights.fields) > WIDE
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        wrong = differences(case, cache, WIDE_TOKENS if wide else DENSE_TOKENS)
        wrong += long_differences(case, cache)
        return wrong, native.Engine(case.weights, case.offsets, cache=cache).reason


if __name__ == "__main__":
    sys.exit(main())
