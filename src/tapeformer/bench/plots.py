"""Plots of what was measured, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from tapeformer.bench.report import Row, levels_of
from tapeformer.extras import require
from tapeformer.faults import counted

require("matplotlib", extra="plots", what="a page with plots")
"""Asked for when a command begins, so that no measurement ends without its plots."""


def tokens_per_step(folder: Path, rows: Sequence[Row], machine: str) -> list[str]:
    """Return tokens per step against s on log axes, with the slopes 1/k'."""
    figure, axes = _figure("s (cells)", "tokens per step", f"tokens per step: {machine}")
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        if row["machine"] == machine:
            groups.setdefault((row["construction"], levels_of(row)), []).append(row)
    for (construction, levels), group in groups.items():
        xs = [row["s"] for row in group]
        ys = [row["tokens per step"] for row in group]
        label = f"{construction}, {levels} levels" if levels else f"{construction}, base 2"
        (line,) = axes.plot(xs, ys, "o-", label=label)
        guide = [ys[0] * (x / xs[0]) ** (1 / levels if levels else 0) for x in xs]
        axes.plot(xs, guide, ":", color=line.get_color(), alpha=0.6)
    axes.legend()
    return save(figure, folder, f"tokens_per_step_{machine}")


def ratios(folder: Path, rows: Sequence[Row], key: str) -> list[str]:
    """Return a ratio against s, which stays bounded where a theorem says so."""
    figure, axes = _figure("s (cells)", key, key)
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["construction"], levels_of(row)), []).append(row)
    for (name, levels), group in groups.items():
        if levels:
            label = f"{name}, {counted(levels, 'level')}"
            axes.plot([r["s"] for r in group], [r[key] for r in group], "o", label=label)
    axes.legend()
    return save(figure, folder, key.replace(" ", "_").replace("'", ""))


def speeds(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Return steps and tokens per second as bars on log axes, with the least and the most as whiskers."""
    figure, panels = panels_beside(2, (15, 1.5 + 0.3 * len(rows)))
    names = [f"{row['machine'].split(',')[0]}: {row['what']}" for row in rows]
    colours = [f"C{list(dict.fromkeys(r['what'] for r in rows)).index(r['what'])}" for r in rows]
    for axes, unit in zip(panels, ("steps", "tokens"), strict=True):
        values = [row[f"{unit} per second"] or 0 for row in rows]
        below = [
            value - (row[f"least {unit}"] or 0) for row, value in zip(rows, values, strict=True)
        ]
        above = [
            (row[f"most {unit}"] or 0) - value for row, value in zip(rows, values, strict=True)
        ]
        axes.barh(range(len(rows)), values, xerr=[below, above], color=colours, ecolor="0.3")
        axes.set(xscale="log", xlabel=f"{unit} per second", yticks=range(len(rows)))
        axes.set_yticklabels(names if unit == "steps" else [""] * len(rows))
        axes.invert_yaxis()
        axes.grid(visible=True, axis="x", which="major", alpha=0.4)
    return save(figure, folder, "speed")


def costs(folder: Path, name: str, rows: Sequence[Row], x: str, ys: Sequence[str]) -> list[str]:
    """Return what a token costs against `x`, a panel for each cost; times with their quartiles."""
    figure, panels = panels_beside(len(ys), (6 * len(ys), 4.5))
    for axes, y in zip(panels, ys, strict=True):
        places, highest = [row[x] for row in rows], [row[y] for row in rows]
        axes.plot(places, highest, "o-")
        if y == "ns per token":
            highest = [row["upper quartile"] for row in rows]
            axes.fill_between(places, [row["lower quartile"] for row in rows], highest, alpha=0.2)
        axes.set(xscale="log", xlabel=x, ylabel=y, ylim=(0, 1.1 * max(highest)))
        axes.grid(visible=True, alpha=0.25)
    return save(figure, folder, name)


def against_inputs(folder: Path, rows: Sequence[Row], crossings: Sequence[Row]) -> list[str]:
    """Return tokens per second against the number of inputs, and where one engine overtakes another."""
    title = "tokens per second end to end"
    figure, axes = _figure("inputs", "tokens per second", title)
    for name in dict.fromkeys(row["engine"] for row in rows):
        mine = [row for row in rows if row["engine"] == name]
        xs, ys = ([row[key] for row in mine] for key in ("inputs", "tokens per second"))
        axes.plot(xs, ys, "o-", label=name)
    for row in crossings:
        axes.axvline(row["from inputs"], color="0.5", linestyle=":")
        text = f"{row['engine']} overtakes {row['overtakes']}: {row['from inputs']:,}"
        place = (row["from inputs"], 0.02)
        axes.annotate(text, place, xycoords=("data", "axes fraction"), rotation=90, fontsize=7)
    axes.legend()
    return save(figure, folder, "inputs")


def pace(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Return tokens per second over a run, piece by piece."""
    figure, (axes,) = panels_beside(1, (8, 4.5))
    millions = [row["tokens"] / 1e6 for row in rows]
    axes.plot(millions, [row["tokens per second"] / 1e6 for row in rows], "o-")
    axes.set(xlabel="tokens so far (million)", ylabel="million tokens per second")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.25)
    return save(figure, folder, "bb5_pace")


def table_bars(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Return rows of Table 1 side by side: bits, window, tokens per step, dimension."""
    keys = ("precision_bits", "window", "cot_per_step", "dimension")
    figure, panels = panels_beside(len(keys), (4 * len(keys), 1 + 0.35 * len(rows)))
    for axes, key in zip(panels, keys, strict=True):
        axes.barh(range(len(rows)), [row[key] or 0 for row in rows])
        axes.set(xlabel=key.replace("_", " "), yticks=range(len(rows)))
        axes.set_yticklabels([row["row"] for row in rows] if key == keys[0] else [""] * len(rows))
        if key != "precision_bits":
            axes.set_xscale("symlog")
        axes.invert_yaxis()
        axes.grid(visible=True, axis="x", alpha=0.4)
    return save(figure, folder, "table1")


def laws(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Draw all rows in one picture: bits and window against t, bits and tokens against s."""
    views = (("fixed space", "t", "bits"), ("fixed time", "s", "bits"), ("fixed space", "t", "window"), ("fixed time", "s", "tokens per step"))  # fmt: skip
    figure, panels = panels_beside(len(views), (5 * len(views), 5))
    for axes, (series, x, y) in zip(panels, views, strict=True):
        shown = [row for row in rows if row["series"] == series and row[y]]
        names = dict.fromkeys(row["row"] for row in shown)
        for name, mark in zip(names, cycle("osD^v<>pX*"), strict=False):
            mine = [row for row in shown if row["row"] == name]
            axes.plot([r[x] for r in mine], [r[y] for r in mine], f"{mark}-", label=name, ms=5)
        axes.set(xlabel=f"{x} ({series})", ylabel=y)
        if shown:
            axes.set_xscale("log", base=2)
        if shown and y != "bits":
            axes.set_yscale("log")
        axes.grid(visible=True, which="both", alpha=0.25)
    marks, names_shown = panels[0].get_legend_handles_labels()
    figure.legend(marks, names_shown, loc="outside lower center", ncols=10, fontsize=9)
    return save(figure, folder, "laws")


def panels_beside(count: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    """Return a figure with panels side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def _figure(x: str, y: str, title: str) -> tuple[Any, Any]:
    figure, (axes,) = panels_beside(1, (7, 5))
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y, title=title)
    axes.grid(visible=True, which="both", alpha=0.25)
    return figure, axes


def save(figure: Any, folder: Path, name: str, kinds: Sequence[str] = ("png", "svg")) -> list[str]:
    """Write a figure as PNG and SVG, and return its name for a page."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        figure.savefig(folder / f"{name}.{kind}", dpi=130)
    return [f"{name}.png"]
