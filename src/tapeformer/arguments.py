"""Check what Python callers pass: a fault says which argument, what was expected, what was given."""

from __future__ import annotations

from collections.abc import Callable

from tapeformer.faults import Fault, TapeformerError, described


def argument_fault(name: str, expected: str, got: object, remedy: str = "") -> Fault:
    """Return what is wrong with an argument of a wrong type or out of range."""
    remedy = remedy or f"leave out {name}, or give such a value"
    return Fault(f"bad `{name}`", None, expected, described(got), remedy)


def bad_argument(name: str, expected: str, got: object, remedy: str = "") -> TapeformerError:
    """Return the error for one such argument."""
    return TapeformerError(argument_fault(name, expected, got, remedy))


def check_count(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number of some size."""
    if type(value) is not int or value < least:
        raise bad_argument(name, f"a whole number, at least {least}", value)


def check_flag(name: str, value: object) -> None:
    """Refuse what is not a bool."""
    if not isinstance(value, bool):
        raise bad_argument(name, "True or False", value)


def watched(watch: Callable[[int], bool | None] | None) -> Callable[[int], bool] | None:
    """Return a watch that ends work where the caller's returns False: None lets it go on."""
    check_called(watch=watch)
    if watch is None:
        return None
    return lambda done: (answer := watch(done)) is None or bool(answer)


def check_called(**given: object) -> None:
    """Refuse what is to be called and cannot be; None stands for nothing to call."""
    for name, value in given.items():
        if value is not None and not callable(value):
            raise bad_argument(name, "a function", value)
