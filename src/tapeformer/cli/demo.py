"""`make demo`: a Turing machine becomes a Transformer, and the Transformer runs it."""

from __future__ import annotations

from tapeformer.cli.chain import token_text
from tapeformer.cli.records import answer_text, model_text
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.inference.run import run
from tapeformer.inference.stream import stream
from tapeformer.simulator import simulate


def main() -> None:
    """Draw a chain of thought decoded back to tapes, then count tokens against steps."""
    print(f"tapeformer: {len(gallery_names())} machines in the gallery (`tapeformer machines`)\n")
    _palindrome("abba")
    _busy_beaver()
    print("\nNext: .venv/bin/tapeformer run bf_interpreter '++[-]', or a machine of your own.")


def _palindrome(word: str) -> None:
    print(f"Is {word!r} a palindrome? The chain of thought of a two-tape machine, read back:\n")
    steps = 0
    for token in stream("palindrome_two_tapes", word):
        if token.steps > steps:
            steps = token.steps
            print(token_text(token, with_factors=False) + "\n")
    print(
        "The Transformer that made these tokens:\n" + model_text(token.piece.reader.bundle) + "\n"
    )


def _busy_beaver() -> None:
    answer, direct = run("busy_beaver_4"), simulate(gallery_machine("busy_beaver_4"))
    print(f"BB(4), one token per step: {answer_text(answer)}")
    same = (answer.steps, answer.state, answer.tapes) == (direct.steps, direct.state, direct.tapes)
    print(f"The direct simulation, which shares no code with it, says the same: {same}")


if __name__ == "__main__":
    main()
