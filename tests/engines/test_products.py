"""Sparse products against plain matrix products, and token traces through each kind of them."""

from __future__ import annotations

import numpy as np
import pytest

from tapeformer.engines import products, sparse
from tapeformer.engines.exact import SumCheck
from tapeformer.engines.products import Arithmetic, product
from tapeformer.faults import TapeformerError
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.weights.matrices import dense, integers, matrix
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.record import Matrix
from tests.table_machines import table_machine

DTYPES = ("int32", "int64", "object", "float32", "float64")
SHAPES = ((1, 1), (7, 5), (30, 40), (4, 0), (0, 4))
LENGTHS = {"a": 4, "b": 6, "c": 2}


def random_matrix(chance: np.random.Generator, shape: tuple[int, int], density: float) -> Matrix:
    places = np.argwhere(chance.random(shape) < density).tolist()
    return matrix(shape, {(row, column): int(chance.integers(1, 9)) - 5 for row, column in places})


@pytest.fixture(params=[0, 10**9], ids=["incremental", "direct"])
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "LARGE", request.param)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_one_after_another(dtype: str) -> None:
    chance = np.random.default_rng(3)
    for shape in SHAPES:
        for density in (0.0, 0.1, 0.5, 1.0):
            part = random_matrix(chance, shape, density)
            bias = integers(chance.integers(-9, 9, shape[0]).tolist())
            found = product(part, bias, Arithmetic(np.dtype(dtype)))
            x = np.zeros(shape[1], int)
            for _ in range(6):
                x = np.where(chance.random(shape[1]) < 0.3, chance.integers(-5, 6, shape[1]), x)
                expected = dense(part) @ x + bias
                assert found(x.astype(dtype)).tolist() == expected.tolist()


@pytest.mark.usefixtures("large")
def test_running_sums_may_wrap_around() -> None:
    height = 5000
    entries = {(row, column): 32767 for row in range(height) for column in range(2)}
    found = product(matrix((height, 2), entries), None, Arithmetic(np.dtype(np.int32)))
    for x in ([30000, 2000], [-30000, -2000], [30000, 2767]):
        assert set(found(np.array(x, np.int32)).tolist()) == {32767 * sum(x)}


def test_sums_that_a_type_would_round_are_refused() -> None:
    part = matrix((2, 3), {(0, 0): 100, (0, 1): -28, (1, 2): 5})
    limit = (1 << 24) // 128
    arithmetic = Arithmetic(np.dtype(np.float32), SumCheck("float32", 1 << 40))
    found = product(part, None, arithmetic)
    assert found(np.array([limit - 1, 0, 0], np.float32)).tolist() == [100 * (limit - 1), 0]
    for x in ([limit, 0, 0], [0, -limit, 0], [0, 0, limit]):
        with pytest.raises(TapeformerError, match="float32 does not hold every sum"):
            found(np.array(x, np.float32))


@pytest.mark.usefixtures("large")
def test_traces_are_the_same_through_every_kind() -> None:
    made = table_machine(11, ["a", "b", "c"])
    weights = transformer(made.machine, "queue", 3)
    engine = sparse.Engine(weights, offsets_for(weights, LENGTHS))
    engine.prompt(made.prompt(weights, "0110"))
    expected = made.run(LENGTHS, "0110", 60)
    assert [tuple(row) for row in engine.advance(60).tolist()] == expected
