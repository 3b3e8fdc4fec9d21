"""A run as plain data for the page: its machine, its models, and how far it has come."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from tapeformer.explorer.recording import Part, Recording
from tapeformer.faults import Fault, TapeformerError
from tapeformer.formats.registry import OWN_FORMAT, dumps
from tapeformer.gallery import gallery_names, gallery_text
from tapeformer.inference.records import model_record
from tapeformer.machine.record import Rule, TuringMachine
from tapeformer.weights.tokens import token_of

Record = dict[str, Any]


def machine_record(machine: TuringMachine, text: str) -> Record:
    """Describe a machine; `text` is the file that its rules' lines count in."""
    return {
        "name": machine.name,
        "description": machine.description,
        "tapes": machine.tapes,
        "blank": machine.blank,
        "start": machine.start,
        "spaced": not machine.single_characters,
        "bounded": machine.tape_kind.value == "one-way",
        "text": text,
        "source": "" if machine.location is None else _base_name(machine.location.source),
        "symbols": list(machine.symbols),
        "states": [{"name": state, "kind": _kind(machine, state)} for state in machine.states],
        "rules": [_rule(rule) for rule in machine.rules],
    }


def source_text(machine: TuringMachine) -> str:
    """Return the text that a machine was read from; its own format where there is none."""
    place = "" if machine.location is None else machine.location.source
    stem = place.removeprefix("gallery/").removesuffix(".yaml")
    if place.startswith("gallery/") and stem in gallery_names():
        return gallery_text(stem)
    try:
        return Path(place).read_text(encoding="utf-8") if place else dumps(machine, OWN_FORMAT)
    except (OSError, ValueError):
        return dumps(machine, OWN_FORMAT)


def run_record(recording: Recording) -> Record:
    """Describe what was recorded so far."""
    progress = recording.progress
    return {
        "word": list(recording.word),
        "tokens": progress.tokens,
        "prompt": progress.prompt,
        "boot": progress.boot,
        "steps": progress.steps,
        "outcome": None if progress.outcome is None else progress.outcome.value,
        "margin": progress.margin if isfinite(progress.margin) else None,
        "difference": progress.difference,
        "events": [asdict(event) for event in list(progress.events)],
        "models": len(recording.parts),
        "slices": recording.starts(),
    }


def part_record(part: Part) -> Record:
    """Describe a model: how its tokens are read, and its heads."""
    bundle, factors = part.bundle, part.reader.factors
    domains = list(dict.fromkeys(factor.values for factor in factors))
    place = {values: number for number, values in enumerate(domains)}
    filled = {**bundle.prompt.fill, bundle.prompt.parity: "0"}
    return {
        "start": part.start,
        **model_record(bundle),
        "lengths": dict(bundle.layout.lengths),
        "reading": bundle.answer["reading"],
        "fields": [[factor.name, place[factor.values]] for factor in factors],
        "domains": [list(values) for values in domains],
        "fill": list(token_of(factors, filled)),
        "heads": [
            {"number": head.position, "name": head.name, "back": bundle.offsets[head.position]}
            for layer in bundle.weights.layers
            for head in layer.heads
        ],
    }


def fault_records(error: TapeformerError) -> list[Record]:
    """Describe faults, each with its line where it has one."""
    return [fault_record(fault) for fault in error.faults]


def fault_record(fault: Fault) -> Record:
    """Describe a fault."""
    place = fault.location
    return {
        "what": fault.what,
        "line": None if place is None else place.line,
        "detail": "" if place is None else place.detail,
        "expected": fault.expected,
        "got": fault.got,
        "remedy": fault.remedy,
        "severity": fault.severity.value,
    }


def _rule(rule: Rule) -> Record:
    return {
        "state": rule.state,
        "read": list(rule.read),
        "write": list(rule.write),
        "moves": "".join(move.letter for move in rule.moves),
        "next": rule.next_state,
        "line": None if rule.location is None else rule.location.line,
    }


def _kind(machine: TuringMachine, state: str) -> str:
    kinds = {"accept": machine.accepting, "reject": machine.rejecting, "halt": machine.halting}
    return next((kind for kind, states in kinds.items() if state in states), "plain")


def _base_name(source: str) -> str:
    """Return the name of a file without its folder: the page says nothing about a computer."""
    return source if source.startswith("gallery/") else Path(source).name
