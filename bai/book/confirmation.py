"""A second confirmation of the default policy, on kinds of problems that no policy had played before.

Protocol, written and committed before any policy played any of these families:

- Families: those of `FAMILIES`. Every run has a unit and a level of its own, as on the leaderboard. One kind is not
  quite new: an exercise of the leaderboard's page has other counts, and there `LookAhead` errs more than `TopTwo`.
- Budgets: 10 and 40 pulls per arm in all families.
- Runs and seed: `RUNS` and `SEED`; all policies play the same problems.
- Policies: `OPEN`, all policies of the leaderboard that are told nothing and do not depend on the unit.
- Mistakes are counted with 0.5 added, so that none can be compared too. Ratios of mistakes are geometric means over the
  two budgets of a family, then over families. The factor of a policy is the ratio of its mistakes to the fewest of an
  open policy in the same family and with the same budget.

Questions:

(a) Does `LookAhead` make no more mistakes than `TopTwo`? It passes if the ratio over all families is at most 1. The
    95 % interval for the luck of the runs is reported, and one for the luck in the choice of families (Student's t).
(b) Is it nowhere much worse? It passes if the ratio exceeds 1.25 in no family.
(c) Is its mean factor the lowest of all open policies? It passes if so; its rank is reported.
(d) In how many families is its own factor above 1.25? The number is reported.

Whatever comes out, the leaderboard's page reports the ratio and the factor in every family, the answers to the four
questions, and which policies have a lower mean factor. No family, budget or policy is dropped, replaced or changed
after the first of them was played, and neither is `LookAhead`. If the code turns out to be wrong, the page says so.

``python -m bai.book.confirmation`` plays it; `stored` returns the table that ships with the package.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri, pdtr, stdtrit

from ..problems import GaussianBandits, TableBandits
from . import leaderboard
from .families import QUANTILES, Family, Make, on_grid, resampled

RUNS, SEED = 20_000, 2
SHIPPED = Path(__file__).with_name("data") / "confirmation"
OPEN = (
    "Unif", "SH", "SHAdaVar", "VBR", "SR", "OCBA", "SH, kept", "SHAdaVar, kept", "SHAdaVar, kept, guarded", "TopTwo",
    "KG", "LookAhead", "EB-TCI", "TTUCB, estimated", "EB-TC, estimated", "T3C, estimated", "Neyman", "Anytime SH",
    "DSH", "BSH",
)  # fmt: skip
POLICIES = {name: leaderboard.POLICIES[name] for name in OPEN}


# --- families --------------------------------------------------------------------------------------------
# The best arm is the first where it is fixed. Tables have 1000 quantiles of a distribution in each row.


def counts() -> np.ndarray:
    """Poisson counts of 20 arms, means 5 and from 2 to 4.5."""
    means = np.append(5, np.linspace(2, 4.5, 19))[:, None, None]
    return (pdtr(np.arange(40), means) < QUANTILES[:, None]).sum(axis=2).astype(float)


def laplace(runs: int, seed: int) -> TableBandits:
    noise = np.sign(QUANTILES - 0.5) * -np.log(1 - np.abs(2 * QUANTILES - 1)) / 2**0.5
    means, deviations = np.linspace(1, 0, 6), [0.25, 0.5, 1, 2]
    table = on_grid(np.array([mean + deviation * noise for mean in means for deviation in deviations]))
    return TableBandits(table, 4 * np.arange(6) + np.random.default_rng(seed).integers(4, size=(runs, 6)))


def fractions(runs: int, seed: int) -> TableBandits:
    """Beta distributions of 10 arms; the sum of their parameters is 0.5 (mostly near 0 or 1), 2 or 8 (a hill)."""
    means, sums = np.append(0.6, np.linspace(0.3, 0.55, 11)), [0.5, 2, 8]
    table = on_grid(np.array([betaincinv(mean * s, (1 - mean) * s, QUANTILES) for mean in means for s in sums]))
    rng = np.random.default_rng(seed)
    which = rng.integers(1, 12, (runs, 10))
    which[:, 0] = 0
    return TableBandits(table, 3 * which + rng.integers(3, size=(runs, 10)))


def stars(runs: int, seed: int) -> TableBandits:
    """Fifty of 500 items, rated from 1 to 5 stars; chances of each number in proportion to 1, 4, 9, ... or 81."""
    ends = np.cumsum(np.random.default_rng(0).integers(1, 9, (500, 5), endpoint=True) ** 2, axis=1)
    table = 1.0 + (2000 * ends[:, None] <= (2 * np.arange(1000)[:, None] + 1) * ends[:, None, -1:]).sum(axis=2)
    items = np.random.default_rng(seed).permuted(np.tile(np.arange(500), (runs, 1)), axis=1)
    return TableBandits(table, items[:, :50])


def two_clusters(runs: int, seed: int) -> GaussianBandits:
    rng = np.random.default_rng(seed)
    means = np.hstack([rng.uniform(0.5, 0.8, (runs, 10)), rng.uniform(-1, -0.5, (runs, 10))])
    variances = np.hstack([rng.uniform(0.25, 1, (runs, 10)), rng.uniform(1, 4, (runs, 10))])
    means[:, 0] = 1
    return GaussianBandits(means, variances)


def one_loud_arm(runs: int, seed: int) -> GaussianBandits:
    variances = np.ones((runs, 10))
    variances[np.arange(runs), np.random.default_rng(seed).integers(10, size=runs)] = 16
    return GaussianBandits(np.tile([0.5] + [0.0] * 9, (runs, 1)), variances)


def waiting_times(runs: int, seed: int) -> TableBandits:
    """Exponential rewards of 50 arms, means 1 and 0.20, 0.21, ... or 0.75."""
    quantiles = -np.log(1 - QUANTILES)
    table = on_grid(np.append(100, np.arange(20, 76))[:, None] / 100 * quantiles / quantiles.mean())
    which = np.random.default_rng(seed).integers(1, len(table), (runs, 50))
    which[:, 0] = 0
    return TableBandits(table, which)


def quieter_when_better(runs: int, seed: int) -> GaussianBandits:
    means = np.random.default_rng(seed).uniform(0.2, 0.9, (runs, 20))
    means[:, 0] = 1
    return GaussianBandits(means, on_grid(0.25 / means**2))


def portions(runs: int, seed: int) -> GaussianBandits:
    """Means that are 20 times a uniform division of 1 into 20 parts; the largest has variance 4, the others 1 to 16."""
    rng = np.random.default_rng(seed)
    means = rng.exponential(size=(runs, 20))
    means = on_grid(20 * means / means.sum(axis=1, keepdims=True))
    variances = on_grid(4.0 ** rng.uniform(0, 2, (runs, 20)))
    variances[np.arange(runs), means.argmax(axis=1)] = 4
    return GaussianBandits(means, variances)


def family(make: Make, n_arms: int, about: str) -> Family:
    return Family(make, (10 * n_arms, 40 * n_arms), about)


FAMILIES = {
    "counts": family(resampled(counts()), 20, "Poisson counts, means 5 and from 2 to 4.5"),
    "Laplace": family(laplace, 6, "noise with Laplace's law; means 1, 0.8, ..., 0; deviations 0.25, 0.5, 1 or 2"),
    "fractions": family(fractions, 10, "beta distributions of three shapes; means 0.6, others 0.3 to 0.55"),
    "five stars": family(stars, 50, "ratings from 1 to 5, random frequencies"),
    "two clusters": family(
        two_clusters,
        20,
        "means 1, nine in (0.5, 0.8), ten in (-1, -0.5); variances in (0.25, 1), of the last ten in (1, 4)",
    ),
    "one loud arm": family(one_loud_arm, 10, "means 0.5 and nine times 0; variances 1, of one arm at random 16"),
    "waiting times": family(waiting_times, 50, "exponential rewards; means 1, others 0.2 to 0.75"),
    "quieter when better": family(
        quieter_when_better, 20, "means 1, others in (0.2, 0.9); variances 0.25 divided by the squared mean"
    ),
    "portions": family(
        portions, 20, "exponential means, made to sum to 20; variance of the best 4, others 1 to 16, log-uniform"
    ),
}


# --- answers ---------------------------------------------------------------------------------------------


def factors(table: pd.DataFrame) -> pd.DataFrame:
    """Return the factors by policy and family, lowest mean first, for a table of open policies.

    Examples
    --------
    >>> table = leaderboard.stored().query("policy in @OPEN and family in ('A/B', 'slippage')")
    >>> factors(table).round(2).head(2).to_dict("index")
    {'KG': {'A/B': 1.02, 'slippage': 1.01}, 'LookAhead': {'A/B': 1.06, 'slippage': 1.14}}
    """
    logs = pd.DataFrame({"policy": table["policy"], "family": table["family"]})
    logs["log"] = np.log(table["mistakes"] + 0.5)
    logs["log"] -= logs["log"].groupby([table["family"], table["budget"]]).transform("min")
    means = logs.pivot_table(values="log", index="policy", columns="family")[list(table["family"].unique())]
    return means.loc[means.mean(axis=1).sort_values(kind="stable").index].apply(np.exp)


def ratios(table: pd.DataFrame, first: str = "LookAhead", second: str = "TopTwo") -> pd.DataFrame:
    """Return the ratio of the mistakes of two policies in each family and in all, with 95 % intervals.

    The intervals are for the luck of the runs, that of the last row for the luck in the choice of families. Runs with
    the same number belong together, whatever the policy, budget and family: their shares in the logarithm of the ratio
    are summed before the spread is taken, so nothing is assumed to be independent but the runs.

    Examples
    --------
    >>> ratios(leaderboard.stored().query("family in ('A/B', 'slippage')")).round(3)
                      ratio    low    high
    A/B               1.013  0.952   1.078
    slippage          0.683  0.629   0.743
    all, of runs      0.832  0.790   0.877
    all, of families  0.832  0.068  10.171
    """
    logs, shares = {}, {}
    for name, rows in table.loc[table["policy"].isin([first, second])].groupby("family", sort=False):
        signs = np.where(rows["policy"] == first, 1, -1) * 2 / len(rows)
        mistakes = rows["mistakes"].to_numpy() + 0.5
        logs[name] = signs @ np.log(mistakes)
        shares[name] = (signs / mistakes) @ leaderboard.wrong_runs(rows)
    each = np.array(list(logs.values()))
    logs["all, of runs"], shares["all, of runs"] = each.mean(), np.mean(list(shares.values()), axis=0)
    margins = {name: ndtri(0.975) * share.std() * len(share) ** 0.5 for name, share in shares.items()}
    logs["all, of families"] = each.mean()
    margins["all, of families"] = stdtrit(len(each) - 1, 0.975) * each.std(ddof=1) / len(each) ** 0.5
    found = pd.DataFrame({"log": logs, "margin": margins})
    ends = {"ratio": found["log"], "low": found["log"] - found["margin"], "high": found["log"] + found["margin"]}
    return pd.DataFrame(np.exp(pd.DataFrame(ends)))


def stored() -> pd.DataFrame:
    """Return the table that ships with the package; columns as of `leaderboard.play`."""
    return leaderboard.read(SHIPPED, FAMILIES, POLICIES)


def main(folder: str = "confirmation") -> None:
    """Play what is missing in a folder, and say what was added."""
    for added in leaderboard.extend(Path(folder), FAMILIES, POLICIES, RUNS, SEED):
        print(added, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
