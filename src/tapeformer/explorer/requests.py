"""What a page may ask for: machines as text or by a gallery name, never a file; all of it bounded."""

from __future__ import annotations

from functools import cache
from typing import Any

from tapeformer.compile.options import CompileOptions, checked_options
from tapeformer.explorer.session import Session
from tapeformer.faults import Fault, SourceLocation, TapeformerError, errors_in
from tapeformer.formats.registry import known_format, loads, recognise
from tapeformer.gallery import gallery_machine, gallery_names, gallery_text
from tapeformer.inference.model import Model
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.word import parse_word

MOST_TEXT = 1 << 20
MOST_RULES, MOST_TAPES, MOST_SYMBOLS = 2000, 8, 64
MOST_WORD = 5000
SHORT = 12
MOST_LEVELS = {"realtime": 16, "paper": 4, "post": 1}
MOST_WINDOW = 1 << 15
MOST_STEPS_PER_TOKEN = 3
"""Bounds that keep a request within seconds; `tapeformer run` has none of them."""

Record = dict[str, Any]


def checked_machine(text: str, name: str = "machine", form: str | None = None) -> TuringMachine:
    """Read a machine from text in any format; refuse what is too large for the page."""
    if len(text) > MOST_TEXT:
        raise _refused("the machine's text is too long", f"{MOST_TEXT:,} characters", len(text))
    machine = loads(text, name, None if form is None else known_format(form))
    if errors_in(machine.faults):
        raise TapeformerError(errors_in(machine.faults))
    sizes = (
        ("rules", len(machine.rules), MOST_RULES),
        ("tapes", machine.tapes, MOST_TAPES),
        ("symbols", len(machine.symbols), MOST_SYMBOLS),
    )
    for what, size, most in sizes:
        if size > most:
            raise _refused(f"the machine has too many {what} for the page", f"{most:,}", size)
    return machine


def check(text: str) -> Record:
    """Say which format a text has, and what is wrong with it."""
    from tapeformer.explorer.description import fault_record, fault_records

    try:
        machine = checked_machine(text)
    except TapeformerError as error:
        return {"format": _format(text), "faults": fault_records(error)}
    return {
        "format": recognise(text),
        "faults": [fault_record(fault) for fault in machine.faults],
        "name": machine.name,
        "word": None if machine.default_word is None else machine.spell(machine.default_word),
    }


def _format(text: str) -> str:
    try:
        return recognise(text)
    except TapeformerError:
        return ""


def session_from(given: Record) -> Session:
    """Make a session from what a page sent: `text` or `gallery`, `word`, and options."""
    machine, text = _machine(given)
    word = given.get("word", "")
    if not isinstance(word, str):
        raise TapeformerError(Fault("the input is not a text", expected="a text"))
    if len(word) > 4 * MOST_WORD:
        raise _refused("the input is too long for the page", f"{MOST_WORD:,} symbols", len(word))
    symbols = parse_word(machine, word, bool(given.get("spaced", not machine.single_characters)))
    if len(symbols) > MOST_WORD:
        raise _refused("the input is too long for the page", f"{MOST_WORD:,} symbols", len(symbols))
    return Session(machine, Model(machine, _options(given)), symbols, text)


def _machine(given: Record) -> tuple[TuringMachine, str]:
    text, name = given.get("text"), given.get("gallery")
    if isinstance(name, str) and text is None:
        return gallery_machine(name), gallery_text(name)
    if not isinstance(text, str):
        raise TapeformerError(Fault("no machine was sent", expected="its text, or a gallery name"))
    source = given.get("name")
    return checked_machine(text, source if isinstance(source, str) and source else "machine"), text


def _options(given: Record) -> CompileOptions:
    named: Record = {}
    for option in OPTIONS:
        if given.get(option) not in (None, ""):
            named[option] = given[option]
    options = checked_options(CompileOptions(**named))
    if options.steps_per_token > MOST_STEPS_PER_TOKEN:
        got = options.steps_per_token
        raise _refused("too many steps in a token for the page", MOST_STEPS_PER_TOKEN, got)
    most = MOST_LEVELS.get(options.construction, 1)
    if options.levels is not None and options.levels > most:
        raise _refused(
            f"too many levels for the page in {options.construction}", most, options.levels
        )
    if options.base is not None:
        reach = options.base ** max(1, (options.levels or 2))
        if options.base > MOST_WINDOW or reach > 2 * MOST_WINDOW:
            raise _refused("the window would be too long for the page", MOST_WINDOW, reach)
    return options


OPTIONS = ("construction", "levels", "base", "heads", "steps_per_token")
"""What a page may choose about a model."""


@cache
def gallery() -> list[Record]:
    """Return the machines of the gallery: name, what it does, and an input to begin with."""
    return [_entry(name) for name in gallery_names()]


def _entry(name: str) -> Record:
    machine = gallery_machine(name)
    return {
        "name": name,
        "description": machine.description,
        "tapes": machine.tapes,
        "word": machine.spell(entry_word(machine)),
    }


def entry_word(machine: TuringMachine) -> tuple[str, ...]:
    """Return an input that shows something: the file's own, even if empty, or a short case."""
    if machine.default_word is not None:
        return machine.default_word
    short = (case.word for case in machine.cases if len(case.word) <= SHORT)
    return max(short, key=len, default=())


def _refused(what: str, expected: object, got: object) -> TapeformerError:
    place = SourceLocation("explorer")
    return TapeformerError(
        Fault(what, place, f"at most {expected}", str(got), "use `tapeformer run` for larger ones")
    )
