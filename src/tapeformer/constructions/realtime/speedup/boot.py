"""The boot by blocks: symbols are written into the centre block, which is pushed when it is full.

In base 2 a stack always takes the block. In a larger base it may not be ready: then this symbol and
the rest of the prompt go round once more in the delay that they are read from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.realtime.boot import Boot, chosen_level, prompt_cell, read_back
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.speedup.window import Window


@dataclass(frozen=True, kw_only=True)
class BlockBoot(Boot):
    """`loads`: a symbol is written; `skips`: it goes round once more, with all that follow it."""

    loads: Literal
    skips: Literal


def block_boot(
    build: Builder,
    fields: Fields,
    inputs: Mapping[str, Wire],
    window: Window,
    at_end: Literal,
    ready: tuple[Literal, Literal],
) -> BlockBoot:
    """Return the boot of tape 1, whose stacks are `ready` for a shift to the left, and to the right."""
    phase, skipping = inputs["phase"], inputs["skip"]["1"]
    loading = build.one_of(phase["wait"], phase["load"], label="loading")
    read = read_back(build, fields, inputs, loading)
    reading = build.one_of(*read.values(), label="reading")
    symbol = build.one_of(*(read[s] for s in fields.prompt_symbols), label="reads a symbol")
    last = window.at[2 * window.block - 1]
    waits = build.all_of(symbol, last, negated(ready[1]), label="no room for a block")
    over = build.all_of(phase["load"], negated(reading), label="prompt read")
    skips = build.any_of(build.all_of(reading, skipping, label="skips on"), waits, label="skips")
    return BlockBoot(
        chosen=chosen_level(build, fields, inputs),
        symbol=prompt_cell(build, fields, read),
        reading=reading,
        over=build.all_of(over, negated(skipping), label="prompt over"),
        back=build.all_of(phase["rewind"], negated(at_end), ready[0], label="back"),
        begin=build.all_of(phase["rewind"], at_end, label="begin"),
        again=(build.all_of(over, skipping, label="once more"),),
        loads=build.all_of(symbol, negated(skips), label="loads"),
        skips=skips,
    )


def boot_outputs(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], boot: BlockBoot
) -> Iterator[tuple[str, Wire]]:
    """Yield the registers of the boot, and the queues in which what was skipped goes round."""
    yield "skip", bit_wire(boot.skips)
    for level, chosen in boot.chosen.items():
        yield f"load{level}", bit_wire(chosen)
    for level, name in enumerate(fields.input_queues(), 2):
        loads = inputs[f"load{level}"]["1"]
        cases = {
            symbol: build.all_of(
                inputs[name][symbol], loads, boot.skips, label=f"load{level} keeps {symbol}"
            )
            for symbol in fields.prompt_symbols
        }
        rest = negated(build.one_of(*cases.values(), label=f"load{level} keeps"))
        yield name, Wire({fields.dummy: rest, fields.bottom: build.false, **cases})


def loaded(build: Builder, before: Window, after: Window, boot: BlockBoot) -> Window:
    """Return the window of tape 1 with a prompt symbol at the head, which then goes right.

    No step is made in such a token, so what is replaced is taken away without a neuron.
    """
    at, cells = list(after.at), list(after.cells)
    moves = build.one_of(boot.loads, boot.over, label="loads or is over")
    for place in range(before.block, 2 * before.block):
        gone = build.all_of(before.at[place], moves, label=f"leaves {place}")
        here = build.all_of(before.at[place], boot.loads, label=f"loads at {place}")
        at[place] = _without(build, at[place], gone, f"at {place}")
        at[place + 1] = build.one_of(at[place + 1], here, label=f"loaded up to {place + 1}")
        cells[place] = tuple(
            _replaced(build, (before, after), place, bit, here, boot)
            for bit in range(before.code.width)
        )
    at[before.block] = build.one_of(at[before.block], boot.over, label="at the block's beginning")
    return Window(after.code, tuple(cells), tuple(at))


def _replaced(
    build: Builder,
    windows: tuple[Window, Window],
    place: int,
    bit: int,
    here: Literal,
    boot: BlockBoot,
) -> Literal:
    """Return a bit of a cell, or of the prompt symbol where that is loaded here."""
    before, after = windows
    name = f"cell {place} bit{bit}"
    old = build.all_of(before.cells[place][bit], here, label=f"{name} replaced")
    new = build.all_of(boot.symbol[bit], here, label=f"{name} loaded")
    return build.one_of(
        _without(build, after.cells[place][bit], old, name), new, label=f"{name} now"
    )


def _without(build: Builder, bit: Literal, gone: Literal, label: str) -> Literal:
    """Return a bit less a part of it."""
    return negated(build.one_of(negated(bit), gone, label=f"not {label}"))
