"""Figures that several pages draw."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .. import plots
from . import paper

PANELS = (("Unif", "SH", "SHVar", "SHAdaVar"), ("GapE", "GapE-V", "VBR"))  # of the paper's seven policies


def beside_published(table: pd.DataFrame, figure: int) -> list[Axes]:
    """Draw a figure of the paper as played here, a panel for halving and one for the baselines, with its points.

    Examples
    --------
    >>> axes = beside_published(paper.replay_figure(2, runs=20), figure=2)
    >>> [ax.get_title() for ax in axes]
    ['uniform and halving', 'baselines']
    """
    x = paper.FIGURES[figure][0]
    points = paper.published().query("figure == @figure")
    axes = plots.panels(2, height=3.6, sharey=True)
    for ax, title, names in zip(axes, ("uniform and halving", "baselines"), PANELS, strict=True):
        plots.mistake_curves(table[table["policy"].isin(names)], x, ax)
        paper.published_points(points[points["policy"].isin(names)], x, ax)
        ax.set_title(title)
        ax.legend()
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
