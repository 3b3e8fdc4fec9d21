"""What a model is, for a person."""

from __future__ import annotations

from tapeformer.bundle.record import Bundle
from tapeformer.inference.records import model_record


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
