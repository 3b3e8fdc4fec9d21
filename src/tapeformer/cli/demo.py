"""`make demo`: a Turing machine becomes a Transformer, and the Transformer runs it."""

from __future__ import annotations

from tapeformer.cli.records import model_text
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.passes import compile_machine
from tapeformer.constructions.realtime.layout import fewest_levels
from tapeformer.drawing.tapes import configuration_text, tape_lines
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.inference.run import Generation, generate
from tapeformer.machine.word import parse_word
from tapeformer.simulator import Configuration, simulate


def main() -> None:
    """Draws a chain of thought decoded back to tapes, then counts tokens against steps."""
    print(f"tapeformer: {len(gallery_names())} machines in the gallery (`tapeformer machines`)\n")
    _palindrome("abba")
    _busy_beaver()
    print("\nNext: .venv/bin/tapeformer run bf_interpreter '++[-]', or a machine of your own.")


def _palindrome(word: str) -> None:
    machine = gallery_machine("palindrome_two_tapes")
    bundle = compile_machine(machine, CompileOptions(levels=fewest_levels(len(word)), base=2))
    print("A two-tape Turing machine, compiled:\n" + model_text(bundle))
    print(f"\nIs {word!r} a palindrome? Its chain of thought, read back from the tokens:\n")
    run = Generation(bundle, parse_word(machine, word), "auto")
    step = 0
    for rows in run.pieces(10**6, None, most=1):
        if rows[0, run.reader.stepped] == run.reader.step_mark:
            step += 1
            read = run.reader.configuration(run.kept.rows())
            token = run.prompt_tokens + run.counts.tokens
            shown = Configuration(step, read.state, read.tapes, run.outcome)
            print(f"token {token}: {configuration_text(machine, shown)}\n")


def _busy_beaver() -> None:
    machine = gallery_machine("busy_beaver_4")
    answer = generate(compile_machine(machine, CompileOptions(levels=4)), ())
    direct = simulate(machine)
    print(
        f"BB(4): {answer.steps} steps in {answer.cot_tokens} tokens, {answer.boot_tokens} of them"
        " to boot: one token per step."
    )
    print("\n".join(tape_lines(machine, answer.tapes)))
    same = (answer.steps, answer.state, answer.tapes) == (direct.steps, direct.state, direct.tapes)
    print(f"The direct simulation, which shares no code with it, says the same: {same}")


if __name__ == "__main__":
    main()
