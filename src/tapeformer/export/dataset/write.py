"""Writing a dataset: the model, then shard after shard; the same call again resumes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain, groupby, islice, takewhile
from pathlib import Path
from typing import Any, cast

from tapeformer import __version__
from tapeformer.arguments import watched
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.save import model_digest
from tapeformer.compile.sizes import for_runs
from tapeformer.export.dataset.card import card_text
from tapeformer.export.dataset.folder import (
    FORMAT,
    VERSION,
    Folder,
    folder_name,
    folders_in,
)
from tapeformer.export.dataset.options import DatasetOptions, checked, words_for
from tapeformer.export.dataset.parquet import about_shard, pyarrow
from tapeformer.export.dataset.shard import ShardWriter
from tapeformer.export.dataset.splits import SPLITS, SplitRule
from tapeformer.export.dataset.traces import Trace, Tracer, traced
from tapeformer.export.dataset.words import Word, Words
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.folders import write_text_at_once
from tapeformer.formats.registry import dumps
from tapeformer.inference.model import Model, Source, find_model
from tapeformer.simulator.fast import simulate

Watch = Callable[[int], bool]
CARD = "README.md"


@dataclass(frozen=True, eq=False)
class Plan:
    """All that one machine's traces depend on."""

    model: Model
    words: Words
    rule: SplitRule
    options: DatasetOptions

    def asked(self) -> dict[str, Any]:
        """Describe the plan, so that only the same one is resumed."""
        options, source = self.options, self.model.bundle
        return {
            "machine": dumps(self.model.machine),
            "model": model_digest(source) if source else asdict(options.compile),
            "words": self.words.record(),
            "splits": asdict(self.rule),
            **{name: getattr(options, name) for name in ("max_steps", "chat_steps")},
            "rows_per_shard": options.rows_per_shard,
        }

    def of_split(self, split: str) -> Iterator[Word]:
        """Yield the words of a split, in order."""
        return (word for word in self.words if self.rule.split_of(word) == split)


def write_dataset(
    machines: Source | Sequence[Source],
    folder: str | os.PathLike[str],
    options: DatasetOptions | None = None,
    *,
    watch: Callable[[int], bool | None] | None = None,
    cluster: str | None = None,
) -> dict[str, dict[str, dict[str, int]]]:
    """Write the chains of thought of machines, and return rows and tokens by machine and split.

    Every machine is a configuration of `datasets.load_dataset(folder, name)`. Shards that are
    there are kept, so the same call resumes what was interrupted. `watch` is told the number of
    rows and ends the work by returning False. With `cluster`, the address of a Dask scheduler, its
    workers generate the traces.
    """
    pyarrow()
    options, path = checked(options or DatasetOptions()), Path(folder)
    plans: dict[str, Plan] = {}
    for source in _several(machines):
        plan = plan_for(source, options)
        if plans.setdefault(folder_name(plan.model.machine.name), plan) is not plan:
            raise TapeformerError(Fault(f"two machines are named {plan.model.machine.name}"))
    told = Counting(watched(watch))
    counts = {}
    for name, plan in plans.items():
        if _write_machine(plan, Folder(path / name), told, cluster):
            counts[name] = Folder(path / name).counts()
    if counts:
        write_text_at_once(path / CARD, card_text(folders_in(path)))
    return counts


def _several(machines: Source | Sequence[Source]) -> Sequence[Source]:
    """Return a sequence of machines; a single one may be given as it is."""
    return machines if isinstance(machines, list | tuple) else [cast("Source", machines)]


class Counting:
    """Counts rows over all machines; once the caller has said stop, it stays so."""

    def __init__(self, watch: Watch | None) -> None:
        self.watch, self.rows, self.stopped = watch, 0, False

    def __call__(self, rows: int) -> bool:
        """Add rows; False ends the work."""
        self.rows += rows
        self.stopped = self.stopped or (self.watch is not None and not self.watch(self.rows))
        return not self.stopped


def plan_for(source: Source, options: DatasetOptions) -> Plan:
    """Find the model and the words."""
    model = find_model(source, options.compile)
    words = words_for(model.machine, options)
    if next(iter(words), None) is None:
        raise TapeformerError(Fault("there are no words", remedy="put one on each line"))
    shortest, longest = words.lengths
    middle = (shortest + longest) // 2 if options.train_up_to is None else options.train_up_to
    return Plan(model, words, SplitRule(middle, options.held_out), options)


def sized(plan: Plan, told: Counting) -> Bundle:
    """Return a model that holds every run: where sizes are open, direct simulations find them."""
    model = plan.model

    def space() -> int:
        most = 1
        for word in takewhile(lambda _: told(0), plan.words):
            most = max(most, *simulate(model.machine, word, max_steps=plan.options.max_steps).cells)
        return most

    if model.bundle is not None:
        return model.bundle
    return model.compiled(for_runs(model.machine, model.options, plan.words.lengths[1], space))


def _write_machine(plan: Plan, folder: Folder, told: Counting, cluster: str | None) -> bool:
    """Write what is missing; False where nothing was begun, because the caller has stopped."""
    with folder.alone():
        asked, found = plan.asked(), folder.manifest()
        if found is None:
            bundle = sized(plan, told)
            if told.stopped:
                return False
            about = {"format": FORMAT, "version": VERSION, "tapeformer": __version__}
            folder.begin({**about, "sha256": model_digest(bundle), **asked}, bundle)
        elif any(found.get(key) != value for key, value in asked.items()):
            raise _another(folder, [key for key in asked if found.get(key) != asked[key]])
        _write_splits(plan, folder, told, cluster)
    return True


def _write_splits(plan: Plan, folder: Folder, told: Counting, cluster: str | None) -> None:
    """Write the shards that are missing, split by split; one stream of traces serves them all."""
    tracer = Tracer(folder.bundle(), plan.options.max_steps)
    done = {split: _rows_in(folder, split) for split in SPLITS}
    words = chain.from_iterable(islice(plan.of_split(s), done[s], None) for s in SPLITS)
    if not told(sum(done.values())):
        return
    with closing(traced(tracer, words, lambda: told(0), cluster)) as traces:
        for split, found in groupby(traces, lambda trace: plan.rule.split_of(trace.word)):
            if not _write_split(plan, folder, split, tracer, found, told):
                return


def _rows_in(folder: Folder, split: str) -> int:
    return sum(about_shard(path).rows for path in folder.shards(split))


def _write_split(
    plan: Plan, folder: Folder, split: str, tracer: Tracer, traces: Iterator[Trace], told: Counting
) -> bool:
    """Write the traces of a split, a shard at a time; False once the caller has said stop."""
    number = len(folder.shards(split))
    while (first := next(traces, None)) is not None:
        writer = ShardWriter(folder, split, number, tracer, plan.model.machine, plan.options)
        if not writer.write(chain([first], traces), told):
            return False
        number += 1
    return True


def _another(folder: Folder, differing: list[str]) -> TapeformerError:
    return TapeformerError(
        Fault(
            f"another dataset is there: it differs in {', '.join(differing)}",
            SourceLocation(str(folder.path)),
            expected="the dataset of an interrupted run of the same command, or no such folder",
            remedy="choose another folder, or remove this one",
        )
    )
