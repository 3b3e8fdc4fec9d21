"""The next token as logic: one argmax per factor, the first value where several tie."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.engines.logic.affine_forms import Form, applied, combined
from tapeformer.engines.logic.and_inverter_graph import FALSE, TRUE
from tapeformer.engines.logic.symbolic_position import Logic, Position
from tapeformer.engines.logic.threshold_synthesis import MOST_ROOM, Neurons
from tapeformer.weights.record import TransformerWeights


def logic_of(weights: TransformerWeights) -> Logic:
    """The gates that compute a model's next token; raises NotLogicError where there are none."""
    position = Position(weights)
    stream = position.stream()
    choices = _Choices(position.neurons)
    following = tuple(
        choices.of(applied(output.matrix, output.bias, stream)) for output in weights.outputs
    )
    gates = position.neurons.gates
    guard = gates.any_of(position.neurons.doubts)
    margin = tuple(choices.margin())
    return Logic(
        gates=tuple(gates.gates),
        token=tuple(position.bits(forms) for forms in position.token),
        fetched=tuple(position.fetched),
        following=following,
        guard=guard,
        margin=margin,
        proven_margin=choices.proven,
    )


class _Choices:
    """Argmax of one factor after another, and the smallest margin among them."""

    def __init__(self, neurons: Neurons) -> None:
        self.neurons, self.gates, self.numbers = neurons, neurons.gates, neurons.numbers
        self.proven: int | None = None
        self.margins: list[list[int]] = []

    def of(self, logits: Sequence[Form]) -> tuple[int, ...]:
        """The bit of each value: whether it is chosen."""
        if len(logits) == 1:
            return (TRUE,)
        spans = [self.neurons.span(form) for form in logits]
        if not _may_be_bits(spans):
            spans = [self.neurons.guessed_span(form) for form in logits]
        return self._of_bits(logits) if _may_be_bits(spans) else self._of_numbers(logits, spans)

    def _of_bits(self, logits: Sequence[Form]) -> tuple[int, ...]:
        """Logits that are 0 or 1: the first 1, or the first value where there is none."""
        ones = [self.neurons.as_bit(form) for form in logits]
        total = combined(0, [(1, form) for form in logits])
        low, high = self.neurons.span(total)
        if high <= 1 <= low:
            self.proven = 1
            return tuple(ones)
        return self._first(ones, at_most_one=high <= 1)

    def _first(self, ones: Sequence[int], at_most_one: bool) -> tuple[int, ...]:
        earlier, several, chosen = FALSE, FALSE, []
        for one in ones:
            if at_most_one:
                chosen.append(one)
            else:
                chosen.append(self.gates.all_of([one, earlier ^ 1]))
                several = self.gates.any_of([several, self.gates.all_of([one, earlier])])
            earlier = self.gates.any_of([earlier, one])
        chosen[0] = self.gates.any_of([chosen[0], earlier ^ 1])
        self.margins.append([self.gates.all_of([earlier, several ^ 1])])
        return tuple(chosen)

    def _of_numbers(
        self, logits: Sequence[Form], spans: Sequence[tuple[int, int]]
    ) -> tuple[int, ...]:
        """Any logits: a value wins if it is above the best before it and none after it does."""
        low, high = min(low for low, _ in spans), max(high for _, high in spans)
        width = (high - low + 1).bit_length()
        lifted = [combined(-low, [(1, form)]) for form in logits]
        values = [self._digits(form, width) for form in lifted]
        best, second = values[0], None
        above = [TRUE]
        for value in values[1:]:
            wins = self.numbers.less(best, value)
            loser = self.numbers.choose(wins, best, value)
            second = loser if second is None else self._larger(second, loser)
            best = self.numbers.choose(wins, value, best)
            above.append(wins)
        assert second is not None
        self.margins.append(self.numbers.subtract(best, second))
        return self._last(above)

    def _digits(self, form: Form, width: int) -> list[int]:
        total = self.numbers.constant(form.constant, width)
        for node, coefficient in form.terms:
            term = self.numbers.times([self.neurons.literals[node]], abs(coefficient), width)
            operation = self.numbers.add if coefficient > 0 else self.numbers.subtract
            total = operation(total, term)
        return total

    def _larger(self, left: list[int], right: list[int]) -> list[int]:
        return self.numbers.choose(self.numbers.less(left, right), right, left)

    def _last(self, above: Sequence[int]) -> tuple[int, ...]:
        later, chosen = FALSE, []
        for wins in reversed(above):
            chosen.append(self.gates.all_of([wins, later ^ 1]))
            later = self.gates.any_of([later, wins])
        return tuple(reversed(chosen))

    def margin(self) -> list[int]:
        """The smallest margin that was not proven; none where all were."""
        if not self.margins:
            return []
        if self.proven is not None:
            return [self.gates.all_of(self.gates.any_of(digits) for digits in self.margins)]
        width = max(len(digits) for digits in self.margins)
        padded = [[*digits, *[FALSE] * (width - len(digits))] for digits in self.margins]
        least = padded[0]
        for digits in padded[1:]:
            least = self.numbers.choose(self.numbers.less(digits, least), digits, least)
        return least


def _may_be_bits(spans: Sequence[tuple[int, int]]) -> bool:
    """Whether logits that should be 0 or 1 could be within these bounds."""
    return all(low <= 0 < high <= MOST_ROOM or low == high in (0, 1) for low, high in spans)
