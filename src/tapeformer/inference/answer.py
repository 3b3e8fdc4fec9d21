"""What a chain of thought came to."""

from __future__ import annotations

from dataclasses import dataclass, field

from tapeformer.bundle.record import Bundle
from tapeformer.faults import counted
from tapeformer.simulator.outcome import Outcome, Tape


@dataclass(frozen=True)
class Answer:
    """The outcome of a run, decoded from its tokens; `steps` is counted from them too.

    `bundle` is the model at the end: it has more levels than at the start where it has grown.
    """

    bundle: Bundle
    outcome: Outcome
    state: str
    steps: int
    tapes: tuple[Tape, ...]
    prompt_tokens: int
    boot_tokens: int
    cot_tokens: int
    margin: float
    seconds: float
    grown: int = 0
    engine: str = field(default="", compare=False)
    word: tuple[str, ...] = field(default=(), compare=False)

    @property
    def blank(self) -> str:
        """The blank of the tapes."""
        return str(self.bundle.answer["blank"])

    @property
    def output(self) -> tuple[str, ...]:
        """Each tape's content as text, spelled as on the command line."""
        glue = " " if self.bundle.answer["spaced"] else ""
        return tuple(glue.join(tape.content) for tape in self.tapes)

    @property
    def tokens_per_second(self) -> float:
        """Generated tokens for each second of the run."""
        return self.cot_tokens / max(self.seconds, 1e-9)

    @property
    def facts(self) -> dict[str, str]:
        """The outcome in words, by name."""
        return {
            "machine": self.bundle.name,
            "outcome": self.outcome.value,
            "state": self.state,
            "steps": f"{self.steps:,}",
            "tokens": f"{self.cot_tokens:,} after {counted(self.prompt_tokens, 'prompt token')}",
            "levels, base": f"{self.bundle.layout.levels}, {self.bundle.layout.base}",
            "smallest logit margin": f"{self.margin:g}",
        }

    def _repr_html_(self) -> str:
        from tapeformer.display import facts_html, tapes_html

        return f"<div>{facts_html(self.facts)}{tapes_html(self.tapes)}</div>"

    def __repr__(self) -> str:
        tapes = ", ".join(repr(_short(text)) for text in self.output)
        return (
            f"<Answer {self.outcome.value}: {self.bundle.name} in state {self.state} after"
            f" {counted(self.steps, 'step')} in {counted(self.cot_tokens, 'token')}; tapes {tapes}>"
        )


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
