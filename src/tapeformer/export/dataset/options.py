"""What a user may choose about a dataset, checked whoever gives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tapeformer.arguments import argument_fault
from tapeformer.compile.options import CompileOptions, checked_options
from tapeformer.export.dataset.words import Drawn, Listed, Words, letters_of
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.machine.record import TuringMachine


@dataclass(frozen=True)
class DatasetOptions:
    """Which words, how they are split, how far a run may go, and how the model is made.

    Words come from the file `words`, or `count` of them are drawn. `train_up_to` is the longest
    word for training, half-way between the shortest and the longest where it is not given. Chats
    are written for runs of at most `chat_steps` steps.
    """

    words: Path | None = None
    count: int = 1000
    lengths: tuple[int, int] = (0, 32)
    seed: int = 0
    mirrored: float = 0.0
    train_up_to: int | None = None
    held_out: float = 0.1
    max_steps: int = 10**6
    chat_steps: int = 200
    rows_per_shard: int = 5000
    spaced: bool = False
    compile: CompileOptions = field(default_factory=CompileOptions)


LEAST = {"count": 1, "seed": 0, "max_steps": 1, "chat_steps": 0, "rows_per_shard": 1}


def checked(options: DatasetOptions) -> DatasetOptions:
    """Refuse options of a wrong type or out of range, all at once."""
    checked_options(options.compile)
    faults = [
        argument_fault(name, f"a whole number, at least {least}", getattr(options, name))
        for name, least in LEAST.items()
        if type(getattr(options, name)) is not int or getattr(options, name) < least
    ]
    faults += [
        argument_fault(name, "a number from 0 to 1", getattr(options, name))
        for name in ("mirrored", "held_out")
        if not isinstance(getattr(options, name), int | float)
        or not 0 <= getattr(options, name) <= 1
    ]
    if not _is_range(options.lengths):
        faults.append(
            argument_fault("lengths", "two whole numbers, A:B with 0 <= A <= B", options.lengths)
        )
    if options.train_up_to is not None and type(options.train_up_to) is not int:
        faults.append(argument_fault("train_up_to", "a whole number", options.train_up_to))
    if faults:
        raise TapeformerError(faults)
    return options


def _is_range(lengths: object) -> bool:
    if not isinstance(lengths, tuple) or [type(end) for end in lengths] != [int, int]:
        return False
    return bool(0 <= lengths[0] <= lengths[1])


def words_for(machine: TuringMachine, options: DatasetOptions) -> Words:
    """Return the words of a machine's dataset."""
    if options.words is None:
        alphabet = letters_of(machine)
        return Drawn(alphabet, options.count, *options.lengths, options.seed, options.mirrored)
    try:
        text = options.words.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = f"the words cannot be read: {error}"
        place = SourceLocation(str(options.words))
        raise TapeformerError(Fault(why, place, remedy="one word per line")) from None
    return Listed(machine, text, options.spaced, str(options.words))
