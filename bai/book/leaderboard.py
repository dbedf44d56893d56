"""All policies on many kinds of problems, in one table.

``python -m bai.book.leaderboard`` plays them all and writes the table; `stored` returns the one that ships with the
package.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from .. import checks
from ..policies import OCBA, REGISTRY, SH, AGapEV, GapE, GapEV, HalveVar, Policy, SHAdaVar, SHVar
from ..policies.variance_bounds import Gaussian
from ..problems import Bandits, BernoulliBandits, GaussianBandits, TableBandits, movielens, synthetic
from ..stats import Paired, mcnemar
from ..study import SweepTable, sweep

RUNS, SEED = 5000, 1  # of the table that ships with the package


class Family(NamedTuple):
    """A kind of problem: how to make R runs of it from a seed, with which budgets to play it, and what it is."""

    make: Callable[[int, int], Bandits]
    budgets: tuple[int, ...]
    about: str


# --- problems --------------------------------------------------------------------------------------------
# All have the best arm first where it is fixed: a simulation puts the arms in random order.


class Scattered(NamedTuple):
    """A maker of 32 Gaussian arms: the best has a fixed mean and variance, those of the others are uniform in ranges.

    A rival is a second arm with a fixed mean.
    """

    best: tuple[float, float]
    means: tuple[float, float]
    variances: tuple[float, float]
    rival: float | None = None

    def __call__(self, runs: int, seed: int) -> GaussianBandits:
        rng = np.random.default_rng(seed)
        mean, variance = rng.uniform(*self.means, (runs, 32)), rng.uniform(*self.variances, (runs, 32))
        mean[:, 0], variance[:, 0] = self.best
        if self.rival is not None:
            mean[:, 1] = self.rival
        return GaussianBandits(mean, variance)


def _equal_variances(runs: int, seed: int) -> GaussianBandits:
    means = synthetic(32, runs, seed).means
    return GaussianBandits(means, np.full(means.shape, 0.3))


def _bernoulli(best: int, lowest: int, highest: int):
    """Return a maker of 32 arms that pay 1 or 0; the best pays in so many of 1000 pulls, the others in fewer."""

    def make(runs: int, seed: int) -> BernoulliBandits:
        pays = np.random.default_rng(seed).integers(lowest, highest, (runs, 32), endpoint=True)
        pays[:, 0] = best
        return BernoulliBandits(pays / 1000)

    return make


def _heavy_tailed(runs: int, seed: int) -> TableBandits:
    """Means and mean variances of Section 5.1, rewards from 1000 quantiles of Student's t with 3 degrees of freedom."""
    means = 1 - np.sqrt(np.arange(32) / 32)
    deviations = np.sqrt(np.where(np.arange(32) % 2 == 0, 0.9 * means**2 + 0.1, 0.1))
    quantiles = stdtrit(3, (np.arange(1000) + 0.5) / 1000)
    table = means[:, None] + deviations[:, None] * quantiles / quantiles.std()
    return TableBandits(table, np.tile(np.arange(32), (runs, 1)))


FAMILIES = {
    "5.1, noisy best": Family(
        lambda runs, seed: synthetic(32, runs, seed), (500, 1000, 2000), "Section 5.1, best arm noisy"
    ),
    "5.1, quiet best": Family(
        lambda runs, seed: synthetic(32, runs, seed, "quiet"), (200, 400, 800), "Section 5.1, best arm quiet"
    ),
    "equal variances": Family(_equal_variances, (320, 640, 1280), "means of Section 5.1, all variances 0.3"),
    "one close rival": Family(
        Scattered((1.0, 0.5), (0.0, 0.5), (0.1, 1.0), rival=0.9),
        (320, 640, 1280),
        "means 1, 0.9, others in (0, 0.5); variance of the best 0.5, others in (0.1, 1)",
    ),
    "many close rivals": Family(
        Scattered((1.0, 0.5), (0.7, 0.7), (0.1, 1.0)),
        (640, 1280, 2560),
        "means 1, others 0.7; variance of the best 0.5, others in (0.1, 1)",
    ),
    "best very noisy": Family(
        Scattered((1.0, 4.0), (0.0, 0.7), (0.1, 0.1)),
        (320, 640, 1280),
        "means 1, others in (0, 0.7); variance of the best 4, others 0.1",
    ),
    "best very quiet": Family(
        Scattered((1.0, 0.01), (0.0, 0.9), (1.0, 1.0)),
        (320, 640, 1280),
        "means 1, others in (0, 0.9); variance of the best 0.01, others 1",
    ),
    "Bernoulli": Family(_bernoulli(600, 100, 500), (320, 640, 1280), "best pays 1 with chance 0.6, others 0.1 to 0.5"),
    "rare successes": Family(
        _bernoulli(100, 10, 50), (640, 1280, 2560), "best pays 1 with chance 0.1, others 0.01 to 0.05"
    ),
    "heavy tails": Family(_heavy_tailed, (320, 640, 1280), "unperturbed arms of Section 5.1, noise with Student's law"),
    "MovieLens, 64": Family(lambda runs, seed: movielens(64, runs, seed), (1000, 3000), "Section 5.2, best arm noisy"),
    "MovieLens, 128": Family(
        lambda runs, seed: movielens(128, runs, seed), (1500, 3000), "Section 5.2, best arm noisy"
    ),
}

# --- policies --------------------------------------------------------------------------------------------

# Policies with other arguments than the defaults, each after the policy that it follows in the table.
VARIANTS: dict[type[Policy], dict[str, Policy]] = {
    GapE: {"GapE, rescaled": GapE(scaling="paper")},
    GapEV: {"GapE-V, rescaled": GapEV(scaling="paper")},
    AGapEV: {"A-GapE-V, b = 1": AGapEV(bound=1)},
    OCBA: {
        "SH, kept": SH(reuse=True),
        "SHVar, kept": SHVar(reuse=True),
        "SHAdaVar, kept": SHAdaVar(reuse=True),
        "SHAdaVar, kept, guarded": SHAdaVar(bound=Gaussian(guard_repeats=True), reuse=True),
    },
    HalveVar: {"HalveVar, kept": HalveVar(reuse=True)},
}
POLICIES: dict[str, Policy] = {
    name: policy for cls in REGISTRY for name, policy in ({cls.name: cls()} | VARIANTS.get(cls, {})).items()
}


def knowledge(policy: Policy) -> str:
    """Return what a simulation tells a policy about the problem, besides the number of arms and the budget.

    Examples
    --------
    >>> knowledge(SHVar()), knowledge(GapEV()), knowledge(AGapEV()), knowledge(AGapEV(bound=1)), knowledge(SH())
    ('variances', 'bound, complexity', 'bound', '', '')
    """
    two = GaussianBandits([[1.0, 0.5], [2.0, 0.2]], [[1.0, 0.2], [0.5, 0.7]])
    known = vars(policy.known(2, 100, two))
    return ", ".join(name for name, value in known.items() if value is not None and (value[0] != value[1]).any())


# --- the table -------------------------------------------------------------------------------------------


def play(
    families: Mapping[str, Family] = FAMILIES,
    policies: Mapping[str, Policy] = POLICIES,
    runs: int = RUNS,
    seed: int = SEED,
    progress: bool = False,
) -> pd.DataFrame:
    """Play every policy on every family with each of its budgets.

    Parameters
    ----------
    families : mapping of str to Family
    policies : mapping of str to Policy
    runs : int
        Runs of each policy.
    seed : int
        Of the problems and of the play. All policies play the same problems.
    progress : bool
        Show a bar.

    Returns
    -------
    pandas.DataFrame
        One row per family, budget and policy. Columns family, n_arms, budget, policy, runs, mistakes, mistake_rate,
        low, high (Wilson's 95 % interval), regret, regret_error (mean simple regret and its standard error), and one
        column per policy with the number of runs in which both erred.

    Examples
    --------
    >>> table = play({"Bernoulli": FAMILIES["Bernoulli"]}, {"SH": SH(), "SR": POLICIES["SR"]}, runs=100)
    >>> table[["family", "budget", "policy", "mistakes", "SH", "SR"]].head(2)
          family  budget policy  mistakes  SH  SR
    0  Bernoulli     320     SH        49  49  28
    1  Bernoulli     320     SR        54  28  54
    """
    runs, seed = checks.integer("runs", runs, least=1), checks.integer("seed", seed, 0, below=None)
    if not families:
        raise ValueError("families is empty; give at least one")
    for family in families.values():  # nothing is played if anything cannot be
        sweep(policies, family.make(1, seed), family.budgets, seed)
    cells = []
    for name, family in families.items():
        if progress:
            print(name, file=sys.stderr)
        table = sweep(policies, {name: family.make(runs, seed)}, family.budgets, seed, progress=progress)
        cells += [_with_pairs(table, budget) for budget in family.budgets]
    return pd.concat(cells, ignore_index=True)


def _with_pairs(table: SweepTable, budget: int) -> pd.DataFrame:
    """Return the rows of one budget, with a column per policy: the number of runs in which both erred."""
    rows = table.loc[table["budget"] == budget]
    mistakes = np.array([table.run_mistakes(policy, budget=budget) for policy in rows["policy"]], np.int64)
    order = ["family", "n_arms", "budget", "policy", "runs", "mistakes", "mistake_rate", "low", "high"]
    rows = rows.rename(columns={"problem": "family"})[[*order, "regret", "regret_error"]]
    return rows.assign(**dict(zip(rows["policy"], mistakes @ mistakes.T, strict=True)))


def stored() -> pd.DataFrame:
    """Return the table that ships with the package: all families and policies, 5,000 runs; columns as of `play`.

    Examples
    --------
    >>> table = stored()
    >>> table["family"].nunique(), table["policy"].nunique(), table["runs"].unique().tolist()
    (12, 21, [5000])
    """
    with resources.files("bai.book").joinpath("data/leaderboard.csv").open() as file:
        return pd.read_csv(file)


def compare(table: pd.DataFrame, family: str, budget: int, first: str, second: str) -> Paired:
    """Compare two policies on the runs of one family and budget of the table.

    Examples
    --------
    >>> compare(stored(), "Bernoulli", 320, "Unif", "Unif").only_first
    0
    """
    rows = table[(table["family"] == family) & (table["budget"] == budget)].set_index("policy")
    if rows.empty or not {first, second} <= set(rows.index):
        raise ValueError(
            f"the table has no row for family {family!r}, budget {budget!r} and policies {first!r}, {second!r}; "
            "look them up in its columns family, budget and policy"
        )
    both = rows.loc[first, second]
    only_first, only_second = (int(rows.loc[name, "mistakes"] - both) for name in (first, second))
    return Paired(only_first, only_second, int(rows.loc[first, "runs"]))


def ranks(table: pd.DataFrame, level: float = 0.05) -> pd.Series:
    """Return the rank of each row among the policies of its family and budget.

    The rank is 1 plus the number of policies that err less by a paired test. The level is divided by the number of
    all pairs of policies in all families and budgets (Bonferroni), so with probability at most `level` any
    of the differences behind the ranks is an accident. Policies that cannot be told apart may share a rank.

    Examples
    --------
    >>> table = stored().query("family == 'equal variances' and budget == 1280")
    >>> int(ranks(table)[table["policy"] == "Unif"].iloc[0]) > 10
    True
    """
    checks.number("level", level, above=0, below=1)
    cells = [cell for _, cell in table.groupby(["family", "budget"], sort=False)]
    pairs = sum(len(cell) * (len(cell) - 1) // 2 for cell in cells)
    found = pd.Series(1, index=table.index, name="rank")
    for cell in cells:
        alone = cell["mistakes"].to_numpy()[:, None] - cell[cell["policy"]].to_numpy()  # [i, j]: i erred, j did not
        surpassed = (alone > alone.T) & (mcnemar(alone, alone.T) < level / max(1, pairs))
        found[cell.index] += surpassed.sum(axis=1)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Play all policies on all families and write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bai.book.leaderboard", description="Play all policies on all kinds of problems."
    )
    parser.add_argument("file", type=Path, nargs="?", default=Path("leaderboard.csv"), help="where to write")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each policy (default: {RUNS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of problems and play (default: {SEED})")
    options = parser.parse_args(arguments)
    started, computed = time.perf_counter(), time.process_time()
    try:
        if not options.file.parent.is_dir():  # not after minutes of play
            raise ValueError(f"{options.file.parent} is not a folder; make it, or name another file")
        table = play(runs=options.runs, seed=options.seed, progress=True)
        table.to_csv(options.file, index=False, float_format="%.6g")
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    pulls = int((table["runs"] * table["budget"]).to_numpy().sum())
    seconds, computing = time.perf_counter() - started, time.process_time() - computed
    print(f"wrote {options.file}: {pulls / 1e6:,.0f} million pulls in {seconds:.0f} seconds")
    print(f"computing time on all cores: {computing:.0f} seconds")


if __name__ == "__main__":
    main()
