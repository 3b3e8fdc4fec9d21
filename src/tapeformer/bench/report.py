"""Writing what was measured: a page, a table for machines, and where it was measured."""

from __future__ import annotations

import contextlib
import csv
import datetime
import os
import platform
import resource
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tapeformer import __version__
from tapeformer.constructions import construction
from tapeformer.constructions.sizes import Sizes
from tapeformer.faults import Fault, SourceLocation, TapeformerError

Row = Mapping[str, Any]
PACKAGES = ("numpy", "torch", "llvmlite", "automata-lib")


@dataclass(frozen=True)
class Section:
    """A part of a page: a title, a line of text, and rows with equal keys."""

    title: str
    text: str
    rows: Sequence[Row]
    plots: Sequence[str] = ()


def levels_of(row: Row) -> int:
    """Return the levels of a row's model; 0 where they grow with the space instead of the base."""
    return 0 if construction(row["construction"]).grows(Sizes()) else int(row["levels"])


def hardware() -> str:
    """Return what the numbers depend on, without naming the machine."""
    model = _first_of("/proc/cpuinfo", "model name") or platform.machine()
    kilobytes = (_first_of("/proc/meminfo", "MemTotal") or "").split()
    memory = [f"{int(kilobytes[0]) / 2**20:.0f} GB memory"] if kilobytes else []
    software = [f"Python {platform.python_version()}", *_versions()]
    return ", ".join([model, f"{os.cpu_count()} cores", *memory, *software])


def _first_of(path: str, name: str) -> str | None:
    """Return the value of the first line `name: value` of a file, if there is one."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)


def _versions() -> list[str]:
    """Return the packages that speed depends on, those that are installed."""
    found = []
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return found


def peak_megabytes() -> float:
    """Return the most memory that this process has had, not counting what it was started from."""
    found = _first_of("/proc/self/status", "VmHWM")
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (int(found.split()[0]) if found else kilobytes) / 1024


def write_report(folder: Path, name: str, command: str, sections: Sequence[Section]) -> Path:
    """Write `name.md` and one CSV file a section; return the page's path."""
    page = folder / f"{name}.md"
    with _written(folder):
        for section in sections:
            title = section.title.replace(" ", "_").lower()
            _write_csv(folder / f"{name}_{title}.csv", section.rows)
        page.write_text(_page(name, command, sections), encoding="utf-8")
    return page


def make_folder(folder: Path) -> None:
    """Make the folder of a report, before anything is measured in vain."""
    with _written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


@contextlib.contextmanager
def _written(folder: Path) -> Iterator[None]:
    """Raise one message for whatever keeps a report from being written."""
    try:
        yield
    except OSError as error:
        why = f"the report cannot be written: {error.strerror or error}"
        place = SourceLocation(str(folder))
        raise TapeformerError(Fault(why, place, remedy="choose another folder")) from None


def _page(name: str, command: str, sections: Sequence[Section]) -> str:
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    lines = [f"# {name}", "", f"`{command}`, tapeformer {__version__}, {date}; {hardware()}.", ""]
    for section in sections:
        lines += [f"## {section.title}", "", section.text, "", markdown(section.rows), ""]
        lines += [f"![{plot}]({plot})\n" for plot in section.plots]
    return "\n".join(lines)


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table."""
    if not rows:
        return "(nothing measured)"
    keys = list(rows[0])
    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    lines += ["| " + " | ".join(_shown(row.get(key, "")) for key in keys) + " |" for row in rows]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e3 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _write_csv(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)
