"""The paper's result figures: what was published, and how to play it again.

``python -m bai.book.paper`` redraws Figures 2, 3, 5 and 6 at full size, outside Jupyter, as PNG, SVG and CSV.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import checks
from ..policies import SH, VBR, GapE, GapEV, Policy, SHAdaVar, SHVar, Unif
from ..problems import Bandits, movielens, synthetic
from ..study import SweepTable, sweep
from . import stored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The figures with results: what is varied, and the number of arms and the budgets played.
FIGURES = {
    2: ("budget", [64], [1000, 2000, 3000, 4000, 5000, 6000]),
    3: ("n_arms", [32, 36, 40, 44, 48, 52, 56, 60, 64], [5000]),
    5: ("budget", [64], [1000, 2000, 3000, 4000, 5000]),
    6: ("budget", [128], [1000, 2000, 3000, 4000, 5000]),
}
PROBLEMS = {2: synthetic, 3: synthetic, 5: movielens, 6: movielens}


def published() -> pd.DataFrame:
    """Return the points of the paper's Figures 2, 3, 5 and 6, read off the published plots.

    Returns
    -------
    pandas.DataFrame
        Columns figure, problem, n_arms, budget, policy, mistake_rate, reading_error (how far a point may be misread).

    Examples
    --------
    >>> points = published()
    >>> len(points), sorted(points["figure"].unique().tolist())
    (175, [2, 3, 5, 6])
    """
    with resources.files("bai.book").joinpath("data/paper_figures.csv").open() as file:
        return pd.read_csv(file)


def policies() -> list[Policy]:
    """Return the seven algorithms of the paper's figures, GapE and GapE-V with its rescaling.

    Examples
    --------
    >>> [policy.name for policy in policies()]
    ['Unif', 'SH', 'GapE', 'GapE-V', 'VBR', 'SHVar', 'SHAdaVar']
    """
    return [Unif(), SH(), GapE(scaling="paper"), GapEV(scaling="paper"), VBR(), SHVar(), SHAdaVar()]


@lru_cache(maxsize=24)
def instances(make: Callable[..., Bandits], n_arms: int, runs: int, seed: int, best_arm: str = "noisy") -> Bandits:
    """Return what `synthetic` or `movielens` makes. It is kept for the next call, so nobody may change it.

    Examples
    --------
    >>> instances(synthetic, 8, 100, seed=1) is instances(synthetic, 8, 100, seed=1)
    True
    """
    return make(n_arms, runs, seed, best_arm=best_arm)


def replay_figure(
    figure: int,
    runs: int = 5000,
    seed: int = 1,
    best_arm: str = "noisy",
    progress: bool | None = None,
    from_store: bool = False,
) -> SweepTable:
    """Play all algorithms of a figure and return a `sweep` table, with the paper's names for the policies.

    Parameters
    ----------
    figure : {2, 3, 5, 6}
        2 and 3 are synthetic (Section 5.1), 5 and 6 are on movies (Section 5.2).
    runs : int
        Runs per point; the paper has 5,000.
    seed : int
        Of the problems and of the play.
    best_arm : {"noisy", "quiet"}
        The reading of the paper's parity, see `synthetic`.
    progress : bool, optional
        See `sweep`.
    from_store : bool
        Take the runs from a file if they are stored, and play only a part again; see `bai.book.stored`.

    Examples
    --------
    >>> table = replay_figure(2, runs=20)
    >>> len(table), table["policy"].unique().tolist()
    (42, ['Unif', 'SH', 'GapE', 'GapE-V', 'VBR', 'SHVar', 'SHAdaVar'])
    """
    if figure not in FIGURES:
        raise ValueError(f"figure is {figure!r}; it must be 2, 3, 5 or 6, a figure with mistake rates")
    seed = checks.integer("seed", seed, 0, below=None)
    _, sizes, budgets = FIGURES[figure]
    problems = {f"K = {k}": instances(PROBLEMS[figure], k, runs, seed, best_arm) for k in sizes}
    named = {policy.name: policy for policy in policies()}
    if from_store:
        return stored.sweep(named, problems, budgets, seed)
    return sweep(named, problems, budgets, seed, progress=progress)


def published_points(points: pd.DataFrame, x: str, ax: Axes) -> None:
    """Add the paper's points (rows of `published`) as hollow circles, with their error over 5,000 runs.

    A thin dotted line in the colour of the policy joins the points of each policy. The first is labelled "published".

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plt.figure().gca()
    >>> published_points(published().query("figure == 2"), "budget", ax)
    >>> len(ax.containers)
    7
    """
    import matplotlib as mpl

    from ..plots import policy_style

    label = "published"
    for policy, rows in points.groupby("policy", sort=False):
        rows = rows.sort_values(x, kind="stable")
        rate = rows["mistake_rate"]
        error = 1.96 * (rate * (1 - rate) / 5000) ** 0.5 + rows["reading_error"]
        ax.plot(rows[x], rate, color=policy_style(str(policy))["color"], linestyle=":", linewidth=1.2)
        circle: dict[str, Any] = {"color": mpl.rcParams["text.color"], "marker": "o", "markerfacecolor": "none"}
        circle |= {"linestyle": "none", "markersize": 8, "markeredgewidth": 0.9, "elinewidth": 0.7}
        ax.errorbar(rows[x], rate, yerr=error, label=label, **circle)
        label = "_nolegend_"


def main(arguments: list[str] | None = None) -> None:
    """Redraw the figures with results into a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m bai.book.paper", description="Redraw Figures 2, 3, 5 and 6 of the paper."
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("figures"), help="where to write")
    parser.add_argument("--runs", type=int, default=5000, help="runs per point (default: 5000, as in the paper)")
    parser.add_argument("--seed", type=int, default=1, help="seed of problems and play (default: 1)")
    options = parser.parse_args(arguments)
    started, pulls = time.perf_counter(), 0
    try:
        from .. import plots

        plots.use_style()
        options.folder.mkdir(parents=True, exist_ok=True)
        for figure, (x, _, _) in FIGURES.items():
            table = replay_figure(figure, options.runs, options.seed, progress=True)
            pulls += int((table["runs"] * table["budget"]).to_numpy().sum())
            drawing = plots.plt.figure()
            ax = plots.mistake_curves(table, x, ax=drawing.gca())
            published_points(published().query("figure == @figure"), x, ax)
            path = options.folder / f"figure_{figure}"
            table.to_csv(path.with_suffix(".csv"), index=False)
            for ending in (".png", ".svg"):
                drawing.savefig(path.with_suffix(ending))
            print(f"wrote {path}.csv, .png, .svg")
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    seconds = time.perf_counter() - started
    print(f"{pulls / 1e6:,.1f} million pulls in {seconds:.1f} seconds: {pulls / seconds / 1e6:.0f} million per second")


if __name__ == "__main__":
    main()
