"""`make demo`: a small tour of what tapeformer does, on machines of the gallery."""

from __future__ import annotations

from tapeformer.drawing.tapes import configuration_text, tape_lines
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.machine.word import parse_word
from tapeformer.simulator import Outcome, configurations, simulate


def main() -> None:
    """Draws a run of the two-tape palindrome machine, then runs busy beavers."""
    print(f"tapeformer: {len(gallery_names())} machines in the gallery (`tapeformer machines`)\n")
    _palindrome("abba")
    _busy_beavers()
    print("\nNext: .venv/bin/tapeformer simulate bf_interpreter '++[-]' --trace, or your own file.")


def _palindrome(word: str) -> None:
    machine = gallery_machine("palindrome_two_tapes")
    print(f"Is {word!r} a palindrome? Two tapes, heads in brackets:\n")
    for configuration in configurations(machine, parse_word(machine, word)):
        print(configuration_text(machine, configuration) + "\n")


def _busy_beavers() -> None:
    print("Busy beavers, from an empty tape until they halt:\n")
    for states in (2, 3, 4):
        machine = gallery_machine(f"busy_beaver_{states}")
        result = simulate(machine)
        assert result.outcome is Outcome.HALT
        ones = sum(symbol != machine.blank for symbol in result.tapes[0].content)
        print(f"BB({states}) halts after {result.steps} steps with {ones} ones:")
        print("\n".join(tape_lines(machine, result.tapes)))


if __name__ == "__main__":
    main()
