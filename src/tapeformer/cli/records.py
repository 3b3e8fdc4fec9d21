"""The keys that describe a model in JSON, and the same for a person."""

from __future__ import annotations

from typing import Any

from tapeformer.generation import Answer
from tapeformer.machine.record import TuringMachine
from tapeformer.weights.bundle import Bundle
from tapeformer.weights.count import count


def model_record(bundle: Bundle) -> dict[str, Any]:
    """What a model is: sizes that hold for every input."""
    counts = count(bundle.weights)
    return {
        "machine": bundle.name,
        "construction": bundle.layout.construction,
        "levels": bundle.layout.levels,
        "base": bundle.layout.base,
        "capacity": bundle.layout.capacity,
        "window": bundle.window,
        "offsets": sorted(set(bundle.offsets)),
        "attention_heads": counts.attention_heads,
        "layers": counts.layers,
        "ff_depth": counts.ff_depth,
        "d_model": counts.d_model,
        "neurons": counts.neurons,
        "parameters": counts.parameters,
        "nonzero_parameters": counts.nonzero_parameters,
        "precision": counts.precision,
        "parameter_bits": counts.parameter_bits,
    }


def answer_record(machine: TuringMachine, answer: Answer) -> dict[str, Any]:
    """The keys of `run --json`."""
    return {
        **model_record(answer.bundle),
        "engine": answer.engine,
        "outcome": answer.outcome.value,
        "state": answer.state,
        "steps": answer.steps,
        "tapes": [machine.spell(tape.content) for tape in answer.tapes],
        "heads": [tape.head for tape in answer.tapes],
        "prompt_tokens": answer.prompt_tokens,
        "boot_tokens": answer.boot_tokens,
        "cot_tokens": answer.cot_tokens,
        "grown": answer.grown,
        "margin": answer.margin,
        "seconds": round(answer.seconds, 6),
        "tokens_per_second": round(answer.cot_tokens / max(answer.seconds, 1e-9), 1),
    }


def model_text(bundle: Bundle) -> str:
    """A model in a few lines."""
    r = model_record(bundle)
    offsets = ", ".join(map(str, r["offsets"]))
    return "\n".join(
        [
            f"{r['machine']}: {r['construction']} construction, {r['levels']} levels, base {r['base']},"
            f" up to {r['capacity']:,} cells on either side of a head",
            f"  {r['attention_heads']} attention heads in {r['layers']} layers, looking back {offsets};"
            f" window {r['window']:,} tokens",
            f"  d_model {r['d_model']:,}, feed-forward depth {r['ff_depth']}, {r['neurons']:,} neurons",
            f"  {r['parameters']:,} parameters, {r['nonzero_parameters']:,} not zero,"
            f" {r['precision']} bits each: {r['parameter_bits']:,} bits for every input length",
        ]
    )
