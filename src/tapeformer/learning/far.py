"""Traces too long to keep: their distinct situations, by level, with how often each occurs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import Queue
from threading import Thread

import numpy as np
import torch

from tapeformer.folders import file_written_at_once
from tapeformer.learning.keys import GroupKeys
from tapeformer.learning.situations import BLOCKS, Reader
from tapeformer.learning.tables import Collector, Table, by_level
from tapeformer.learning.traces import TraceSet, on_device, test_name

COLUMNS = ("inputs", "outputs", "copies", "times")


def save_far(parts: Iterable[TraceSet], path: Path, watch: Callable[[str], None]) -> int:
    """Write the situations of traces that come in parts; return their tokens to predict."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    found: dict[str, Collector] = {}
    tokens = 0
    for part in made_ahead(parts):
        there = on_device(part, device)
        if not found:
            readers = [Reader(there.fields, name, device) for name in BLOCKS]
            found = {reader.block: Collector(reader, by_level) for reader in readers}
        groups = GroupKeys(there)
        for collector in found.values():
            collector.add(groups)
        tokens += part.predicted
        watch(f"{path.stem}: {tokens:,} tokens so far")
    arrays = {
        f"{name}.{column}": getattr(collector.table, column).cpu().numpy()
        for name, collector in found.items()
        for column in COLUMNS
    }
    with file_written_at_once(path) as partial:
        np.savez_compressed(partial, tokens=np.array(tokens), **arrays)
    return tokens


def made_ahead(parts: Iterable[TraceSet]) -> Iterator[TraceSet]:
    """Yield parts while a thread makes the next ones."""
    queue: Queue[TraceSet | BaseException | None] = Queue(maxsize=2)

    def make() -> None:
        try:
            for part in parts:
                queue.put(part)
            queue.put(None)
        except BaseException as error:
            queue.put(error)

    Thread(target=make, daemon=True).start()
    while (part := queue.get()) is not None:
        if isinstance(part, BaseException):
            raise part
        yield part


def load_far(folder: Path, length: int, device: torch.device) -> tuple[dict[str, Table], int]:
    """Read the situations of each block, copies being levels, and the number of tokens."""
    with np.load(folder / f"{test_name(length)}.npz") as file:
        tables = {
            name: Table(*(torch.from_numpy(file[f"{name}.{column}"]) for column in COLUMNS))
            for name in BLOCKS
        }
        tokens = int(file["tokens"])
    return {name: rows.to(device) for name, rows in tables.items()}, tokens
