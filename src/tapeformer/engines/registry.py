"""Engines by name; each is imported only when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tapeformer.extras import require
from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted
from tapeformer.weights.record import TransformerWeights

if TYPE_CHECKING:
    from tapeformer.engines.stream import Stream

VARIANTS = {
    "dense": ("dtype", "attending", "temperature", "position"),
    "sparse": ("dtype", "attending"),
    "native": (),
    "gpu": (),
    "auto": (),
}
"""The engines, and what each lets one choose without changing a token."""
ENGINES = tuple(VARIANTS)
STREAM_ENGINES = tuple(name for name in ENGINES if name != "gpu")
"""The engines that run one input; `gpu` runs batches only."""


def engine_name(asked: str) -> str:
    """Return the name itself, if there is such an engine."""
    if asked not in ENGINES:
        remedy = did_you_mean(str(asked), ENGINES) or "leave it out: auto takes what is fastest"
        what = f"there is no engine {quoted(str(asked))}"
        raise TapeformerError(Fault(what, expected=", ".join(ENGINES), remedy=remedy))
    return asked


def make_engine(
    asked: str,
    weights: TransformerWeights,
    offsets: Sequence[int],
    window: int | None = None,
    **variant: str | float,
) -> Stream:
    """Return an engine over the weights and the look-backs: it is given nothing else.

    `variant` has what an engine lets one choose: dtype, attending, temperature, position.
    """
    name = engine_name(asked)
    unknown = [key for key in variant if key not in VARIANTS[name]]
    if unknown:
        raise TapeformerError(_no_choice(name, unknown[0]))
    if name not in STREAM_ENGINES:
        remedy = "use engine='native', or give many inputs with --batch or tf.run_batch"
        raise TapeformerError(Fault("the gpu engine runs batches only", remedy=remedy))
    if name == "dense":
        require("torch", extra="torch", what="the dense engine")
    module = import_module(f"tapeformer.engines.{name}")
    stream: Stream = module.Engine(weights, offsets, window, **_checked(variant))
    return stream


def _no_choice(name: str, key: str) -> Fault:
    """Return the fault for a part of the variant that other engines have."""
    what = f"the {name} engine has no choice of {_option(key)}"
    if key not in VARIANTS["dense"]:
        return Fault(what, remedy="leave it out")
    sparse = name != "sparse" and key in VARIANTS["sparse"]
    some = ", or for some values engine='sparse'" if sparse else ""
    return Fault(what, remedy=f"use engine='dense'{some}")


def _option(key: str) -> str:
    """Return the name under which users give a part of the variant."""
    return "attention" if key == "attending" else key


def _checked(variant: dict[str, str | float]) -> dict[str, Any]:
    """Return the variant, if its values are of the right kinds; engines check the values."""
    for key, value in variant.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number != (key == "temperature") or not (number or isinstance(value, str)):
            expected = "a number" if key == "temperature" else "a name"
            raise TapeformerError(
                Fault(f"wrong {_option(key)}", expected=expected, got=quoted(str(value)))
            )
    return dict(variant)
