"""What the scoreboard plays: the paper's synthetic problem and its movies, each under several readings of the text.

- noisy: the best arm of the synthetic problem is a noisy one, as the published curves suggest;
- quiet: it is a quiet one, as the text says;
- movies: movies as arms, with targets whose best arm is noisy;
- wide: as noisy or movies, but GapE has wider confidence intervals, see `WideGapE`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np

from ..play import simulate
from ..policies import SH, SR, GapE, GapEV, Known, Policy, SHAdaVar, SHVar
from ..problems import Bandits, GaussianBandits, movielens, synthetic
from ..study import SweepTable
from . import paper
from .evidence import Played, Point, Published, Setting
from .replays import GapEWithoutSquare
from .stored import sweep

RUNS, SEED = 5000, 1  # as on the pages about Sections 5.1 and 5.2, so that all pages judge the same runs
PUBLISHED_RUNS = 5000
QUIET_MOST = 0.15  # largest variance of a quiet arm of Section 5.1; noisy arms with high means are above it

OURS = ["SHVar", "SHAdaVar"]
PRIOR = ["Unif", "SH", "GapE", "GapE-V", "VBR"]
LEFT_OUT = ["SR", "GapE-V*"]  # by the paper's figures; a star: as its authors defined it, without rescaling

KEY = list(Point._fields)  # the columns that name a point
MakeProblem = Callable[[int, int, int], Bandits]  # of the number of arms, the number of runs and the seed


def settings(figure: int) -> list[Setting]:
    """Return the numbers of arms and budgets of a figure of the paper.

    Examples
    --------
    >>> settings(2)[:2], len(settings(3))
    ([Setting(n_arms=64, budget=1000), Setting(n_arms=64, budget=2000)], 9)
    """
    _, sizes, budgets = paper.FIGURES[figure]
    return [Setting(n_arms, budget) for n_arms in sizes for budget in budgets]


FIGURE_2, FIGURE_3, FIGURE_5, FIGURE_6 = (settings(figure) for figure in (2, 3, 5, 6))
SETTINGS = list(dict.fromkeys(FIGURE_2 + FIGURE_3))  # they share K = 64, n = 5000


class WideGapE(GapEWithoutSquare):
    """GapE with neither b^2 in H nor 4/9 in a, which makes a larger by the factor 9/4 b^2."""

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        known = super().known(n_arms, budget, problem)
        assert known.complexity is not None
        return dataclasses.replace(known, complexity=known.complexity * 4 / 9)


def replay(figures: Iterable[int], runs: int, seed: int, best_arm: str = "noisy") -> dict[Point, np.ndarray]:
    """Play figures of the paper again, with its seven policies; return which runs were mistakes.

    Examples
    --------
    >>> mistakes = replay([2], runs=10, seed=1)
    >>> len(mistakes), mistakes[64, 1000, "SHVar"].size
    (42, 10)
    """
    tables = (paper.replay_figure(figure, runs, seed, best_arm, from_store=True) for figure in figures)
    return {point: mistakes for table in tables for point, mistakes in _mistakes(table).items()}


def play_settings(
    policies: Mapping[str, Policy], problem: MakeProblem, settings: Iterable[tuple[int, int]], runs: int, seed: int
) -> dict[Point, np.ndarray]:
    """Play policies in some settings; return which runs were mistakes.

    Examples
    --------
    >>> mistakes = play_settings({"halving": SH()}, synthetic, [(8, 100), (8, 200)], runs=50, seed=1)
    >>> list(mistakes), mistakes[8, 200, "halving"].size
    ([Point(n_arms=8, budget=100, policy='halving'), Point(n_arms=8, budget=200, policy='halving')], 50)
    """
    budgets: dict[int, list[int]] = {}
    for n_arms, budget in settings:
        budgets.setdefault(n_arms, []).append(budget)
    mistakes = {}
    for played in dict.fromkeys(map(tuple, budgets.values())):  # one study for all sizes with the same budgets
        sizes = [n_arms for n_arms, of_size in budgets.items() if tuple(of_size) == played]
        table = sweep(policies, {f"K = {k}": problem(k, runs, seed) for k in sizes}, played, seed)
        mistakes |= _mistakes(table)
    return mistakes


def _mistakes(table: SweepTable) -> dict[Point, np.ndarray]:
    keys = zip(*(table[name].tolist() for name in ("n_arms", "budget", "policy", "problem")), strict=True)
    return {Point(n_arms, budget, name): table.run_mistakes(name, at, budget) for n_arms, budget, name, at in keys}


def play_synthetic(best_arm: str, runs: int = RUNS, seed: int = SEED) -> Played:
    """Play Section 5.1, Figures 2 and 3, with a noisy or a quiet best arm; at K = 64 with the starred policies too."""
    problem = partial(paper.instances, synthetic, best_arm=best_arm)
    mistakes = replay((2, 3), runs, seed, best_arm)
    mistakes |= play_settings({"SR": SR()}, problem, SETTINGS, runs, seed)
    mistakes |= play_settings({"GapE*": GapE(), "GapE-V*": GapEV()}, problem, FIGURE_2, runs, seed)
    return Played(mistakes, *watch_pulls(problem(64, runs, seed), [n for _, n in FIGURE_2], seed))


def play_movies(runs: int = RUNS, seed: int = SEED) -> Played:
    """Play Section 5.2, Figures 5 and 6; the proposals also on Gaussian rewards with the same means and variances."""

    def gaussian(n_arms: int, runs: int, seed: int) -> GaussianBandits:
        movies = paper.instances(movielens, n_arms, runs, seed)
        return GaussianBandits(movies.means, movies.variances)

    repeated = {f"{policy.name}, Gaussian": policy for policy in (SHVar(), SHAdaVar())}
    return Played(replay((5, 6), runs, seed) | play_settings(repeated, gaussian, FIGURE_5 + FIGURE_6, runs, seed))


def with_wide_gape(evidence: Played, problem: MakeProblem, seed: int = SEED) -> Played:
    """Return the reading "wide": the same evidence, but with the mistakes of `WideGapE` in place of those of GapE.

    `problem`, `synthetic` or `movielens`, and `seed` are those with which the evidence was played.
    """
    played = dict.fromkeys(Setting(*point[:2]) for point in evidence.points())
    wide = play_settings(
        {"GapE": WideGapE(scaling="paper")}, partial(paper.instances, problem), played, evidence.runs, seed
    )
    return dataclasses.replace(evidence, mistakes={**evidence.mistakes, **wide}, tested=set())


def read_off_plots(*figures: int) -> Published:
    """Return the published points of some figures. Where two figures share a point, the first counts.

    Examples
    --------
    >>> read_off_plots(2, 3).rate(64, 1000, "Unif") > 0.5
    True
    """
    points = paper.published().query("figure in @figures").drop_duplicates(KEY)
    rates = points.set_index(KEY)["mistake_rate"].to_dict()
    error = max(points["reading_error"])
    return Published({Point(*key): rate for key, rate in rates.items()}, PUBLISHED_RUNS, error)


# --- where the pulls go ----------------------------------------------------------------------------------


def watch_pulls(
    bandits: Bandits, budgets: Iterable[int], seed: int
) -> tuple[dict[Point, np.ndarray], dict[Setting, np.ndarray]]:
    """Return the share of pulls on the noisier half of the arms for SH and the proposals, and SH's mixed stages.

    Shapes are those of `Played.noisy_share` and `Played.mixed`.
    """
    shares, mixed = {}, {}
    for budget in budgets:
        for policy in (SH(), SHVar(), SHAdaVar()):
            pulls = simulate(policy, bandits, budget, seed).pulls
            shares[Point(bandits.n_arms, budget, policy.name)] = noisy_share(pulls, bandits.variances)
            if policy.name == "SH":
                mixed[Setting(bandits.n_arms, budget)] = last_two_differ(pulls, bandits.variances > QUIET_MOST)
    return shares, mixed


def noisy_share(pulls: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Return the share of pulls that went to the noisier half of the arms, in each run.

    Examples
    --------
    >>> noisy_share(np.array([[5, 3, 1, 1]]), np.array([[0.1, 0.9, 0.8, 0.2]]))
    array([0.4])
    """
    noisier = variances > np.median(variances, axis=1, keepdims=True)
    return (pulls * noisier).sum(axis=1) / pulls.sum(axis=1)


def last_two_differ(pulls: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Return for each run whether SH's last two arms, those with the most pulls, are of different kinds.

    Then all its stages hold both kinds, because the last two arms were in all of them.

    Examples
    --------
    >>> last_two_differ(np.array([[9, 1, 9, 3], [9, 9, 3, 1]]), np.array([0, 1, 0, 1]))
    array([False,  True])
    """
    last = np.argsort(pulls, axis=1, kind="stable")[:, -2:]
    kinds = np.take_along_axis(np.broadcast_to(kinds, pulls.shape), last, axis=1)
    return kinds[:, 0] != kinds[:, 1]
