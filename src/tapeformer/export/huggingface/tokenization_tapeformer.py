"""Words to prompt ids (B, T), one for each input symbol, and generated ids (B, T, K) to text."""

from __future__ import annotations

import json
import os
from typing import Any

from transformers import PreTrainedTokenizer

from tapeformer.export.huggingface.decoding import Layout, TapeformerError, decode


class TapeformerTokenizer(PreTrainedTokenizer):
    """A word-level tokenizer for prompts, padded on the left; `decode` reads the chain of thought."""

    vocab_files_names = {"vocab_file": "tokens.json"}  # noqa: RUF012
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012
    padding_side = "left"

    def __init__(self, vocab_file: str, **others: Any) -> None:
        with open(vocab_file, encoding="utf-8") as file:
            self.about = json.load(file)
        self.factors, self.symbols = self.about["factors"], self.about["vocabulary"]
        self.places = {factor["name"]: place for place, factor in enumerate(self.factors)}
        self.ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        table = self.about["prompt_table"]
        self.prompt_rows = {self._key(row): place for place, row in enumerate(table) if place}
        others.setdefault("pad_token", self.symbols[0])
        others.setdefault("bos_token", self.symbols[1])
        super().__init__(**others)

    @property
    def vocab_size(self) -> int:
        """The number of prompt ids."""
        return len(self.symbols)

    def get_vocab(self) -> dict[str, int]:
        """Return the id of each prompt symbol."""
        return dict(self.ids)

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        """Split a word into symbols: one character each, or separated by spaces."""
        word, known = text.split() if self.about["spaced"] else list(text), self.symbols[2:]
        for symbol in word:
            if symbol not in known:
                raise ValueError(f"the input has no symbol {symbol!r}; it has {', '.join(known)}")
        longest = self.about["longest_words"]
        if len(word) > longest[0]["length"]:
            enough = [size["option"] for size in longest if size["length"] >= len(word)]
            remedy = f"export it with {enough[0]}" if enough else "export it with more levels"
            raise ValueError(
                f"the model holds words of at most {longest[0]['length']} symbols,"
                f" got {len(word)}: {remedy}"
            )
        return word

    def _convert_token_to_id(self, token: str) -> int | None:
        return self.ids.get(token)

    def _convert_id_to_token(self, index: int) -> str:
        symbol: str = self.symbols[index]
        return symbol

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Put the start before a word, where the machine's prompt has one."""
        del token_ids_1
        return [*([self.ids[self.symbols[1]]] * self.about["starts"]), *token_ids_0]

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """Return how many ids stand before a word."""
        del pair
        return int(self.about["starts"])

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Spell a word as it is given."""
        return (" " if self.about["spaced"] else "").join(tokens)

    def decode(self, token_ids: Any, skip_special_tokens: bool = True, **_: Any) -> Any:
        """Return the word, the states that the steps lead to, and the answer; a batch gives a list.

        `abba right back ... => accept after 15 steps; tape 1: aa, head 2`.
        """
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else token_ids
        ids = [ids] if isinstance(ids, int) else list(ids)
        if ids and isinstance(ids[0], list) and ids[0] and isinstance(ids[0][0], list):
            return [self.decode(one, skip_special_tokens) for one in ids]
        prompt, rows = self._split(ids)
        first = 2 if skip_special_tokens else 0
        word = self.convert_tokens_to_string([self.symbols[i] for i in prompt if i >= first])
        names = self.about["answer"]
        stepped = [row for row in rows if self._value(row, names["stepped"]) != "0"]
        parts = [word, *(self._value(row, names["state"]) for row in stepped)]
        answer = self._answer(prompt, rows)
        return " ".join([*parts, *([f"=> {answer}"] if answer else [])])

    def read(self, token_ids: Any) -> dict[str, Any]:
        """Return outcome (None while it runs), steps, state, tapes and heads of one sequence.

        Tapes are read from the last window, so `token_ids` must include it or the prompt.
        """
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else list(token_ids)
        prompt, rows = self._split(ids)
        names = self.about["answer"]
        verdict = self._value(rows[-1], names["verdict"]) if rows else "run"
        steps = sum(int(self._value(row, names["stepped"])) for row in rows)
        outcome = None if verdict == "run" else verdict
        return {"outcome": outcome, "steps": steps, **self._configuration(prompt, rows)}

    def _answer(self, prompt: list[int], rows: list[list[int]]) -> str:
        """Describe where the machine stopped; nothing while it runs."""
        names = self.about["answer"]
        if not rows or self._value(rows[-1], names["verdict"]) == "run":
            return ""
        found = self.read([*prompt, *rows])
        text = f"{found['outcome']} after {found['steps']:,} step{'s' * (found['steps'] != 1)}"
        for number, tape in enumerate(found["tapes"] or [], 1):
            cells = f"{tape}, head {found['heads'][number - 1]}" if tape else "empty"
            text += f"; tape {number}: {cells}"
        return text

    def _split(self, ids: list[Any]) -> tuple[list[int], list[list[int]]]:
        """Return prompt ids and generated tokens, without padding; a streamer mixes the two."""
        prompt = [i for i in ids if isinstance(i, int)]
        rows = [row for row in ids[len(prompt) :] if row[0] >= 0]
        count = 0
        while count < len(rows) and self._key(rows[count]) in self.prompt_rows:
            count += 1
        known = [self.prompt_rows[self._key(row)] for row in rows[:count]]
        return [i for i in prompt if i != 0] + known, rows[count:]

    def _configuration(self, prompt: list[int], rows: list[list[int]]) -> dict[str, Any]:
        """Read the last window; None where the tokens given do not reach back far enough."""
        window = self.about["window"]
        if not prompt and len(rows) < window:
            return {"state": None, "tapes": None, "heads": None}
        tokens = [*self._prompt_tokens(prompt), *rows][-window:]
        named = [tuple(self._words(row)) for row in tokens]
        try:
            found = decode(self.about["reading"], Layout(**self.about["layout"]), named)
        except TapeformerError as error:
            return {"state": None, "tapes": None, "heads": None, "error": str(error)}
        tapes = [self.convert_tokens_to_string(list(tape.content)) for tape in found.tapes]
        return {"state": found.state, "tapes": tapes, "heads": [t.head for t in found.tapes]}

    def _prompt_tokens(self, prompt: list[int]) -> list[list[int]]:
        """Return the tokens of a prompt, each with its parity."""
        rows = [list(self.about["prompt_table"][number]) for number in prompt]
        for place, row in enumerate(rows, 1):
            row[self.about["parity"]] = self.about["parity_values"][place % 2]
        return rows

    def _words(self, row: list[int]) -> list[str]:
        return [factor["values"][i] for factor, i in zip(self.factors, row, strict=True)]

    def _value(self, row: list[int], name: str) -> str:
        place = self.places[name]
        value: str = self.factors[place]["values"][row[place]]
        return value

    def _key(self, row: list[int]) -> tuple[int, ...]:
        """Return a token without its parity."""
        parity = self.about["parity"]
        return (*row[:parity], *row[parity + 1 :])

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write the file that this tokenizer is made from."""
        name = f"{filename_prefix}-tokens.json" if filename_prefix else "tokens.json"
        path = os.path.join(save_directory, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.about, file, ensure_ascii=False)
        return (path,)
