"""The switch that writes the golden texts anew: `pytest tests/golden --renew`."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write the golden texts anew")


@pytest.fixture
def renew(request: pytest.FixtureRequest) -> bool:
    """Return whether golden texts are to be written instead of compared."""
    return bool(request.config.getoption("--renew", default=False))
