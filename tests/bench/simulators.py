"""The direct simulator beside automata-lib, in one run: steps per second, medians and spread.

`python -m tests.bench.simulators`. Measured on BB(5)'s first steps (DTM) and on the published
three-tape adder (MNTM), each repeated; also runs BB(5) to its end.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Iterator

from tapeformer import TuringMachine, load, loads, simulate
from tapeformer.bench.peers import peer_machine
from tests.simulator.test_published import BEAVERS, DATA
from tests.simulator.test_simulator import as_dtm

REPEATS = 5


def main() -> None:
    """Prints one table."""
    print(f"{platform.machine()}, Python {platform.python_version()}, {REPEATS} repeats")
    beaver = loads(next(r["machine"] for r in BEAVERS if r["steps"] == "47176870"))
    adder = load(DATA / "addition_3tape.txt")
    word = tuple("1011011101" * 20 + "#" + "1110010110" * 20)
    peer_dtm, peer_mntm = as_dtm(beaver), peer_machine(adder)
    dtm = rates(
        "automata-lib DTM, BB(5)", lambda: walked(peer_dtm.read_input_stepwise("0"), 50_000)
    )
    ours = rates("tapeformer, BB(5)", lambda: simulate(beaver, max_steps=2_000_000).steps)
    print(f"  ratio of medians: {ours / dtm:.1f}")
    mntm = rates(
        "automata-lib MNTM, 3-tape adder",
        lambda: walked(peer_mntm.read_input_stepwise("".join(word)), 2_000),
    )
    ours = rates("tapeformer, 3-tape adder", lambda: many(adder, word))
    print(f"  ratio of medians: {ours / mntm:.1f}")
    whole(beaver)


def rates(name: str, work: Callable[[], int]) -> float:
    """The median of steps per second over repeats, printed with the spread."""
    measured = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        steps = work()
        measured.append(steps / (time.perf_counter() - started))
    median = statistics.median(measured)
    spread = f"{min(measured):,.0f} to {max(measured):,.0f}"
    print(f"{name:34} {median:14,.0f} steps/s  ({spread})", flush=True)
    return median


def walked(configurations: Iterator[object], steps: int) -> int:
    """Takes a number of steps of a peer."""
    count = 0
    for _ in configurations:
        if count == steps:
            break
        count += 1
    return count


def many(machine: TuringMachine, word: tuple[str, ...]) -> int:
    """Runs a short machine often enough to be measured."""
    return sum(simulate(machine, word).steps for _ in range(200))


def whole(beaver: TuringMachine) -> None:
    """BB(5) to its end."""
    started = time.perf_counter()
    result = simulate(beaver)
    ones = sum(symbol != "0" for symbol in result.tapes[0].content)
    seconds = time.perf_counter() - started
    print(
        f"BB(5): {result.outcome.value} after {result.steps:,} steps, {ones} ones, {seconds:.1f} s"
    )


if __name__ == "__main__":
    main()
