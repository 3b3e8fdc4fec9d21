"""From a machine with one queue to one whose queue is split into tracks: the same step function."""

from __future__ import annotations

from dataclasses import replace

from tapeformer.circuit.record import And, Circuit, InputBit, Literal, Port, Sum
from tapeformer.lowering.compose import Composer
from tapeformer.queues.record import QueueMachine
from tapeformer.queues.tracks import QueueTracks


def with_tracks(machine: QueueMachine, tracks: QueueTracks) -> QueueMachine:
    """Return the machine with a queue for each track; a token has the same registers."""
    composer = Composer()
    whole = machine.queues[0]
    joined = {
        InputBit(whole.name, symbol): _joined(composer, tracks, symbol) for symbol in whole.alphabet
    }
    following = composer.include(machine.step, joined)
    queues = tracks.queues(machine)
    ports = [Port(queue.name, queue.alphabet) for queue in queues]
    registers = [Port(register.name, register.alphabet) for register in machine.registers]
    outputs = [
        tuple(_part(composer, tracks, following, track, value) for value in port.values)
        for track, port in enumerate(ports)
    ]
    outputs += [tuple(following[InputBit(p.name, v)] for v in p.values) for p in registers]
    every = (*ports, *registers)
    step = Circuit(every, every, tuple(composer.bits), tuple(outputs))
    return replace(machine, queues=queues, step=step, prompt_queue=queues[0].name)


def _joined(composer: Composer, tracks: QueueTracks, symbol: str) -> Literal:
    """Return whether the fronts of all tracks are the parts of a symbol."""
    pairs = zip(tracks.names, tracks.parts[symbol], strict=True)
    parts = tuple(composer.input(name, part) for name, part in pairs)
    return composer.bit(And(parts, f"front is {symbol}"))


def _part(
    composer: Composer,
    tracks: QueueTracks,
    following: dict[InputBit, Literal],
    track: int,
    value: str,
) -> Literal:
    """Return whether the symbol that is appended has a part."""
    having = [s for s, parts in tracks.parts.items() if parts[track] == value]
    literals = tuple(following[InputBit(tracks.queue, symbol)] for symbol in having)
    return composer.bit(Sum(literals, f"{tracks.names[track]} becomes {value}"))
