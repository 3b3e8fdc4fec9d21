"""The plots of `bench theorem`, in the form in which a paper prints them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tapeformer.bench.plots import panels_beside, save
from tapeformer.bench.report import Row
from tapeformer.bench.theorem_form import FORM

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Told apart by readers who do not see all colours."""


def against_levels(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Total CoT, boot, window and the rounding of b against k', the best k' marked."""
    figure, panels = panels_beside(4, (15, 3.6))
    best = next(row for row in rows if row["best"])
    k, total = best["k'"], best["CoT over t"]
    s = rows[0]["s"]
    _curves(panels[0], rows, {"CoT over t": "CoT / t", FORM: "CoT / (t s^(1/k'))"})
    panels[0].plot([k], [total], "*", ms=15, color="black", zorder=5)
    label = f"least: k' = {k}"
    panels[0].annotate(label, (k, total), textcoords="offset points", xytext=(-20, 12))
    _curves(panels[1], rows, {"boot tokens": "boot tokens"})
    _curves(panels[2], rows, {"window over s": "window / s", "base^k' over s": "b^k' / s"})
    _curves(panels[3], rows, {"s^(1/k')": "s^(1/k')", "base": "b, even"})
    titles = ("(a) chain of thought", "(b) reading the input", "(c) window", "(d) rounding of b")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(title=title, xlabel="levels k'", xticks=[row["k'"] for row in rows])
    panels[0].set_ylabel(f"fill and drain, s = {s}")
    return save(figure, folder, "theorem_form")


def _curves(axes: Any, rows: Sequence[Row], labels: dict[str, str]) -> None:
    for colour, (key, label) in zip(COLOURS, labels.items(), strict=False):
        xs, ys = [row["k'"] for row in rows], [row[key] for row in rows]
        axes.plot(xs, ys, "o-", label=label, color=colour, ms=4)
    axes.set_yscale("log")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(frameon=False, fontsize=9)


def single_steps(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Plot how many steps took how many tokens, a panel for each model."""
    figure, panels = panels_beside(len(rows), (2.8 * len(rows), 3))
    for axes, row, colour in zip(panels, rows, COLOURS * 2, strict=False):
        costs = row["costs"]
        shares = [count / row["steps"] for count in costs.values()]
        axes.vlines(list(costs), 1e-4, shares, color=colour, lw=2)
        axes.plot(list(costs), shares, "o", color=colour, ms=3)
        axes.axvline(row["mean"], color="black", ls=":", lw=1)
        axes.set(title=row["model"], xlabel="tokens in a step", xscale="log", yscale="log")
        axes.set_xlim(0.7, max(300, 1.3 * max(costs)))
        axes.set_ylim(2e-4, 2)
        axes.title.set_fontsize(9)
    panels[0].set_ylabel("share of all steps")
    return save(figure, folder, "single_steps")


def steps_per_token(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Tokens per step against the steps that one token makes, beside 1/M."""
    figure, panels = panels_beside(2, (9, 3.6))
    ms = [row["M"] for row in rows]
    panels[0].plot(ms, [row["tokens per step"] for row in rows], "o-", color=COLOURS[0])
    panels[0].plot(ms, [1 / m for m in ms], ":", color="black", label="1 / M")
    panels[0].set(xscale="log", yscale="log", ylabel="tokens per step")
    panels[0].legend(frameon=False)
    for colour, key in zip(COLOURS, ("neurons", "bits per token", "ff depth"), strict=False):
        panels[1].plot(ms, [row[key] for row in rows], "o-", color=colour, label=key)
    panels[1].set(xscale="log", yscale="log", ylabel="what it costs")
    panels[1].legend(frameon=False, loc="center right")
    panels[0].set_yticks([1 / m for m in ms], [f"1/{m}" for m in ms])
    for axes in panels:
        axes.set(xlabel="steps per token M", xticks=ms)
        axes.set_xticklabels(map(str, ms))
        axes.minorticks_off()
        axes.grid(visible=True, alpha=0.3)
    return save(figure, folder, "steps_per_token")
