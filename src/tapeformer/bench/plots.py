"""Plots of what was measured, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tapeformer.bench.report import Row


def tokens_per_step(folder: Path, rows: Sequence[Row], machine: str) -> list[str]:
    """Tokens per step against s on log axes, with the slopes 1/k'."""
    figure, axes = _figure("s (cells)", "tokens per step", f"tokens per step: {machine}")
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        if row["machine"] == machine:
            grows = row["construction"] == "realtime"
            groups.setdefault((row["construction"], 0 if grows else row["levels"]), []).append(row)
    for (construction, levels), group in groups.items():
        xs = [row["s"] for row in group]
        ys = [row["tokens per step"] for row in group]
        label = f"{construction}, {levels} levels" if levels else f"{construction}, base 2"
        (line,) = axes.plot(xs, ys, "o-", label=label)
        guide = [ys[0] * (x / xs[0]) ** (1 / levels if levels else 0) for x in xs]
        axes.plot(xs, guide, ":", color=line.get_color(), alpha=0.6)
    axes.legend()
    return _save(figure, folder, f"tokens_per_step_{machine}")


def ratios(folder: Path, rows: Sequence[Row], key: str) -> list[str]:
    """A ratio against s, which stays bounded where a theorem says so."""
    figure, axes = _figure("s (cells)", key, key)
    for levels in sorted({row["levels"] for row in rows if row["construction"] == "paper"}):
        group = [r for r in rows if r["levels"] == levels and r["construction"] == "paper"]
        axes.plot([r["s"] for r in group], [r[key] for r in group], "o", label=f"{levels} levels")
    axes.legend()
    return _save(figure, folder, key.replace(" ", "_").replace("'", ""))


def _figure(x: str, y: str, title: str) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y, title=title)
    axes.grid(visible=True, which="both", alpha=0.25)
    return figure, axes


def _save(figure: Any, folder: Path, name: str) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"{name}.{kind}", dpi=130)
    return [f"{name}.png"]
