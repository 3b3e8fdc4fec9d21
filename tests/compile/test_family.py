"""Models of machines with the same states and symbols: one circuit, and the table in the biases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tapeformer.bench.enumeration import machines
from tapeformer.bundle.load import load_bundle
from tapeformer.compile.family import FamilyModels, MachineFamily, open_table
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.passes import Compilation, compiled, made, sizes_to_layout
from tapeformer.constructions.open_table import table_constants, table_entries
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.machine.record import Move, Rule, TuringMachine
from tapeformer.queues.run import QueueRun
from tapeformer.queues.verify import verify
from tapeformer.sources import find_machine
from tapeformer.weights.matrices import same
from tapeformer.weights.verify import verify as verify_weights

FAMILY = MachineFamily(("A", "B", "C"), ("0", "1"), ("Z",))
OPTIONS = CompileOptions(levels=3, base=2)
TOKENS = 90


@pytest.fixture(scope="module")
def models() -> FamilyModels:
    return FamilyModels(FAMILY, OPTIONS)


def beavers(count: int) -> list[TuringMachine]:
    return [find_machine(text) for text in machines(count, states=3, seed=7)]


def by_name(run: Generation, limits: Limits) -> list[dict[str, str]]:
    reader = run.reader
    return [reader.named(row) for rows in run.pieces(limits) for row in rows.tolist()]


def test_tokens_are_those_of_the_machines_ordinary_model(models: FamilyModels) -> None:
    limits = Limits(TOKENS, TOKENS)
    for machine in beavers(3):
        ordinary = made(compiled(machine, OPTIONS).bundle)
        expected = by_name(Generation(ordinary, (), "sparse"), limits)
        assert len(expected) > 3
        assert by_name(Generation(models.model(machine), (), "sparse"), limits) == expected


def test_a_member_is_what_its_own_queue_machine_compiles_to(models: FamilyModels) -> None:
    work = sizes_to_layout(Compilation(FAMILY.example, OPTIONS))
    shared = open_table(FAMILY.example, work)
    assert verify(shared) == ()
    for machine in beavers(2):
        constants = table_constants(table_entries(FAMILY.example), machine)
        queues = replace(shared, constants=constants)
        assert verify(queues) == ()
        weights = models.model(machine).weights
        assert verify_weights(weights) == ()
        assert same(weights, transformer(queues))
        assert not same(weights, transformer(shared))
        reader, run = Reader(models.model(machine)), QueueRun(queues, made(work.layout), ())
        rows = Generation(models.model(machine), (), "sparse").piece(Limits(30), 30)
        assert [reader.words(row) for row in rows.tolist()] == [run.advance() for _ in rows]


def test_a_constant_that_no_port_has_is_a_fault() -> None:
    shared = open_table(FAMILY.example, sizes_to_layout(Compilation(FAMILY.example, OPTIONS)))
    wrong = replace(shared, constants={**shared.constants, "table A 0": "7 R A"})
    assert "'table A 0' does not fit" in str(verify(wrong)[0])


def test_a_saved_member_is_still_one(models: FamilyModels, tmp_path: Path) -> None:
    model = models.model(beavers(1)[0])
    model.save(tmp_path / "model")
    loaded = load_bundle(tmp_path / "model")
    assert not loaded.modified
    chosen = models.weights.choice(loaded.weights)
    assert chosen == models.weights.choice(model.weights)
    assert chosen is not None


def test_which_machines_are_members() -> None:
    beaver = find_machine("1RB---_1LA1RC_1LB1RZ")
    assert FAMILY.has(beaver)
    assert not FAMILY.has(find_machine("1RB1LD_1LA1RC_1LB1RZ_1RA0LA"))
    assert not FAMILY.has(replace(beaver, accepting=frozenset("B")))
    stays = Rule("C", ("1",), ("1",), (Move.STAY,), "A")
    assert not FAMILY.has(replace(beaver, rules=(*beaver.rules[:-1], stays)))
    assert not replace(FAMILY, halting=("B", "Z")).has(beaver)
    assert not replace(FAMILY, symbols=tuple("0123456789")).has(beaver)
