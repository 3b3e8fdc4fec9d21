"""Records of `tapeformer.dataclass` behave as those of the standard library."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from tapeformer.dataclass import dataclass

Decorator = Callable[..., Any]


def records(dataclass: Decorator) -> tuple[type, ...]:
    """Make the same classes with one decorator or the other."""

    @dataclass(frozen=True)
    class Nothing:
        pass

    @dataclass(frozen=True)
    class Pair:
        first: int
        second: str = "b"
        hidden: int = dataclasses.field(default=0, repr=False, compare=False)

    @dataclass(frozen=True)
    class Longer(Pair):
        third: tuple[int, ...] = ()

    @dataclass(frozen=True, eq=False)
    class Same:
        only: int

    @dataclass(frozen=True, repr=False)
    class Named:
        only: int

        def __repr__(self) -> str:
            return "named"

    @dataclass(frozen=True)
    class Odd:
        only: int
        shared: ClassVar[int] = 5
        late: int = dataclasses.field(init=False, default=9)
        listed: list[int] = dataclasses.field(init=False, default_factory=list)

    return Nothing, Pair, Longer, Same, Named, Odd


STANDARD, OURS = records(dataclasses.dataclass), records(dataclass)
VALUES: list[tuple[int, dict[str, Any]]] = [
    (0, {}),
    (1, {"first": 1}),
    (1, {"first": 1, "second": "c"}),
    (1, {"first": 1, "hidden": 7}),
    (2, {"first": 1}),
    (2, {"first": 1, "third": (2, 3)}),
    (3, {"only": 1}),
    (4, {"only": 1}),
    (4, {"only": 2}),
]


def made(classes: tuple[type, ...]) -> list[Any]:
    return [classes[number](**values) for number, values in VALUES]


def test_the_same_reprs_and_signatures() -> None:
    ours, standard = made(OURS), made(STANDARD)
    identity = VALUES.index((3, {"only": 1}))
    assert [repr(one) for one in ours] == [repr(one) for one in standard]
    assert repr(ours[identity]).endswith("Same(only=1)")
    assert [inspect.signature(one) for one in OURS] == [inspect.signature(one) for one in STANDARD]


@pytest.mark.parametrize("one", range(len(VALUES)))
def test_the_same_are_equal_and_have_equal_hashes(one: int) -> None:
    ours, standard = (made(classes) for classes in (OURS, STANDARD))
    again, again_standard = (made(classes) for classes in (OURS, STANDARD))
    for other in range(len(VALUES)):
        equal = standard[one] == again_standard[other]
        assert (ours[one] == again[other]) is equal
        assert not equal or hash(ours[one]) == hash(again[other])
    assert ours[one] != standard[one]


@pytest.mark.parametrize("classes", [STANDARD, OURS])
@pytest.mark.parametrize("name", ["first", "second", "other"])
def test_nothing_can_be_set_or_deleted(classes: tuple[type, ...], name: str) -> None:
    for record in (classes[1](first=1), classes[2](first=1), subclass(classes[1])(first=1)):
        if name == "other" and type(record) not in classes:
            continue
        with pytest.raises(
            dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(record, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(record, name)
        assert (record.first, record.second, vars(record).get("other")) == (1, "b", None)


@pytest.mark.parametrize("classes", [STANDARD, OURS])
def test_a_plain_subclass_has_attributes_of_its_own(classes: tuple[type, ...]) -> None:
    record = subclass(classes[1])(first=1)
    record.other = 2
    assert record.other == 2
    del record.other
    assert not hasattr(record, "other")


@pytest.mark.parametrize("classes", [STANDARD, OURS])
def test_who_inherits_from_a_record_sees_no_difference(classes: tuple[type, ...]) -> None:
    @dataclasses.dataclass(frozen=True)
    class Frozen(classes[1]):  # type: ignore[misc, valid-type]
        label: str = ""

    record: Any = Frozen(1, label="a")
    assert (record.first, record.label) == (1, "a")
    for name in ("first", "label", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, 2)
    assert dataclasses.replace(record, first=2) == Frozen(2, label="a")
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclasses.dataclass(type("Changing", (classes[1],), {}))


@pytest.mark.parametrize("classes", [STANDARD, OURS])
@pytest.mark.parametrize("name", ["shared", "late", "listed"])
def test_what_init_does_not_set_cannot_be_set(classes: tuple[type, ...], name: str) -> None:
    record = classes[5](1)
    assert (record.shared, record.late, record.listed) == (5, 9, [])
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, name, 6)
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(record, name)


def subclass(record: type) -> Any:
    return type("Plain", (record,), {})


@dataclass(frozen=True)
class Kept:
    number: int
    names: tuple[str, ...] = ()


def test_records_are_replaced_and_pickled() -> None:
    kept = Kept(3, ("a",))
    assert pickle.loads(pickle.dumps(kept)) == kept
    assert dataclasses.replace(kept, number=4) == Kept(4, ("a",))
    assert len({kept, Kept(3, ("a",)), Kept(4)}) == 2
