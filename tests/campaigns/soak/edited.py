"""Models edited by hand, with large and small weights: one answer in every engine and type, or a refusal."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tapeformer.engines import sparse
from tapeformer.engines.exact import EXACT
from tapeformer.engines.registry import make_engine
from tapeformer.faults import TapeformerError
from tapeformer.weights.parameters import parameters, with_parameters
from tapeformer.weights.positions import window_for
from tapeformer.weights.record import Matrix, Token, TransformerWeights
from tests.campaigns.soak.trial import Checked, WrongError
from tests.plain_transformer import generated
from tests.small_models import SmallModel

FACTORS = (3, 7, 100, 127, 128, 129, 255, 256, 257, 2047, 2049, 4095, 4097, 16383)
"""Around the largest whole numbers of int8, bfloat16 and float16; products of several pass the rest."""
REFUSALS = ("does not hold every", "reads a fraction")
WAYS: tuple[tuple[str, dict[str, str]], ...] = (
    *(("dense", {"dtype": dtype}) for dtype in EXACT),
    ("dense", {"dtype": "float64", "attending": "averaging"}),
    ("dense", {"dtype": "float64", "attending": "softmax"}),
    *(("sparse", {"dtype": dtype}) for dtype in sparse.DTYPES),
)
TOKENS = 6


@dataclass(frozen=True)
class Edit:
    """A parameter by its path, and what its numbers are multiplied by."""

    path: str
    times: int


class EditedTrial:
    """A small random model whose parameters are multiplied; its parts are the edits."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(f"edited {seed}")
        self.model = SmallModel(seed)
        names = [part.path for part in parameters(self.model.weights)]
        chosen = chance.sample(names, chance.randint(1, min(5, len(names))))
        self.parts: Sequence[object] = [Edit(path, chance.choice(FACTORS)) for path in chosen]
        self.ways = WAYS if chance.random() < 0.97 else (*WAYS, ("native", {}))

    def run(self, parts: Sequence[object]) -> Checked:
        """Compare every engine and type with arithmetic in whole numbers of any size."""
        edits = [part for part in parts if isinstance(part, Edit)]
        weights = self._edited({edit.path: edit.times for edit in edits})
        prompt = self.model.prompt[:5]
        offsets = self.model.offsets
        wanted = generated(weights, offsets, window_for(offsets), prompt, TOKENS, object)
        tokens = 0
        for name, variant in self.ways:
            found = self._tokens(name, variant, weights, prompt)
            if found is not None and found != wanted:
                raise WrongError(f"{name} {variant}: {found} against {wanted}")
            tokens += 0 if found is None else TOKENS
        return Checked(tokens=tokens, edited=1)

    def _edited(self, factors: dict[str, int]) -> TransformerWeights:
        changed = {}
        for part in parameters(self.model.weights):
            times = factors.get(part.path)
            if times is not None and isinstance(part.value, Matrix):
                values = np.clip(part.value.values * np.int32(times), -32767, 32767)
                changed[part.path] = replace(part.value, values=values)
            elif times is not None:
                values = np.clip(np.asarray(part.value) * times, -32767, 32767)
                changed[part.path] = values.astype(np.int32)
        return with_parameters(self.model.weights, changed)

    def _tokens(
        self,
        name: str,
        variant: dict[str, str],
        weights: TransformerWeights,
        prompt: Sequence[Token],
    ) -> list[Token] | None:
        """Return the tokens of one engine; None where it says why it cannot be exact."""
        try:
            engine = make_engine(name, weights, self.model.offsets, None, **variant)
            engine.prompt(prompt)
            return [tuple(row) for row in engine.advance(TOKENS).tolist()]
        except TapeformerError as error:
            if any(reason in str(error) for reason in REFUSALS):
                return None
            raise
