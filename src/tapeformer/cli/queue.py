"""`tapeformer queue`: a queue machine written by hand, run three ways."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import EngineName
from tapeformer.cli.output import print_json

if TYPE_CHECKING:
    from tapeformer.queues.table import Table

File = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="A YAML table with K queues, or the name of an example."),
]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=1, help="Stop after so many tokens.")]
MOST_LITERAL = 2_000
"""Tokens in a flat vocabulary up to which Appendix B is also built to the letter."""


def queue(
    table: File,
    word: shared.Word = "",
    spaced: shared.Spaced = False,
    engine: EngineName = "auto",
    max_tokens: MaxTokens = 2_000,
    as_json: shared.Json = False,
) -> None:
    """Run a hand-written queue machine: directly, as a Transformer, and to the letter of Appendix B."""
    from tapeformer.inference.queue_tables import factored_tokens, literal_tokens
    from tapeformer.queues.run import factor_names, generate, prompt
    from tapeformer.queues.table import example_names, load_table

    path = example_names().get(table, Path(table))
    made = load_table(path)
    symbols = tuple(word.split()) if spaced else tuple(word)
    start = prompt(made.machine, symbols)
    direct = []
    for token in generate(made.machine, made.layout, symbols):
        direct.append(token)
        if len(direct) == max_tokens:
            break
    factored = factored_tokens(made, start, len(direct), engine)
    literal = literal_tokens(made, start, len(direct), engine, MOST_LITERAL)
    names = factor_names(made.machine)
    record = {
        "machine": made.machine.name,
        "queues": {name: made.layout.lengths[q.length_rule] for name, q in _queues(made).items()},
        "verdict": direct[-1][names.index(made.machine.verdict)],
        "state": direct[-1][names.index(made.machine.state)],
        "tokens": len(direct),
        "transformer_agrees": factored == direct,
        "appendix_b_agrees": None if literal is None else literal == direct,
    }
    if as_json:
        print_json(record)
    else:
        _print(made, record)
    if not record["transformer_agrees"] or record["appendix_b_agrees"] is False:
        raise typer.Exit(1)


def _queues(made: Table) -> dict[str, Any]:
    return {queue.name: queue for queue in made.machine.queues}


def _print(made: Table, record: dict[str, Any]) -> None:
    from tapeformer.queues.show import show

    print(show(made.machine, made.layout))
    print(f"{record['verdict']} in state {record['state']} after {record['tokens']:,} tokens")
    agreed = {True: "the same tokens", False: "OTHER TOKENS", None: "too large to be built"}
    print(f"  as a Transformer: {agreed[record['transformer_agrees']]}")
    print(f"  Appendix B to the letter: {agreed[record['appendix_b_agrees']]}")
