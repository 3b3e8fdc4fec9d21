"""`tapeformer queue`: a queue machine written by hand, run three ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import EngineName
from tapeformer.cli.output import print_json

if TYPE_CHECKING:
    from tapeformer.queues.table import QueueTable

File = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="A YAML table with K queues, or the name of an example."),
]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=1, help="Stop after so many tokens.")]


def queue(
    table: File,
    word: shared.Word = "",
    spaced: shared.Spaced = False,
    engine: EngineName = "auto",
    max_tokens: MaxTokens = 2_000,
    as_json: shared.Json = False,
) -> None:
    """Run a queue machine that was written by hand.

    It runs directly, as a Transformer, and to the letter of Appendix B.
    """
    from tapeformer.inference.queue_tables import run_queue_table

    symbols = word.split() if spaced else word
    run = run_queue_table(table, symbols, engine=engine, max_tokens=max_tokens)
    lengths = run.table.layout.lengths
    record = {
        "machine": run.table.machine.name,
        "queues": {queue.name: lengths[queue.length_rule] for queue in run.table.machine.queues},
        "verdict": run.verdict,
        "state": run.state,
        "tokens": len(run.tokens),
        "transformer_agrees": run.transformer_agrees,
        "appendix_b_agrees": run.literal_agrees,
    }
    if as_json:
        print_json(record)
    else:
        _print(run.table, record)
    if not record["transformer_agrees"] or record["appendix_b_agrees"] is False:
        raise typer.Exit(1)


def _print(table: QueueTable, record: dict[str, Any]) -> None:
    from tapeformer.queues.show import show

    print(show(table.machine, table.layout))
    print(f"{record['verdict']} in state {record['state']} after {record['tokens']:,} tokens")
    agreed = {True: "the same tokens", False: "OTHER TOKENS", None: "too large to be built"}
    print(f"  as a Transformer: {agreed[record['transformer_agrees']]}")
    print(f"  Appendix B to the letter: {agreed[record['appendix_b_agrees']]}")
