"""One token of a kernel as LLVM text: straight-line gates, with loads well before their uses.

An ended input keeps its window: stores leave its bits unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.engines.gpu.llvm_lines import GLOBAL, SHARED, LlvmLines
from tapeformer.engines.gpu.memory_layout import BLOCK_THREADS, KernelLayout, factors_by_word
from tapeformer.engines.logic.factor_codes import codes, digits_of, digits_to_test
from tapeformer.engines.logic.program import (
    Binary,
    BinaryOpcode,
    Constant,
    LoadFetched,
    LoadToken,
    Operation,
    Program,
)

FETCH_AHEAD = 60
"""How many operations before its first use a word of a ring is loaded."""
NEWEST_AHEAD = 30
"""The same for words of the newest token, whose loads have less latency."""
PREFETCH_AHEAD = 900
"""How many operations before its load a word of a ring is prefetched into the L2 cache."""

Source = int | str
"""The token that words come from: the one a head attends to, by its number, or one of these two."""
NEWEST, OVERWRITTEN = "newest", "overwritten"


class TokenText:
    """Emits the gates of one token, with the loads and stores they need."""

    def __init__(self, program: Program, layout: KernelLayout) -> None:
        self.program, self.layout, self.text = program, layout, LlvmLines("t")
        self.factor_of = factors_by_word(layout.sizes)
        self.newest_index = {word: i for i, word in enumerate(layout.newest_words)}
        self.values: dict[int, str] = {}
        self.next_words: dict[int, list[str]] = {}
        self._entries: dict[tuple[int, Source], str] = {}
        self._words: dict[tuple[int, Source], list[str]] = {}
        self._bits: dict[tuple[int, Source], str] = {}

    def emit(self) -> None:
        """Emit the whole token: `values` and `next_words` then name its results."""
        due, waiting = self._factors_by_last_operation(), list[int]()
        loads, prefetches = self._scheduled_loads(), self._scheduled_prefetches()
        for index, operation in enumerate(self.program.operations):
            while prefetches and prefetches[-1][0] <= index:
                self._prefetch(*prefetches.pop()[1:])
            while loads and loads[-1][0] <= index:
                self._factor_words(*loads.pop()[1:])
            self.values[index] = self._value(operation)
            for factor in due.get(index, ()):
                self.next_words[factor] = self._encoded(factor)
                waiting.append(factor)
            waiting = [factor for factor in waiting if not self._stored(factor)]
        assert not waiting

    def _factors_by_last_operation(self) -> dict[int, list[int]]:
        """Return the factors whose next value is complete after each operation."""
        last: dict[int, int] = {}
        for (factor, _), index in zip(self.factor_of, self.program.next_token, strict=True):
            last[factor] = max(index, last.get(factor, 0))
        due: dict[int, list[int]] = {}
        for factor, index in last.items():
            due.setdefault(index, []).append(factor)
        return due

    def _loads(self) -> Iterator[tuple[int, int, Source]]:
        """Yield each operation that loads, with the factor and the source."""
        for index, operation in enumerate(self.program.operations):
            if isinstance(operation, LoadToken):
                yield index, self.factor_of[operation.word][0], NEWEST
            elif isinstance(operation, LoadFetched):
                yield index, self.factor_of[operation.word][0], operation.masks[0][0]

    def _scheduled_loads(self) -> list[tuple[int, int, Source]]:
        """Return when to load which factor's words, latest first."""
        ahead = [
            (index - (NEWEST_AHEAD if source == NEWEST else FETCH_AHEAD), factor, source)
            for index, factor, source in self._loads()
        ]
        return sorted(ahead, key=lambda load: -load[0])

    def _scheduled_prefetches(self) -> list[tuple[int, int, int, int]]:
        """Return when to prefetch what a head fetches from a ring, and how many tokens ahead."""
        first: dict[tuple[int, int], int] = {}
        for index, factor, source in self._loads():
            if isinstance(source, int):
                first.setdefault((self.layout.ring_of[factor], source), index)
        length, found = len(self.program.operations), []
        for (ring, head), index in first.items():
            at = index - FETCH_AHEAD - PREFETCH_AHEAD
            if self.layout.rings[ring].length > 2:
                found.append((at % length, ring, head, 0 if at >= 0 else 1))
        return sorted(found, key=lambda prefetch: -prefetch[0])

    def _value(self, operation: Operation) -> str:
        match operation:
            case LoadToken(word):
                return self._bit(word, NEWEST)
            case LoadFetched(word, ((head, _),)):
                return self._bit(word, head)
            case Constant(bits):
                return "-1" if bits & 1 else "0"
            case Binary(BinaryOpcode.AND_NOT, left, right):
                other = self.text.define(f"xor i32 {self.values[right]}, -1")
                return self.text.define(f"and i32 {self.values[left]}, {other}")
            case Binary(opcode, left, right):
                return self.text.define(f"{opcode} i32 {self.values[left]}, {self.values[right]}")
            case _:
                raise TypeError(f"no kernel text for {operation}")

    def _bit(self, word: int, source: Source) -> str:
        """Return the name of a word of a source's token, decoded once."""
        if (word, source) not in self._bits:
            factor, value = self.factor_of[word]
            digits = self._factor_words(factor, source)
            self._bits[word, source] = self._decoded(digits, self.layout.sizes[factor], value)
        return self._bits[word, source]

    def _decoded(self, digits: list[str], size: int, value: int) -> str:
        ones, zeros = digits_to_test(size, value)
        terms = [digits[digit] for digit in ones]
        if zeros:
            some = self.text.fold("or", [digits[digit] for digit in zeros])
            terms.append(self.text.define(f"xor i32 {some}, -1"))
        return self.text.fold("and", terms) if terms else "-1"

    def _encoded(self, factor: int) -> list[str]:
        """Return the digits of a factor's next value."""
        size, start = self.layout.sizes[factor], self.factor_of.index((factor, 0))
        values = [self.values[self.program.next_token[start + value]] for value in range(size)]
        pairs = list(zip(codes(size), values, strict=True))
        return [
            self.text.fold("or", [value for code, value in pairs if code >> digit & 1])
            for digit in range(digits_of(size))
        ]

    def _factor_words(self, factor: int, source: Source) -> list[str]:
        """Return the words of a factor in the token of a source, loaded once."""
        key = factor, source
        if key not in self._words:
            digits = range(digits_of(self.layout.sizes[factor]))
            on_chip = source == NEWEST and factor in self.layout.resident
            load = self._newest_word if on_chip else self._ring_word
            self._words[key] = [load(factor, digit, source) for digit in digits]
        return self._words[key]

    def _newest_word(self, factor: int, digit: int, _source: Source) -> str:
        if self.layout.in_registers:
            return f"%newest{self.newest_index[factor, digit]}"
        return self.text.load(SHARED, self._shared_address(factor, digit))

    def _shared_address(self, factor: int, digit: int) -> str:
        place = 4 * BLOCK_THREADS * self.newest_index[factor, digit]
        return self.text.offset(SHARED, "%shared", place)

    def _ring_word(self, factor: int, digit: int, source: Source) -> str:
        return self.text.load(GLOBAL, self._ring_address(factor, digit, source))

    def _ring_address(self, factor: int, digit: int, source: Source) -> str:
        number = self.layout.ring_of[factor]
        word = self.layout.rings[number].first_word[factor] + digit
        return self.text.offset(GLOBAL, self._entry(number, source), 4 * BLOCK_THREADS * word)

    def _entry(self, ring: int, source: Source) -> str:
        """Return the address of a token in a ring."""
        key = ring, source
        if key not in self._entries:
            slot = {NEWEST: f"%slot{ring}", OVERWRITTEN: f"%next{ring}"}.get(str(source))
            self._entries[key] = self._at_slot(ring, slot or self._attended(ring, int(source), 0))
        return self._entries[key]

    def _attended(self, ring: int, head: int, later: int) -> str:
        """Return the slot that a head attends to, now or some tokens later."""
        length = self.layout.rings[ring].length
        back = f"%back{head}"
        if later:
            back = self.text.define(f"sub i32 {back}, {later}")
        slot = self.text.define(f"sub i32 %slot{ring}, {back}")
        before = self.text.define(f"icmp slt i32 {slot}, 0")
        wrapped = self.text.define(f"add i32 {slot}, {length}")
        return self.text.define(f"select i1 {before}, i32 {wrapped}, i32 {slot}")

    def _at_slot(self, ring: int, slot: str) -> str:
        size = 4 * BLOCK_THREADS * self.layout.rings[ring].words
        scaled = self.text.define(f"mul i32 {slot}, {size}")
        wide = self.text.define(f"zext i32 {scaled} to i64")
        return self.text.offset(GLOBAL, f"%ring{ring}", wide)

    def _prefetch(self, ring: int, head: int, later: int) -> None:
        """Prefetch a ring's entry into the L2 cache: each thread asks for one or several lines."""
        entry = self._at_slot(ring, self._attended(ring, head, later))
        words = self.layout.rings[ring].words
        for first in range(0, words, BLOCK_THREADS):
            self._prefetch_lines(entry, first, min(words - first, BLOCK_THREADS))

    def _prefetch_lines(self, entry: str, first: int, lines: int) -> None:
        """Prefetch some lines of an entry, at most one per thread."""
        within = self.text.define(f"icmp ult i64 %thread, {lines}")
        line = self.text.define(f"select i1 {within}, i64 %thread, i64 0")
        place = self.text.define(f"mul i64 {line}, {4 * BLOCK_THREADS - 4}")
        start = self.text.offset(GLOBAL, entry, 4 * BLOCK_THREADS * first)
        address = self.text.offset(GLOBAL, start, place)
        self.text.add(
            f'call void asm sideeffect "prefetch.global.L2 [$0];", "l"({GLOBAL} {address})'
        )

    def _stored(self, factor: int) -> bool:
        """Store a factor's next value; return False if a head has yet to load from its slot."""
        ring = self.layout.ring_of.get(factor)
        heads = () if ring is None else self.layout.rings[ring].heads
        if any((factor, head) not in self._words for head in heads):
            return False
        if ring is not None:
            self._store_ring(factor)
        if factor in self.layout.resident:
            self._store_newest(factor)
        return True

    def _store_ring(self, factor: int) -> None:
        """Overwrite a factor's oldest value with the next one; usually a head has loaded it.

        Until the ring is full that head loads another token, but then the slot is unused anyway.
        """
        oldest = self.layout.rings[self.layout.ring_of[factor]].oldest_head
        old = self._factor_words(factor, OVERWRITTEN if oldest is None else oldest)
        for digit, word in enumerate(self._kept_where_ended(self.next_words[factor], old)):
            self.text.store(word, GLOBAL, self._ring_address(factor, digit, OVERWRITTEN))

    def _store_newest(self, factor: int) -> None:
        """Store a factor's next value on the chip; in registers, the loop carries it instead."""
        old = self._factor_words(factor, NEWEST)
        self.next_words[factor] = self._kept_where_ended(self.next_words[factor], old)
        if not self.layout.in_registers:
            for digit, word in enumerate(self.next_words[factor]):
                self.text.store(word, SHARED, self._shared_address(factor, digit))

    def _kept_where_ended(self, new: list[str], old: list[str]) -> list[str]:
        """Return the new words for live inputs, the old ones for those that have ended."""
        words = []
        for fresh, kept in zip(new, old, strict=True):
            change = self.text.define(f"xor i32 {fresh}, {kept}")
            live = self.text.define(f"and i32 {change}, %live")
            words.append(self.text.define(f"xor i32 {kept}, {live}"))
        return words
