"""`run --show`: every generated token as it is decoded, with the tapes and what the queues hold."""

from __future__ import annotations

from tapeformer.drawing.tapes import configuration_text
from tapeformer.faults import TapeformerError
from tapeformer.inference.stream import StreamedToken
from tapeformer.simulator.result import Configuration


def token_text(token: StreamedToken, with_factors: bool = True) -> str:
    """Describe one token: the configuration it leaves, and its factors that are not at rest."""
    bundle = token.piece.reader.bundle
    try:
        read = Configuration(token.steps, token.state, token.tapes, token.outcome)
        text = configuration_text(str(bundle.answer["blank"]), read)
    except TapeformerError as error:
        text = str(error)
    head = f"token {token.number}: {text}"
    return f"{head}\n  {_factors(token)}" if with_factors else head


def _factors(token: StreamedToken) -> str:
    """List what the queues were given and the registers hold, where that is not the prompt's filling."""
    prompt = token.piece.reader.bundle.prompt
    rest = {**prompt.fill, prompt.parity: None}
    changed = (f"{name}={value}" for name, value in token.token.items() if value != rest[name])
    return " ".join(changed)
