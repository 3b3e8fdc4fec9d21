"""One shard: traces go to Parquet in row groups, short ones to the chats as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

from tapeformer.export.dataset.chat import chat_line
from tapeformer.export.dataset.folder import PARTIAL, Folder
from tapeformer.export.dataset.options import DatasetOptions
from tapeformer.export.dataset.parquet import pyarrow, record_batch, schema_of
from tapeformer.export.dataset.traces import Trace, Tracer
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.machine.record import TuringMachine

GROUP_BYTES, GROUP_ROWS = 16 << 20, 1000
"""A row group is written when its tokens take so much, or it has so many rows."""
SHARD_BYTES = 512 << 20
"""A shard ends early when its tokens take so much before compression."""


class ShardWriter:
    """Writes a shard and its chats; they get their names when all is written."""

    def __init__(
        self,
        folder: Folder,
        split: str,
        number: int,
        tracer: Tracer,
        machine: TuringMachine,
        options: DatasetOptions,
    ) -> None:
        self.tracer, self.machine, self.options = tracer, machine, options
        self.path, self.chat_path = folder.shard(split, number), folder.chat(split, number)
        about = {"shard": number, "split": split, "machine": machine.name}
        self.schema = schema_of(tracer.reader.factors, tracer.dtype, about)
        self.traces: list[Trace] = []
        self.rows = self.bytes = self.group_bytes = 0

    def write(self, traces: Iterator[Trace], told: Callable[[int], bool]) -> bool:
        """Write traces until the shard is full; False, and no file, if told to stop."""
        partial, chat = (
            path.with_name(path.name + PARTIAL) for path in (self.path, self.chat_path)
        )
        try:
            self.chat_path.parent.mkdir(exist_ok=True)
            with self._parquet(partial) as file, chat.open("w", encoding="utf-8") as chats:
                complete = self._fill(traces, told, file, chats)
            if complete:
                if chat.stat().st_size:
                    chat.replace(self.chat_path)
                partial.replace(self.path)
            return complete
        except OSError as error:
            raise _unwritable(self.path.parent.as_posix(), error) from None
        finally:
            partial.unlink(missing_ok=True)
            chat.unlink(missing_ok=True)

    def _parquet(self, path: Any) -> Any:
        return pyarrow(".parquet").ParquetWriter(path, self.schema, compression="zstd")

    def _fill(
        self, traces: Iterator[Trace], told: Callable[[int], bool], file: Any, chats: IO[str]
    ) -> bool:
        for trace in traces:
            self._add(trace, file)
            if trace.steps <= self.options.chat_steps:
                chats.write(chat_line(self.machine, trace.word, trace.steps) + "\n")
            if not told(1):
                return False
            if self.rows >= self.options.rows_per_shard or self.bytes >= SHARD_BYTES:
                break
        self._flush(file)
        return told(0)

    def _add(self, trace: Trace, file: Any) -> None:
        self.traces.append(trace)
        self.rows += 1
        self.bytes += trace.tokens.nbytes
        self.group_bytes += trace.tokens.nbytes
        if len(self.traces) >= GROUP_ROWS or self.group_bytes >= GROUP_BYTES:
            self._flush(file)

    def _flush(self, file: Any) -> None:
        if self.traces:
            inputs = [self.machine.spell(trace.word) for trace in self.traces]
            file.write_batch(record_batch(self.schema, self.traces, inputs, self.tracer.states))
            self.traces, self.group_bytes = [], 0


def _unwritable(folder: str, error: OSError) -> TapeformerError:
    why = f"the dataset cannot be written: {error.strerror or error}"
    remedy = "make room and give the same command again, or choose another folder"
    return TapeformerError(Fault(why, SourceLocation(folder), remedy=remedy))
