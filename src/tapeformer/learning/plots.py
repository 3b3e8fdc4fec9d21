"""Exactness against length, every arm in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

EXACT = 1e-8
"""Where tokens that are all right are drawn on an axis of shares."""


def can_plot() -> bool:
    """Say whether the package that draws is installed; training does without it."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def exactness(results: Sequence[dict[str, Any]], trained_on: int, path: Path) -> None:
    """Draw the share of wrong tokens against the length: a line through medians, dots for seeds."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tapeformer"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
    for number, arm in enumerate(dict.fromkeys(row["arm"] for row in results)):
        own = [row for row in results if row["arm"] == arm]
        lengths = sorted({row["length"] for row in own})
        shares = [[_share(row) for row in own if row["length"] == n] for n in lengths]
        colour, shift = f"C{number % 10}", 1 + 0.012 * (number - 4)
        style = "-" if number < 10 else "--"
        at = [length * shift for length in lengths]
        axes.plot(at, [median(s) for s in shares], style, color=colour, label=arm)
        for place, share in zip(at, shares, strict=True):
            axes.plot([place] * len(share), share, "o", color=colour, markersize=3)
    axes.axvline(trained_on, color="0.7", linestyle=":")
    axes.text(trained_on, 1.4, "longest word of training", ha="center", fontsize=8)
    axes.set(xscale="log", yscale="log", ylim=(EXACT / 2, 3))
    axes.set(xlabel="letters", ylabel="share of wrong tokens (bottom line: exact)")
    lengths = sorted({row["length"] for row in results})
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axes.minorticks_off()
    axes.set_yticks([EXACT, 1e-6, 1e-4, 1e-2, 1], ["exact", "1e-6", "1e-4", "0.01", "1"])
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _share(row: dict[str, Any]) -> float:
    return max(EXACT, float(row["wrong"]) / float(row["tokens"]))
