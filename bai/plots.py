"""Figures of a study: one colour, marker and line style per policy, uncertainty always drawn."""

from __future__ import annotations

import itertools
import sys
import zlib
from typing import Any

import numpy as np
import pandas as pd

from . import checks
from .policies import FIELD, REGISTRY, Policy

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from cycler import cycler
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import FigureCanvasBase
except ModuleNotFoundError:
    raise checks.not_installed("bai.plots", "matplotlib", extra="plots") from None

OWN_COLORS, OWN_MARKERS = ("#444444", "#8B5A2B", "#6A5ACD", "#2F4F4F"), ("1", "2", "3", "4", "d", "|", "8", "+", "x")

#: Colours for whatever is not a policy, to be taken in this order: distinct for colour-blind readers, and in grey.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, GRID = "#262626", "#DDDDDD"
PANEL_WIDTH = 4.4  # inches


def use_style() -> None:
    """Set matplotlib up for the book: readable sizes, light grid, no frame, and vector graphics in a notebook.

    Examples
    --------
    >>> use_style()
    """
    mpl.rcParams.update(
        {
            "figure.figsize": (5.2, 3.3),  # at the width of a phone, a point of type is one pixel
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "axes.facecolor": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "grid.color": GRID,
            "grid.linewidth": 0.8,
            "font.size": 11,
            "legend.frameon": False,
            "legend.fontsize": 10.5,
            "lines.markersize": 6,
            "lines.linewidth": 1.6,
            "svg.fonttype": "none",  # text stays text
            "svg.hashsalt": "bai",  # the same picture has the same names inside
            **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
        }
    )
    if "ipykernel" in sys.modules:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", bbox_inches=None, metadata={"Date": None})


def panels(columns: int, rows: int = 1, height: float = 3.2, sharex: bool = False, sharey: bool = False) -> list[Axes]:
    """Return the axes of a figure with several panels, row by row, each in a part of the figure of its own.

    The panels have the same size, and nothing reaches from one into another, so that a page can show them one below
    the other where it is narrow. Give each its own labels and its own legend.

    Parameters
    ----------
    columns, rows : int
    height : float
        Of a panel, in inches.
    sharex, sharey : bool
        Whether all panels share the scale of the first.

    Examples
    --------
    >>> left, right = panels(2, sharey=True)
    >>> left.set_ylim(0, 2), right.get_ylim()
    ((0.0, 2.0), (np.float64(0.0), np.float64(2.0)))
    >>> plt.close()
    """
    columns, rows = checks.integer("columns", columns, 1, 10), checks.integer("rows", rows, 1, 10)
    height = checks.number("height", height, above=1, below=20)
    sharex, sharey = checks.flag("sharex", sharex), checks.flag("sharey", sharey)
    figure = plt.figure(figsize=(PANEL_WIDTH * columns, height * rows), layout="constrained")
    if type(figure.canvas).draw_idle is FigureCanvasBase.draw_idle:
        # Whenever a shared scale changes, the parts ask for a drawing. Without a window it would be made each time.
        figure.canvas.draw_idle = lambda *args, **kwargs: None
    axes: list[Axes] = []
    for number, part in enumerate(figure.subfigures(rows, columns, squeeze=False).flat):
        part.set_facecolor("none")
        part.set_gid(f"panel-{number + 1}-of-{rows}x{columns}")  # where _ext/figures.py finds the panels
        first = axes[0] if axes else None
        axes.append(part.add_subplot(sharex=first if sharex else None, sharey=first if sharey else None))
    return axes


def policy_style(policy: Policy | str) -> dict[str, str]:
    """Return colour, marker and line style of a policy, or of the policy with a name; variants look like their policy.

    The first colours of the package are those of Okabe and Ito, which colour-blind readers can tell apart; markers and
    dashes tell policies apart in grey. A policy of your own has the style that its class names. Without one it gets a
    style from its name, always the same, with a marker that no policy of the package has.

    Examples
    --------
    >>> policy_style("SHVar")["color"] == policy_style("SHVar(reuse=True)")["color"]
    True
    >>> policy_style("My own")["color"].startswith("#")
    True
    """
    if not isinstance(policy, (Policy, str)):
        checks.wrong_type("policy", policy, "a policy or its name")
    if isinstance(policy, Policy) and policy.style:
        return dict(policy.style)
    name = str(policy).split("(")[0].split(",")[0]
    for known in REGISTRY + FIELD:
        if known.name == name:
            return dict(known.style)
    number = zlib.crc32(name.encode(errors="backslashreplace"))
    own = itertools.product(OWN_COLORS, OWN_MARKERS, ("-", "--"))
    color, marker, line = list(own)[number % (2 * len(OWN_COLORS) * len(OWN_MARKERS))]
    return {"color": color, "marker": marker, "linestyle": line}


def mistake_curves(table: pd.DataFrame, x: str = "budget", ax: Axes | None = None, **line: Any) -> Axes:
    """Draw mistake rate against `x` with 95 % intervals, one line per policy of a `sweep` table.

    Two variants of a policy share its colour and marker; the second has open markers.

    Examples
    --------
    >>> import bai
    >>> table = bai.sweep([bai.SH(), bai.Unif()], bai.synthetic(8, 200, seed=0), [100, 200, 400], seed=0)
    >>> ax = mistake_curves(table, ax=plt.figure().gca())
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('budget $n$ (pulls)', ['SH', 'Unif'])
    """
    if not isinstance(table, pd.DataFrame):
        checks.wrong_type("table", table, "a table such as bai.sweep returns")
    for column in ("policy", x, "mistake_rate", "low", "high"):
        if not isinstance(column, str) or column not in table:
            raise ValueError(
                f"table has no column {checks.shown(column)}; x must name one of {', '.join(map(str, table))}"
            )
    if ax is not None and not isinstance(ax, Axes):
        checks.wrong_type("ax", ax, "axes of matplotlib, or None")
    ax = plt.gca() if ax is None else ax
    drawn = []
    for policy, rows in table.groupby("policy", sort=False):
        rows = rows.sort_values(x, kind="stable")
        rate = rows["mistake_rate"]
        error = [(rate - rows["low"]).clip(lower=0), (rows["high"] - rate).clip(lower=0)]
        style = policy_style(str(policy))
        open_marker = {"markerfacecolor": "white"} if style in drawn else {}
        drawn.append(style)
        ax.errorbar(rows[x], rate, yerr=error, label=policy, capsize=2, **{**style, **open_marker, **line})
    ax.set_xlabel({"budget": "budget $n$ (pulls)", "n_arms": "number of arms $K$"}.get(x, x))
    ax.set_ylabel("mistake probability")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def summary_plot(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw what is known of each arm: mean, interval, pulls and probability of being best.

    Parameters
    ----------
    table : DataFrame
        The summary of an `Experiment` or of a `Selection`.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import bai
    >>> answer = bai.identify(bai.SH(), float, n_arms=3, budget=60, labels=["low", "middle", "high"])
    >>> ax = summary_plot(answer.summary(), ax=plt.figure().gca())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['high\\n25 pulls, 1.00', 'middle\\n25 pulls, 0.00', 'low\\n10 pulls, 0.00']
    """
    if not isinstance(table, pd.DataFrame):
        checks.wrong_type("table", table, "a table such as summary() of an Experiment returns")
    for column in ("mean", "low", "high", "pulls", "probability_best"):
        if column not in table:
            raise ValueError(f"table has no column {column!r}; give the summary() of an Experiment or of a Selection")
    if ax is not None and not isinstance(ax, Axes):
        checks.wrong_type("ax", ax, "axes of matplotlib, or None")
    ax = plt.gca() if ax is None else ax
    known = table[table["mean"].notna()]
    low, mean, high = (np.asarray(known[column], float) for column in ("low", "mean", "high"))
    error = np.nan_to_num([mean - low, high - mean])
    ax.errorbar(known["mean"], range(len(known)), xerr=error, fmt="none", color="#0072B2", capsize=3)
    ax.scatter(known["mean"], range(len(known)), s=20 + 120 * known["pulls"] / max(1, known["pulls"].max()), zorder=3)
    columns = zip(known.index, known["pulls"], known["probability_best"], strict=True)
    ax.set_yticks(range(len(known)), [f"{label}\n{pulls} pulls, {chance:.2f}" for label, pulls, chance in columns])
    ax.invert_yaxis()
    ax.set_xlabel("mean, with interval")
    return ax
