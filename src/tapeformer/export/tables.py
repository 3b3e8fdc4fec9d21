"""What travels as JSON: a model's shape, its prompts, and how its tokens are read."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from tapeformer.bundle.record import Bundle
from tapeformer.constructions import construction
from tapeformer.engines.weights_to_module import shape_of
from tapeformer.queues.verdicts import RUNNING
from tapeformer.weights.tokens import token_of

PAD, START = "<|pad|>", "<|start|>"
LOGIT_SCALE = 64.0
"""A power of two, so that no logit is rounded; exp(-64) is the chance of a wrong value."""
MORE_LEVELS = 24
"""The further levels for which the longest word is told."""


def shape_table(bundle: Bundle) -> dict[str, Any]:
    """Return all that is not a parameter."""
    return asdict(shape_of(bundle.weights, bundle.offsets, bundle.window))


def prompt_table(bundle: Bundle) -> dict[str, Any]:
    """Return the token of each prompt id: padding, the start, then the symbols; parity aside."""
    prompt, factors = bundle.prompt, bundle.weights.factors
    names = [factor.name for factor in factors]
    parity = factors[names.index(prompt.parity)].values
    first = prompt.start or next(iter(prompt.symbols.values()))
    received = [first, first, *prompt.symbols.values()]
    base = {**prompt.fill, prompt.parity: parity[0]}
    return {
        "prompt_table": [
            list(token_of(factors, {**base, **dict.fromkeys(prompt.receivers, symbol)}))
            for symbol in received
        ],
        "parity": names.index(prompt.parity),
        "parity_values": [parity.index("0"), parity.index("1")],
    }


def verdict_table(bundle: Bundle) -> dict[str, int]:
    """Return the factor that carries the verdict, and its value while the machine runs."""
    names = [factor.name for factor in bundle.weights.factors]
    place = names.index(str(bundle.answer["verdict"]))
    return {"verdict": place, "running": bundle.weights.factors[place].values.index(RUNNING)}


def tokens_table(bundle: Bundle) -> dict[str, Any]:
    """Return what a tokenizer needs: symbols, prompts, factors, and how a window is read."""
    return {
        "vocabulary": [PAD, START, *bundle.prompt.symbols],
        "starts": bool(bundle.prompt.start),
        "spaced": bool(bundle.answer.get("spaced")),
        "longest_words": longest_words(bundle),
        **prompt_table(bundle),
        "answer": {key: bundle.answer[key] for key in ("verdict", "stepped", "state")},
        "window": bundle.window,
        "layout": {**asdict(bundle.layout), "lengths": dict(bundle.layout.lengths)},
        "reading": bundle.answer["reading"],
        "factors": [asdict(factor) for factor in bundle.weights.factors],
    }


def longest_words(bundle: Bundle) -> list[dict[str, Any]]:
    """Return the longest word that fits, and those of models with more levels."""
    layout, longest = bundle.layout, construction(bundle.layout.construction).longest_word
    sizes = range(layout.levels, layout.levels + MORE_LEVELS)
    found = [(longest(replace(layout, levels=levels)), f"--levels {levels}") for levels in sizes]
    kept = found if found[-1][0] > found[0][0] else found[:1]
    return [{"length": length, "option": option} for length, option in kept]
