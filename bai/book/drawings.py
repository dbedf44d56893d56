"""Figures that several pages draw."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .. import plots
from . import paper

PLAIN = ("Unif", "SH", "SHVar", "SHAdaVar")  # of the paper's seven policies, those that leave nothing to choose


def beside_published(table: pd.DataFrame, figure: int) -> list[Axes]:
    """Draw a figure of the paper as played here, with its points: one panel for `PLAIN`, one for each baseline.

    Examples
    --------
    >>> axes = beside_published(paper.replay_figure(2, runs=20), figure=2)
    >>> [text.get_text() for text in axes[1].get_legend().get_texts()]
    ['GapE', 'published']
    """
    x = paper.FIGURES[figure][0]
    points = paper.published().query("figure == @figure")
    axes = plots.panels(2, rows=2, height=3)
    for ax, names in zip(axes, (PLAIN, ["GapE"], ["GapE-V"], ["VBR"]), strict=True):
        ours, theirs = (rows.loc[rows["policy"].isin(names)] for rows in (table, points))
        plots.mistake_curves(ours, x, ax)
        paper.published_points(theirs, x, ax)
        shown = (ours, theirs) if figure > 3 else (table, points)
        ax.set_ylim(0, 1.4 * max(float(rows["mistake_rate"].to_numpy().max()) for rows in shown))
        ax.legend(ncols=2 if len(names) > 1 else 1)
    return axes


def pulls_by_mean(ax: Axes, means: np.ndarray, pulls: Mapping[str, np.ndarray]) -> None:
    """Draw the pulls of each arm against its mean, for arms that are noisy and quiet by turns, the first one noisy.

    Noisy arms have filled markers and quiet ones open markers. Of two versions of a policy the second is pale.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plt.figure().gca()
    >>> pulls_by_mean(ax, np.array([1.0, 0.5]), {"SH": np.array([20, 20]), "SHVar": np.array([30, 10])})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['SH', 'SHVar']
    """
    drawn: set[str] = set()
    for name, counts in pulls.items():
        look = plots.policy_style(name)
        style = {"color": look["color"], "marker": look["marker"], "linestyle": "none", "markersize": 5}
        style["alpha"] = 0.45 if look["color"] in drawn else 1
        drawn.add(look["color"])
        ax.plot(means[::2], counts[::2], label=name, **style)
        ax.plot(means[1::2], counts[1::2], markerfacecolor="none", **style)
    ax.set(yscale="log", xlabel="mean of the arm", ylabel="average pulls")
    ax.legend(loc="upper left")
