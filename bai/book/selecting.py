"""Judging candidates on the same examples, measured on real scores: the studies of *Choosing prompts and models*.

``python -m bai.book.selecting`` plays them again and writes the tables that ship with the package. The votes on
captions do not ship: the environment variable BAI_CAPTIONS names the file with their counts.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp

from .. import certainty, shared
from ..compiling import compiled
from ..experiment import identify
from ..play import simulate
from ..policies import SH, LookAhead, TopTwo, Unif
from ..problems import TableBandits
from ..selection import POLICIES
from ..shared import adjusted_means, most_gained, next_candidate
from .families import DESIGN
from .judgements import CONTESTS, alpaca, captions

RUNS, BLOCK, SEED = 1000, 20, 1  # runs of a cell, how many of them are played again, and the seed of all
SIZES, SHARES = (5, 12, 30), (0.02, 0.05, 0.1, 0.2, 0.4)  # candidates, and the part of all pairs that is judged
INDEPENDENT = {
    "equal": Unif(),
    "SH": SH(reuse=True),
    "TopTwo": TopTwo(),
    "LookAhead": LookAhead(),
}  # every candidate on its own examples
HALVED = {"own, again": 0, "shared, again": 1, "own order": 2, "shared order": 3}  # halving, by how examples come
DATA = Path(__file__).with_name("data")


# --- candidates -----------------------------------------------------------------------------------------


def sets(scores: np.ndarray, size: int, family: str, runs: int, seed: int) -> np.ndarray:
    """Return sets of candidates, a row per run.

    "random": any of them. "near ties": neighbours in the true order, a window below the top five. "top": the best ones.
    """
    rng, order = np.random.default_rng(seed), np.argsort(-scores.mean(axis=1), kind="stable")
    if family == "random":
        return np.array([rng.choice(len(scores), size, replace=False) for _ in range(runs)])
    if family == "top":
        return np.array([rng.permutation(order[:size]) for _ in range(runs)])
    starts = rng.integers(5, len(scores) - size + 1, size=runs)
    return np.array([rng.permutation(order[start : start + size]) for start in starts])


# --- one run ---------------------------------------------------------------------------------------------


@compiled
def judged(stack, budget, ahead):
    """Return how often ``bai.select`` judges each candidate, whose scores are the rows of `stack`, in their order.

    The policy is "look ahead", or else "top two".
    """
    n_candidates, size = stack.shape
    counts, told = np.zeros(n_candidates), np.zeros(n_candidates, np.int64)
    totals, squares = np.zeros(n_candidates), np.zeros(n_candidates)
    for _ in range(budget):
        if ahead:
            i = most_gained(stack, counts, told, totals, squares)
        else:
            i = next_candidate(counts, told, totals, squares, size)
        if i < 0:
            break
        score = stack[i, told[i]]
        old = totals[i] / told[i] if told[i] else score
        counts[i] += 1
        told[i] += 1
        totals[i] += score
        squares[i] += (score - old) * (score - totals[i] / told[i])
    return told


def halve(stack: np.ndarray, stages: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return how often halving judges each candidate, and who is left, the best first."""
    active, counts = np.arange(len(stack)), np.zeros(len(stack), np.int64)
    for number, (_, end) in enumerate(stages):
        counts[active] = end
        best = np.argsort(-stack[active, :end].sum(axis=1), kind="stable")
        left = stages[number + 1][0] if number + 1 < len(stages) else len(active)
        active = np.sort(active[best[:left]]) if left < len(active) else active[best]
    return counts, active


def stack_of(scores: np.ndarray, rows: int, mode: int, rng: np.random.Generator) -> np.ndarray:
    """Return the scores of each candidate in the order in which it is judged; see `HALVED`."""
    n_candidates, size = scores.shape
    if mode == 0:
        return np.take_along_axis(scores, rng.integers(size, size=(n_candidates, rows)), axis=1)
    if mode == 1:
        return scores[:, rng.integers(size, size=rows)]
    if mode == 2:
        return rng.permuted(scores, axis=1)
    return scores[:, rng.permutation(size)]


def regrets(scores: np.ndarray, chosen: np.ndarray, share: float, method: str, seed: int = SEED) -> np.ndarray:
    """Return by how much the candidate named in each run falls short of the best of its set."""
    runs, n_candidates = chosen.shape
    budget = int(share * n_candidates * scores.shape[1] + 1e-9)
    means = scores.mean(axis=1)[chosen]
    if method in INDEPENDENT:
        named = simulate(INDEPENDENT[method], TableBandits(scores, chosen), budget, seed).recommended
    else:
        named = np.array([_named(scores[row], budget, method, [seed, run]) for run, row in enumerate(chosen)])
    return means.max(axis=1) - means[np.arange(runs), named]


def _named(scores: np.ndarray, budget: int, method: str, seed: list[int]) -> int:
    rng = np.random.default_rng(seed)
    if method in ("look ahead", "top two"):
        stack = np.ascontiguousarray(stack_of(scores, 0, 3, rng))
        return int(adjusted_means(stack, judged(stack, budget, method == "look ahead")).argmax())
    mode = HALVED.get(method, 3)
    stages = shared.stage_rows(len(scores), scores.shape[1] if mode > 1 else budget, budget)
    stack = np.ascontiguousarray(stack_of(scores, stages[-1][1], mode, rng))
    counts, left = halve(stack, stages)
    if method == "halving":
        means = adjusted_means(stack, counts)
        left = np.sort(left[counts[left] == counts.max()])
        return int(left[means[left].argmax()])
    return int(left[0])


# --- the studies -----------------------------------------------------------------------------------------


def cells(runs: int = RUNS) -> Any:
    """Yield the cells of the study: a label, the scores, the sets of candidates and the share that is judged."""
    for family in ("random", "near ties"):
        for size in SIZES:
            scores = alpaca().to_numpy().T
            chosen = sets(scores, size, family, runs, SEED)
            yield from ((("AlpacaEval", family, size, share), scores, chosen, share) for share in SHARES)
    for contest in CONTESTS:
        votes = captions(contest)
        for family, size in ((f, s) for f in ("random", "top") for s in SIZES):
            if votes is not None:
                chosen = sets(votes, size, family, runs, SEED)
                name = f"captions {contest}"
                yield from (((name, family, size, share), votes, chosen, share) for share in SHARES[1:])


METHODS = (*POLICIES, *INDEPENDENT)
COLUMNS = ["data", "family", "candidates", "share", "method"]


def play(runs: int = RUNS) -> pd.DataFrame:
    """Play all methods on all cells; a row per cell and method.

    Columns: mistakes and regret over the runs, and over the first block of them.
    """
    rows = []
    for label, scores, chosen, share in cells(runs):
        for method in (*METHODS, *HALVED) if label[0] == "AlpacaEval" else METHODS:
            lost = regrets(scores, chosen, share, method)
            wrong, first = lost > 1e-12, lost[:BLOCK]
            rows.append([*label, method, wrong.sum(), lost.mean(), wrong[:BLOCK].sum(), first.mean()])
    columns = [*COLUMNS, "mistakes", "regret", "first_mistakes", "first_regret"]
    return pd.DataFrame(rows, columns=columns).assign(runs=runs)


def stored(name: str = "select") -> pd.DataFrame:
    """Return a table that ships with the package: "select", "select_calibration" or "experiment_calibration".

    Examples
    --------
    >>> stored()["data"].unique().tolist()
    ['AlpacaEval', 'captions 603', 'captions 610', 'captions 618']
    """
    with resources.files("bai.book").joinpath(f"data/{name}.csv").open() as file:
        return pd.read_csv(file)


def replay(size: int = 12, share: float = 0.1) -> None:
    """Play the first block of some cells of AlpacaEval again; raise RuntimeError unless it comes out as stored."""
    table = stored().query("data == 'AlpacaEval' and candidates == @size and share == @share")
    scores = alpaca().to_numpy().T
    for row in table.to_dict("records"):
        chosen = sets(scores, size, row["family"], RUNS, SEED)
        if row["method"] not in INDEPENDENT:  # those are simulated, a block of 500 runs at a time
            chosen = chosen[:BLOCK]
        method = str(row["method"])
        lost = regrets(scores, chosen, share, method)[:BLOCK]
        if abs(lost.mean() - row["first_regret"]) > 1e-6 or (lost > 1e-12).sum() != row["first_mistakes"]:
            raise RuntimeError(f"{method} on {row['family']} has other results than stored; play it again")


def compared(table: pd.DataFrame, method: str) -> pd.Series:
    """Return how ``bai.select`` does against a method, over all cells of a table, with 95 % intervals and p-values.

    `mistakes` is the mean of the differences of the rates of mistakes, `regret` the geometric mean of the ratios of the
    regrets. Both play the same sets of candidates in every cell, and cells are compared in pairs, by t-tests.
    """
    ours, theirs = (table[table["method"] == name].reset_index(drop=True) for name in (POLICIES[0], method))
    rates = [part["mistakes"] / part["runs"] for part in (ours, theirs)]
    found = {"mistakes, select": rates[0].mean(), "mistakes, other": rates[1].mean()}
    ratio = np.log((ours["regret"] + 1e-4) / (theirs["regret"] + 1e-4))
    for name, gain, scale in (("mistakes", rates[0] - rates[1], lambda x: x), ("regret", ratio, np.exp)):
        test: Any = ttest_1samp(gain, 0)
        ends = test.confidence_interval()
        found |= {name: scale(gain.mean()), f"{name}, low": scale(ends.low), f"{name}, high": scale(ends.high)}
        found[f"{name}, p"] = test.pvalue
    return pd.Series(found).astype(float)


# --- calibration -----------------------------------------------------------------------------------------


def claims(runs: int = 40) -> pd.DataFrame:
    """Return what ``bai.select`` claims in each run, and whether it was right: the probability, and the regret."""
    rows = []
    for label, scores, chosen, share in cells(runs):
        budget = int(share * chosen.shape[1] * scores.shape[1] + 1e-9)
        for run, row in enumerate(chosen):
            stack = np.ascontiguousarray(stack_of(scores[row], 0, 3, np.random.default_rng([SEED, run])))
            counts = judged(stack, budget, True)
            means = adjusted_means(stack, counts)
            draws = certainty.plausible_means(means, shared.precision_matrix(_judged(stack, counts), counts))
            best, lead = scores[row].mean(axis=1), int(means.argmax())
            loss = float((draws.max(axis=1) - draws[:, lead]).mean())
            rows.append([*label, float((draws.argmax(axis=1) == lead).mean()), loss, best.max() - best[lead]])
    return pd.DataFrame(rows, columns=[*COLUMNS[:-1], "claim", "expected_loss", "regret"])


def _judged(stack: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.where(np.arange(stack.shape[1]) < counts[:, None], stack, np.nan)


def experiment_claims(runs: int = 100, families: list[str] | None = None) -> pd.DataFrame:
    """Return what experiments with the default policy claim on the families of the leaderboard, and what was true."""
    rows = []
    for name in families or DESIGN:
        family = DESIGN[name]
        problems, budget = family.make(runs, SEED), family.budgets[-1]
        order = np.tile(np.arange(problems.n_arms), (runs, 1))
        rewards = problems.rewards(order, np.random.default_rng(SEED))
        for run in range(runs):
            pulled = [0] * problems.n_arms

            def pull(arm: int, run: int = run, pulled: list[int] = pulled, rewards: Any = rewards) -> float:
                pulled[arm] += 1
                return float(rewards.draw(run, arm, pulled[arm] - 1))

            answer = identify(None, pull, problems.n_arms, budget, seed=run)
            lost = problems.means[run].max() - problems.means[run, answer.best]
            rows.append([name, answer.probability_best[answer.best], answer.expected_loss, lost])
    return pd.DataFrame(rows, columns=["family", "claim", "expected_loss", "regret"])


def calibration(table: pd.DataFrame, edges: tuple[float, ...] = (0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.01)) -> pd.DataFrame:
    """Return how often claims of about the same size were right.

    Examples
    --------
    >>> few = pd.DataFrame({"claim": [0.6, 0.7, 0.97], "regret": [0.0, 0.1, 0.0]})
    >>> calibration(few)["right"].tolist()
    [0.5, 1.0]
    """
    bins = pd.cut(table["claim"], list(edges), right=False)
    grouped = table.assign(right=table["regret"] <= 1e-12).groupby(bins, observed=True)
    found = grouped.agg(runs=("claim", "size"), claimed=("claim", "mean"), right=("right", "mean"))
    return found.set_axis([f"{b.left:g} to {min(b.right, 1):g}" for b in found.index], axis=0)


def main() -> None:
    """Play all studies and write their tables."""
    play().to_csv(DATA / "select.csv", index=False, float_format="%.6g")
    claims().to_csv(DATA / "select_calibration.csv", index=False, float_format="%.4g")
    experiment_claims().to_csv(DATA / "experiment_calibration.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
