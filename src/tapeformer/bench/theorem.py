"""The theorems, measured: tokens per step against s and k', space, window, parameters for all n."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tapeformer.bench.report import Row, Section, levels_of
from tapeformer.bench.sweep import swept
from tapeformer.bench.workloads import WORKLOADS, Workload
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.sizes import for_words
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.answer import Answer
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.fast import MOST_STEPS, simulate
from tapeformer.weights.count import count

SIZES: dict[int, tuple[int, ...]] = {
    1: (16, 32, 64, 128, 256),
    2: (16, 32, 64, 128, 256, 512, 1024),
    3: (64, 128, 256, 512, 1024, 2048, 4096),
}
POST_SIZES = (16, 32, 64, 128, 256)
REALTIME_SIZES = (16, 64, 256, 1024, 4096, 20_000)
ONE_TAPE = ("fill_and_drain", "zigzag", "excursions")
QUADRATIC = ("zigzag", "excursions")
LONGEST_QUADRATIC = 128
"""Zigzags take s^2 steps, so they are measured on small tapes only."""


@dataclass(frozen=True)
class Point:
    """One run: a workload, a construction, levels, a size."""

    name: str
    construction: str
    levels: int
    space: int


def points(largest: int | None) -> Iterator[Point]:
    """Yield everything that is measured, up to a size."""
    for levels, sizes in SIZES.items():
        for name in (*ONE_TAPE, "three_tapes"):
            for space in _sizes(name, sizes, largest):
                yield Point(name, "paper", levels, space)
    for space in _sizes("fill_and_drain", POST_SIZES, largest):
        yield Point("fill_and_drain", "post", 1, space)
    for name in (*ONE_TAPE, "three_tapes"):
        for space in _sizes(name, REALTIME_SIZES, largest):
            yield Point(name, "realtime", 0, space)


def _sizes(name: str, sizes: Sequence[int], largest: int | None) -> list[int]:
    most = min(largest or max(sizes), LONGEST_QUADRATIC if name in QUADRATIC else max(sizes))
    return [size for size in sizes if size <= most]


def measure(point: Point, engine: str) -> Row:
    """Run one point, check the answer against the direct simulation, and report the costs."""
    work = WORKLOADS[point.name]
    word = work.word(point.space)
    expected = simulate(work.machine, word)
    space = max(expected.cells)
    bundle = compile_machine(work.machine, _options(point, work.machine, space, len(word)))
    loading, run, limits = 0, Generation(bundle, word, engine), Limits(MOST_STEPS)
    for rows in run.pieces(limits):
        loading += run.reader.loading(rows)
        if run.counts.boot is not None:
            break
    run.finish(limits)
    answer = run.answer(0.0)
    if (answer.steps, answer.tapes) != (expected.steps, expected.tapes):
        raise TapeformerError(Fault(f"{point} does not give the direct simulation's answer"))
    return _costs(work, bundle, answer, space, loading, len(word))


def _options(point: Point, machine: TuringMachine, space: int, length: int) -> CompileOptions:
    """Return the sizes that a run needs, and the levels that its prompt needs; base 2 where it grows."""
    asked = CompileOptions(point.construction, levels=point.levels or None, space=space)
    return for_words(machine, asked, length)


def _costs(
    work: Workload, bundle: Bundle, answer: Answer, space: int, loading: int, length: int
) -> Row:
    layout, counts = bundle.layout, count(bundle.weights)
    run_tokens = answer.cot_tokens - answer.boot_tokens
    queue_cells = _total_queue_length(bundle)
    per_step = run_tokens / max(answer.steps, 1)
    return {
        "machine": work.machine.name,
        "construction": layout.construction,
        "levels": layout.levels,
        "s": space,
        "base": layout.base,
        "steps": answer.steps,
        "tokens per step": per_step,
        "over levels*base": per_step / (layout.levels * layout.base),
        "boot tokens": answer.boot_tokens,
        "loading over b^k'": loading / layout.base**layout.levels,
        "rewind per symbol": (answer.boot_tokens - loading) / max(length, 1),
        "CoT over t": answer.cot_tokens / max(answer.steps, 1),
        "window over s": layout.window / space,
        "queue cells over k s": queue_cells / (work.machine.tapes * space),
        "heads": counts.attention_heads,
        "d_model": counts.d_model,
        "parameters": counts.parameters,
        "bits": counts.parameter_bits,
    }


def _total_queue_length(bundle: Bundle) -> int:
    """Theorem 2's space: the lengths of all queues together, one for each that a head fetches."""
    rules = bundle.answer["queue_rules"]
    assert isinstance(rules, list | tuple)
    return sum(bundle.layout.lengths[str(rule)] for rule in rules)


def fitted_exponent(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the slope of log y against log x, by least squares."""
    xs = [math.log(x) for x, _ in pairs]
    ys = [math.log(y) for _, y in pairs]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    top = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True))
    return top / sum((x - middle_x) ** 2 for x in xs)


def exponents(rows: Sequence[Row]) -> list[Row]:
    """Return fitted exponents of tokens per step against s, beside 1/k'."""
    groups: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for row in rows:
        key = (row["machine"], row["construction"], levels_of(row))
        groups.setdefault(key, []).append((row["s"], row["tokens per step"]))
    return [
        {
            "machine": name,
            "construction": how,
            "levels": levels,
            "exponent": fitted_exponent(pairs),
            "1/k'": 1 / levels if levels else 0.0,
            "s from": min(s for s, _ in pairs),
            "s to": max(s for s, _ in pairs),
        }
        for (name, how, levels), pairs in groups.items()
        if len(pairs) > 2
    ]


def theorem(
    engine: str,
    largest: int | None,
    tell: Callable[[Point], None],
    cluster: str | None = None,
) -> tuple[list[Section], list[Row]]:
    """Return all points, as the sections of a page; `tell` is told each when it is begun."""

    def begun() -> Iterator[Point]:
        for point in points(largest):
            tell(point)
            yield point

    rows: list[Row] = list(swept(measure, begun(), engine, cluster=cluster))
    constant = _constant_bits([row for row in rows if levels_of(row)])
    return [
        Section("Exponents", "Tokens per step against s, fitted on log axes.", exponents(rows)),
        Section("Runs", "Every answer equals the direct simulation's.", rows),
        Section("Bits", "The same parameters for every s: constant bit-size.", constant),
    ], rows


def _constant_bits(rows: Sequence[Row]) -> list[Row]:
    """Return all bit-sizes seen for each machine and number of levels: there is one."""
    seen: dict[tuple[str, str, int], set[int]] = {}
    for row in rows:
        seen.setdefault((row["machine"], row["construction"], row["levels"]), set()).add(
            row["bits"]
        )
    return [
        {
            "machine": m,
            "construction": c,
            "levels": k,
            "bit-sizes seen": ", ".join(map(str, sorted(b))),
        }
        for (m, c, k), b in seen.items()
    ]
