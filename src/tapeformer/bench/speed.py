"""Speed: tokens and steps per second of each engine, beside automata-lib, all in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from tapeformer.bench.report import Row, peak_megabytes
from tapeformer.compile import compile_machine
from tapeformer.compile_options import CompileOptions
from tapeformer.engines.registry import make_engine
from tapeformer.engines.stream import Stream
from tapeformer.gallery import gallery_machine
from tapeformer.generation import Generation, Reader
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.fast import simulate
from tapeformer.weights.bundle import Bundle

REPEATS = 5
BEAVER, ADDER = "busy_beaver_5", "binary_addition"
TOKENS = {"dense": 300, "sparse": 2_000, "native": 1_000_000}


def median_rate(work: Callable[[], int]) -> dict[str, float]:
    """The median of what is made per second over repeats, with the least and the most."""
    rates = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        made = work()
        rates.append(made / (time.perf_counter() - started))
    return {"per second": statistics.median(rates), "least": min(rates), "most": max(rates)}


def speed(tell: Callable[[str], None]) -> list[Row]:
    """Every engine on BB(5)'s 12-level model and on a three-tape adder, beside the peers."""
    rows: list[Row] = []
    for name, levels, word in ((BEAVER, 12, ""), (ADDER, 8, _sum(120))):
        machine = gallery_machine(name)
        bundle = compile_machine(machine, CompileOptions(levels=levels))
        for engine in TOKENS:
            tell(f"{engine} on {name}")
            rows.append(_engine_row(engine, name, bundle, tuple(word)))
        tell(f"direct simulation of {name}")
        rows += _simulator_rows(machine, tuple(word))
    return rows


def _sum(digits: int) -> str:
    return "10" * (digits // 2) + "#" + "01" * (digits // 2)


def _engine_row(engine: str, name: str, bundle: Bundle, word: tuple[str, ...]) -> Row:
    stream = started(engine, bundle, word)
    tokens = TOKENS[engine]
    rate = median_rate(lambda: stream.run(tokens)[0])
    return {"what": f"tapeformer {engine}", "machine": name, "unit": "tokens", **rate}


def started(engine: str, bundle: Bundle, word: tuple[str, ...]) -> Stream:
    """An engine that has read its prompt."""
    stream = make_engine(engine, bundle.weights, bundle.offsets)
    stream.prompt(Reader(bundle).prompt(word))
    return stream


def _simulator_rows(machine: TuringMachine, word: tuple[str, ...]) -> list[Row]:
    ours = median_rate(lambda: _simulated(machine, word, 1_000_000))
    peer = "DTM" if machine.tapes == 1 else "MNTM"
    theirs = median_rate(lambda: _peer_steps(machine, word, 20_000 if peer == "DTM" else 500))
    common = {"machine": machine.name, "unit": "direct steps"}
    return [
        {"what": "tapeformer simulate", **common, **ours},
        {"what": f"automata-lib {peer}", **common, **theirs},
    ]


def _simulated(machine: TuringMachine, word: tuple[str, ...], steps: int) -> int:
    made = 0
    while made < steps:
        made += simulate(machine, word, max_steps=steps).steps
    return made


def _peer_steps(machine: TuringMachine, word: tuple[str, ...], steps: int) -> int:
    """Steps of automata-lib on the same machine."""
    text = "".join(word) or machine.blank
    made = 0
    for _ in peer_machine(machine).read_input_stepwise(text):
        made += 1
        if made > steps:
            break
    return made


def peer_machine(machine: TuringMachine) -> Any:
    """The same machine for automata-lib: a DTM for one tape, an MNTM for several."""
    from automata.tm.dtm import DTM
    from automata.tm.mntm import MNTM

    table: dict[str, dict[Any, Any]] = {}
    for rule in machine.rules:
        moves = ["LNR"[move + 1] for move in rule.moves]
        if machine.tapes == 1:
            table.setdefault(rule.state, {})[rule.read[0]] = (
                *(rule.next_state, rule.write[0]),
                moves[0],
            )
        else:
            action = (rule.next_state, tuple(zip(rule.write, moves, strict=True)))
            table.setdefault(rule.state, {})[rule.read] = [action]
    common: dict[str, Any] = {
        "states": set(machine.states),
        "input_symbols": set(machine.symbols) - {machine.blank},
        "tape_symbols": set(machine.symbols),
        "transitions": table,
        "initial_state": machine.start,
        "blank_symbol": machine.blank,
        "final_states": set(machine.stopping),
    }
    return DTM(**common) if machine.tapes == 1 else MNTM(n_tapes=machine.tapes, **common)


def scale(counts: tuple[int, ...], tell: Callable[[str], None]) -> list[Row]:
    """Nanoseconds per token and peak memory of the native engine against the number of tokens."""
    bundle = compile_machine(gallery_machine(BEAVER), CompileOptions(levels=12))
    rows: list[Row] = []
    for tokens in counts:
        tell(f"{tokens:,} tokens")
        stream = started("native", bundle, ())
        begun = time.perf_counter()
        stream.run(tokens)
        seconds = time.perf_counter() - begun
        nanoseconds = seconds / tokens * 1e9
        rows.append({"tokens": tokens, "ns per token": nanoseconds, "peak MB": peak_megabytes()})
    return rows


def beaver_to_its_end(watch: Callable[[int], bool] | None) -> Row:
    """BB(5), every token from the weights, its last tape held against the direct simulation."""
    machine = gallery_machine(BEAVER)
    begun = time.perf_counter()
    bundle = compile_machine(machine, CompileOptions(levels=12))
    run = Generation(bundle, (), "native")
    ready = time.perf_counter()
    run.finish(10**9, None, watch)
    seconds = time.perf_counter() - ready
    answer, direct = run.answer(seconds), simulate(machine)
    return {
        "outcome": answer.outcome.value,
        "steps": answer.steps,
        "tokens": answer.cot_tokens,
        "ones": sum(symbol != machine.blank for symbol in answer.tapes[0].content),
        "equals the direct simulation": (answer.steps, answer.tapes)
        == (direct.steps, direct.tapes),
        "seconds to compile": ready - begun,
        "seconds": seconds,
        "tokens per second": answer.cot_tokens / seconds,
    }
