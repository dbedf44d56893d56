"""All policies on many kinds of problems, in one table.

A row of the table is a policy on a kind of problem with a budget, and holds the mistakes of its single runs. So rows
can be compared in pairs, and a new policy or problem adds rows and changes none. ``python -m bai.book.leaderboard``
plays the rows that a file lacks, your own included; `stored` returns the table that ships with the package.
"""

from __future__ import annotations

import argparse
import base64
import runpy
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
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
from ..stats import Paired, mcnemar, wilson_ends
from ..study import sweep

RUNS, SEED = 20_000, 1  # of the table that ships with the package
ROW = ["family", "budget", "policy"]  # what names a row
KEPT = [*ROW, "n_arms", "runs", "seed", "mistakes", "regret", "regret_error", "wrong"]  # columns of a file


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
    executor: Executor | None = None,
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
    executor : concurrent.futures.Executor, optional
        Plays the blocks of runs, as in `bai.sweep`.

    Returns
    -------
    pandas.DataFrame
        One row per family, budget and policy. Columns family, budget, policy, n_arms, runs, seed, mistakes, regret,
        regret_error (mean simple regret and its standard error), wrong (the runs that were mistakes, packed: see
        `wrong_runs`), mistake_rate, low and high (Wilson's 95 % interval).

    Examples
    --------
    >>> table = play({"Bernoulli": FAMILIES["Bernoulli"]}, {"SH": SH(), "SR": POLICIES["SR"]}, runs=100)
    >>> table[["family", "budget", "policy", "mistakes"]].head(2)
          family  budget policy  mistakes
    0  Bernoulli     320     SH        49
    1  Bernoulli     320     SR        54
    >>> compare(table, "Bernoulli", 320, "SH", "SR").only_first
    21
    """
    return _in_order(pd.concat(_rows(families, policies, runs, seed, executor), ignore_index=True), families, policies)


def _rows(
    families: Mapping[str, Family],
    policies: Mapping[str, Policy],
    runs: int,
    seed: int,
    executor: Executor | None,
    have: frozenset[tuple[str, int, str]] = frozenset(),
) -> Iterator[pd.DataFrame]:
    """Yield the rows that are not there yet, by family and policy; nothing is played if anything cannot be."""
    runs, seed = checks.integer("runs", runs, least=1), checks.integer("seed", seed, 0, below=None)
    if not families:
        raise ValueError("families is empty; give at least one")
    for family in families.values():
        sweep(policies, family.make(1, seed), family.budgets, seed)
    for name, family in families.items():
        problem = None
        for label, policy in policies.items():
            budgets = [budget for budget in family.budgets if (name, budget, label) not in have]
            if budgets:
                problem = problem or family.make(runs, seed)
                table = sweep({label: policy}, {name: problem}, budgets, seed, executor, progress=False)
                wrong = [_packed(table.run_mistakes(label, budget=budget)) for budget in budgets]
                table = table.rename(columns={"problem": "family"}).assign(seed=seed, wrong=wrong)
                yield pd.DataFrame(table, columns=KEPT)


def _packed(wrong: np.ndarray) -> str:
    """Return the mistakes of single runs as text: a bit per run, compressed."""
    return base64.b64encode(zlib.compress(np.packbits(wrong).tobytes(), 9)).decode()


def wrong_runs(table: pd.DataFrame) -> np.ndarray:
    """Return whether each run of each row was a mistake: an array of bool, one row per row of the table.

    Examples
    --------
    >>> table = stored().head(3)
    >>> (wrong_runs(table).sum(axis=1) == table["mistakes"]).all()
    np.True_
    """
    bits = [np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8) for text in table["wrong"]]
    return np.array([np.unpackbits(b)[:runs] for b, runs in zip(bits, table["runs"], strict=True)], bool)


def _in_order(table: pd.DataFrame, families: Mapping[str, Family], policies: Mapping[str, Policy]) -> pd.DataFrame:
    """Return the table with rates and intervals, its rows sorted as families and policies are; unknown ones last."""
    place = {name: number for names in (families, policies) for number, name in enumerate(names)}
    columns = {name: [place.get(entry, len(place)) for entry in table[name]] for name in ("family", "policy")}
    order = pd.DataFrame(columns | {"budget": table["budget"]}, table.index).sort_values(ROW, kind="stable").index
    table = table.loc[order].reset_index(drop=True)
    low, high = wilson_ends(table["mistakes"].to_numpy(), table["runs"].to_numpy())
    return table.assign(mistake_rate=table["mistakes"] / table["runs"], low=low, high=high)


def read(
    file: Path, families: Mapping[str, Family] = FAMILIES, policies: Mapping[str, Policy] = POLICIES
) -> pd.DataFrame:
    """Return the table of a file; columns as of `play`."""
    return _in_order(pd.read_csv(file), families, policies)


def stored() -> pd.DataFrame:
    """Return the table that ships with the package: all families and policies; columns as of `play`.

    Examples
    --------
    >>> table = stored()
    >>> table["family"].nunique(), table["policy"].nunique(), table["runs"].unique().tolist()
    (12, 21, [20000])
    """
    with resources.as_file(resources.files("bai.book") / "data/leaderboard.csv") as file:
        return read(file)


def extend(
    file: Path,
    families: Mapping[str, Family] = FAMILIES,
    policies: Mapping[str, Policy] = POLICIES,
    runs: int = RUNS,
    seed: int = SEED,
    executor: Executor | None = None,
) -> Iterator[str]:
    """Play the rows that a file lacks and add them to it; yield what was added, in words.

    A file that does not exist is made. Rows are written as soon as they are played, so the same call goes on after an
    interruption. No row that is there is played again or changed: give a policy with other code another name.
    """
    have = frozenset()
    if file.exists():
        table = pd.read_csv(file, keep_default_na=False)
        other = table[(table["runs"] != runs) | (table["seed"] != seed)]
        if len(other):
            row = other.iloc[0]
            raise ValueError(
                f"{file} has rows with {row['runs']} runs and seed {row['seed']}, not {runs} and {seed}; "
                "give those, or another file"
            )
        have = frozenset(table[ROW].itertuples(index=False, name=None))
    else:
        pd.DataFrame(columns=KEPT).to_csv(file, index=False)
    for rows in _rows(families, policies, runs, seed, executor, have):
        rows.to_csv(file, mode="a", header=False, index=False, float_format="%.6g")
        yield f"{rows['family'].iloc[0]}: {rows['policy'].iloc[0]}"


# --- comparisons -----------------------------------------------------------------------------------------


def compare(table: pd.DataFrame, family: str, budget: int, first: str, second: str) -> Paired:
    """Compare two policies on the runs of one family and budget of the table.

    Examples
    --------
    >>> compare(stored(), "Bernoulli", 320, "Unif", "Unif").only_first
    0
    """
    rows = table[(table["family"] == family) & (table["budget"] == budget)].set_index("policy", drop=False)
    if rows.empty or not {first, second} <= set(rows.index):
        raise ValueError(
            f"the table has no row for family {family!r}, budget {budget!r} and policies {first!r}, {second!r}; "
            "look them up in its columns family, budget and policy"
        )
    only = only_row(rows.loc[[first, second]])
    return Paired(int(only[0, 1]), int(only[1, 0]), int(rows.loc[first, "runs"]))


def only_row(cell: pd.DataFrame) -> np.ndarray:
    """Return in how many runs the policy of row i erred and that of row j did not, for the rows of one cell.

    Examples
    --------
    >>> only_row(stored().query("family == 'Bernoulli' and budget == 320").head(2))
    array([[   0, 6258],
           [2976,    0]])
    """
    wrong = wrong_runs(cell).astype(np.float32)  # sums of fewer than 2^24 ones are exact
    return (wrong @ (1 - wrong).T).astype(np.int64)


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
        alone = only_row(cell)
        surpassed = (alone > alone.T) & (mcnemar(alone, alone.T) < level / max(1, pairs))
        found[cell.index] += surpassed.sum(axis=1)
    return found


# --- the command -----------------------------------------------------------------------------------------


def entered(file: Path) -> tuple[dict[str, Family], dict[str, Policy]]:
    """Return the families and policies of a Python file that defines FAMILIES, POLICIES or both, by name."""
    made = runpy.run_path(str(file))
    families, policies = made.get("FAMILIES", {}), made.get("POLICIES", {})
    if not families and not policies:
        raise ValueError(f"{file} defines neither FAMILIES nor POLICIES; see the section 'Enter your own' of the book")
    return families, policies


def main(arguments: list[str] | None = None) -> None:
    """Play the rows that a table lacks."""
    parser = argparse.ArgumentParser(
        prog="python -m bai.book.leaderboard", description="Play all policies on all kinds of problems."
    )
    parser.add_argument("file", type=Path, nargs="?", default=Path("leaderboard.csv"), help="the table")
    parser.add_argument("--enter", type=Path, metavar="MINE.PY", help="Python file with your POLICIES or FAMILIES")
    parser.add_argument("--anew", action="store_true", help="start from nothing, not from the table that ships")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each policy (default: {RUNS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of problems and play (default: {SEED})")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    try:
        families, policies = entered(options.enter) if options.enter else ({}, {})
        if not options.file.parent.is_dir():  # not after minutes of play
            raise ValueError(f"{options.file.parent} is not a folder; make it, or name another file")
        if not (options.anew or options.file.exists()):
            options.file.write_bytes((resources.files("bai.book") / "data/leaderboard.csv").read_bytes())
        for added in extend(options.file, FAMILIES | families, POLICIES | policies, options.runs, options.seed):
            print(f"{time.perf_counter() - started:6.0f} s  {added}", flush=True)
    except (ImportError, OSError, TypeError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{options.file} has all rows, after {time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main()
