"""What a model is and what a run came to, for a person."""

from __future__ import annotations

from tapeformer.bundle.record import Bundle
from tapeformer.drawing.tapes import outcome_word, tape_lines
from tapeformer.faults import counted
from tapeformer.inference.answer import Answer
from tapeformer.inference.records import model_record


def model_text(bundle: Bundle) -> str:
    """Describe a model in a few lines."""
    r = model_record(bundle)
    offsets = ", ".join(map(str, r["offsets"]))
    steps = f", {r['steps_per_token']} steps per token" if r["steps_per_token"] > 1 else ""
    return "\n".join(
        [
            f"{r['machine']}: {r['construction']} construction, {counted(r['levels'], 'level')},"
            f" base {r['base']}{steps}, up to {r['capacity']:,} cells on either side of a head",
            f"  {counted(r['attention_heads'], 'attention head')} in"
            f" {counted(r['layers'], 'layer')}, looking back {offsets};"
            f" window {counted(r['window'], 'token')}",
            f"  d_model {r['d_model']:,}, feed-forward depth {r['ff_depth']},"
            f" {counted(r['neurons'], 'neuron')}",
            f"  {r['parameters']:,} parameters, {r['nonzero_parameters']:,} not zero,"
            f" {r['precision']} bits each: {r['parameter_bits']:,} bits at these levels",
        ]
    )


def answer_text(answer: Answer, interrupted: bool = False) -> str:
    """Describe what a run came to, with its tapes."""
    per_step = answer.cot_tokens / max(answer.steps, 1)
    margin = "" if answer.margin == float("inf") else f", smallest logit margin {answer.margin:g}"
    lines = [
        f"{outcome_word(answer.outcome, interrupted)} in state {answer.state} after"
        f" {counted(answer.steps, 'step')}: {counted(answer.cot_tokens, 'token')}"
        f" ({answer.boot_tokens:,} to boot, {per_step:.2f} a step in all),"
        f" {answer.tokens_per_second:,.0f} tokens a second{margin}",
        *tape_lines(answer.blank, answer.tapes),
    ]
    return "\n".join(lines)
