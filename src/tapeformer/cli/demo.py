"""`make demo`: a Turing machine becomes a Transformer, and the Transformer runs it.

`python -m tapeformer.cli.demo --svg FILE` draws the chain of thought instead of printing it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tapeformer.cli.chain import token_text
from tapeformer.cli.output import write_file
from tapeformer.cli.records import answer_text, model_text
from tapeformer.drawing.chain import chain_svg
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.inference.run import run
from tapeformer.inference.stream import StreamedToken, stream
from tapeformer.simulator.fast import simulate
from tapeformer.simulator.result import Configuration

MACHINE, WORD = "palindrome_two_tapes", "abba"


def main() -> None:
    """Print or draw a chain of thought decoded back to tapes; count tokens against steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--svg", type=Path, help="draw the chain of thought to this file")
    svg = parser.parse_args().svg
    if svg is not None:
        write_file(svg, picture())
        return
    print(f"tapeformer: {len(gallery_names())} machines in the gallery (`tapeformer machines`)\n")
    _palindrome()
    _busy_beaver()
    print("\nNext: .venv/bin/tapeformer run bf_interpreter '++[-]', or a machine of your own.")


def picture() -> str:
    """Return the picture of the README: each step's token, decoded, and the last one's look-backs."""
    tokens = _step_tokens()
    rows = [
        (token.number, Configuration(token.steps, token.state, token.tapes)) for token in tokens
    ]
    look_backs = tokens[-1].piece.reader.bundle.offsets
    return chain_svg(rows, sorted(set(look_backs)), f"{MACHINE} on {WORD}: one token for each step")


def _step_tokens() -> list[StreamedToken]:
    """Return the tokens that make a step; those before them read the prompt."""
    kept: list[StreamedToken] = []
    for token in stream(MACHINE, WORD):
        if token.steps > len(kept):
            kept.append(token)
    return kept


def _palindrome() -> None:
    print(f"Is {WORD!r} a palindrome? The chain of thought of a two-tape machine, read back:\n")
    tokens = _step_tokens()
    for token in tokens:
        print(token_text(token, with_factors=False) + "\n")
    model = model_text(tokens[-1].piece.reader.bundle)
    print(f"The Transformer that made these tokens:\n{model}\n")


def _busy_beaver() -> None:
    answer, direct = run("busy_beaver_4"), simulate(gallery_machine("busy_beaver_4"))
    print(f"BB(4), one token per step: {answer_text(answer)}")
    same = (answer.steps, answer.state, answer.tapes) == (direct.steps, direct.state, direct.tapes)
    print(f"The direct simulation, which is not part of the compiler, says the same: {same}")


if __name__ == "__main__":
    main()
