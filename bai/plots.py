"""The book's figures: one colour, marker and line style per policy, uncertainty always drawn."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart by colour-blind readers; markers and dashes tell them apart in grey.
LOOKS: dict[str, dict[str, Any]] = {
    "Unif": {"color": "#000000", "marker": "o", "linestyle": ":"},
    "SH": {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    "SHVar": {"color": "#D55E00", "marker": "^", "linestyle": "-"},
    "SHAdaVar": {"color": "#009E73", "marker": "D", "linestyle": "-"},
    "GapE": {"color": "#CC79A7", "marker": "v", "linestyle": "-."},
    "GapE-V": {"color": "#E69F00", "marker": "<", "linestyle": "-."},
    "VBR": {"color": "#56B4E9", "marker": "P", "linestyle": "--"},
    "SR": {"color": "#7F7F7F", "marker": "X", "linestyle": "-"},
    "A-GapE": {"color": "#882255", "marker": "p", "linestyle": ":"},
    "A-GapE-V": {"color": "#B8860B", "marker": "h", "linestyle": ":"},
    "OCBA": {"color": "#332288", "marker": ">", "linestyle": "--"},
    "TopTwo": {"color": "#117733", "marker": "*", "linestyle": "-."},
}


def use_style() -> None:
    """Set matplotlib up for the book: readable sizes, light grid, no frame.

    Examples
    --------
    >>> use_style()
    """
    mpl.rcParams.update(
        {
            "figure.figsize": (7.0, 4.2),
            "figure.dpi": 110,
            "savefig.bbox": "tight",
            "figure.facecolor": "white",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#DDDDDD",
            "grid.linewidth": 0.8,
            "axes.axisbelow": True,
            "font.size": 11,
            "legend.frameon": False,
            "lines.markersize": 6,
            "lines.linewidth": 1.6,
        }
    )


def look(policy: str) -> dict[str, Any]:
    """Return colour, marker and line style of a policy, by its name; variants look like their policy.

    Examples
    --------
    >>> look("SHVar")["color"] == look("SHVar(reuse=True)")["color"]
    True
    """
    name = str(policy).split("(")[0]
    if name not in LOOKS:
        raise ValueError(f"policy is {policy!r}; its name must be one of {', '.join(LOOKS)}")
    return dict(LOOKS[name])


def mistake_curves(table: pd.DataFrame, x: str = "budget", ax: Axes | None = None, **line) -> Axes:
    """Draw mistake rate against `x` with 95 % intervals, one line per policy of a `sweep` table.

    Examples
    --------
    >>> import bai
    >>> table = bai.sweep([bai.SH(), bai.Unif()], bai.synthetic(8, 200, seed=0), [100, 200, 400], seed=0)
    >>> ax = mistake_curves(table, ax=plt.figure().gca())
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('budget $n$ (pulls)', ['SH', 'Unif'])
    """
    ax = plt.gca() if ax is None else ax
    for policy, rows in table.groupby("policy", sort=False):
        rows = rows.sort_values(x)
        rate = rows["mistake_rate"]
        error = [(rate - rows["low"]).clip(lower=0), (rows["high"] - rate).clip(lower=0)]
        ax.errorbar(rows[x], rate, yerr=error, label=policy, capsize=2, **{**look(policy), **line})
    ax.set_xlabel({"budget": "budget $n$ (pulls)", "n_arms": "number of arms $K$"}.get(x, x))
    ax.set_ylabel("mistake probability")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def published_points(points: pd.DataFrame, x: str, ax: Axes) -> None:
    """Add the paper's points (rows of `bai.published()`) as open markers, with their error over 5,000 runs.

    Examples
    --------
    >>> import bai
    >>> ax = plt.figure().gca()
    >>> published_points(bai.published().query("figure == 2"), "budget", ax)
    >>> len(ax.containers)
    7
    """
    for policy, rows in points.groupby("policy", sort=False):
        rate = rows["mistake_rate"]
        error = 1.96 * (rate * (1 - rate) / 5000) ** 0.5 + rows["reading_error"]
        style = look(policy) | {"linestyle": "none", "markerfacecolor": "none", "markersize": 9}
        ax.errorbar(rows[x], rate, yerr=error, elinewidth=0.8, **style)
