"""All policies on many kinds of problems, in one table.

A row of the table is a policy on a kind of problem with a budget, and holds the mistakes of its single runs. So rows
can be compared in pairs, and a new policy or problem adds rows and changes none. The table is a folder with a file for
each family. ``python -m bai.book.leaderboard`` plays the rows that a folder lacks, your own included; `stored` returns
the table that ships with the package.
"""

from __future__ import annotations

import argparse
import base64
import re
import runpy
import shutil
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..play import check_game, simulate
from ..policies import (
    EBTC,
    FIELD,
    OCBA,
    REGISTRY,
    SH,
    T3C,
    TTTS,
    TTUCB,
    AGapEV,
    EBTCEpsilon,
    GapE,
    GapEV,
    HalveVar,
    Policy,
    SHAdaVar,
    SHVar,
)
from ..policies.variance_bounds import Gaussian
from ..problems import Bandits, GaussianBandits, RescaledBandits
from ..stats import Paired, mcnemar, wilson_ends
from .families import FAMILIES, Family, at_hand, in_random_units

RUNS, SEED = 20_000, 1  # of the table that ships with the package
SHIPPED = Path(__file__).with_name("data") / "leaderboard"
ROW = ["family", "budget", "policy"]  # what names a row
KEPT = [*ROW, "n_arms", "runs", "seed", "mistakes", "regret", "regret_error", "wrong"]  # columns of a file


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
    EBTCEpsilon: {"EB-TC-eps, estimated": EBTCEpsilon(variances="estimated")},
    TTUCB: {"TTUCB, estimated": TTUCB(variances="estimated")},
    EBTC: {"EB-TC, estimated": EBTC(variances="estimated")},
    T3C: {"T3C, estimated": T3C(variances="estimated")},
}
TOO_SLOW = (TTTS,)  # up to 1,000 draws of all arms for a pull
POLICIES: dict[str, Policy] = {
    name: policy
    for cls in REGISTRY + FIELD
    if cls not in TOO_SLOW
    for name, policy in ({cls.name: cls()} | VARIANTS.get(cls, {})).items()
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


def needs_unit(policy: Policy) -> bool:
    """Return whether the pulls of a policy depend on the unit of the rewards.

    Examples
    --------
    >>> needs_unit(SH()), needs_unit(AGapEV(bound=1))
    (False, True)
    """
    means, variances = np.tile([[1.0, 0.8, 0.6, 0.0]], (50, 1)), np.tile([[1.0, 0.2, 0.5, 1.0]], (50, 1))
    small = GaussianBandits(means, variances)
    outs = [simulate(policy, problem, 60, seed=1) for problem in (small, RescaledBandits(small, 1024, 0))]
    return not np.array_equal(outs[0].pulls, outs[1].pulls)


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
    wanted = {}
    for name, family in families.items():
        _check_family(name, family)
        for label, budgets in playable(family, policies).items():
            wanted[name, label] = [n for n in budgets if (name, n, label) not in have]
    for name, family in families.items():
        problem = None
        for label, policy in policies.items():
            rows = []
            for budget in wanted[name, label]:
                problem = problem or problem_of(family, runs, seed)
                out = simulate(policy, problem, budget, seed, executor)
                regret = out.regret / problem.units[:, 0]  # in the unit of the family
                facts = (int(out.mistakes.sum()), regret.mean(), regret.std() / runs**0.5, _packed(out.mistakes))
                rows.append((name, budget, label, problem.n_arms, runs, seed, *facts))
            if rows:
                yield pd.DataFrame(rows, columns=KEPT)


def _check_family(name: str, family: Any) -> None:
    """Raise an error unless a family makes as many runs as it is asked for, and has budgets."""
    what = f"the family {name!r}"
    if not isinstance(family, Family):
        checks.wrong_type(what, family, "a Family from bai.book.leaderboard")
    if not callable(family.make):
        checks.wrong_type(f"make of {what}", family.make, "a function of a number of runs and a seed")
    budgets = checks.sequence(f"budgets of {what}", family.budgets, "a tuple of whole numbers, such as (320, 640)")
    for budget in budgets:
        checks.integer(f"a budget of {what}", budget, least=1)
    made = family.make(2, 0)
    if not isinstance(made, Bandits):
        checks.wrong_type(f"what make of {what} returns", made, "an ensemble such as bai.GaussianBandits(...)")
    if made.runs != 2:
        raise ValueError(f"make of {what} returns {made.runs} runs if asked for 2; hand its argument runs on")
    if not any(budget >= made.n_arms for budget in budgets):
        raise ValueError(f"{what} has budgets {budgets} for {made.n_arms} arms; give one of at least a pull per arm")


def problem_of(family: Family, runs: int = RUNS, seed: int = SEED) -> RescaledBandits:
    """Return the runs of a family as policies play them: every run in a unit of its own."""
    return in_random_units(family.make(runs, seed), seed)


def playable(family: Family, policies: Mapping[str, Policy]) -> dict[str, list[int]]:
    """Return with which budgets of a family each policy can be played: some need more pulls per arm than others.

    Examples
    --------
    >>> playable(FAMILIES["128 arms"], {"SR": POLICIES["SR"], "OCBA": OCBA()})
    {'SR': [160, 240], 'OCBA': []}
    """
    if not policies:
        raise ValueError("policies is empty; give at least one")
    sample, found = family.make(1, 0), {}
    for name, policy in policies.items():
        checked = isinstance(policy, Policy) or check_game(policy, sample, 1)  # which raises an error
        found[name] = [n for n in family.budgets if checked and n >= policy.least_budget(sample.n_arms)]
        for budget in found[name]:
            check_game(policy, sample, budget)
    return found


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
    folder: Path, families: Mapping[str, Family] = FAMILIES, policies: Mapping[str, Policy] = POLICIES
) -> pd.DataFrame:
    """Return the table of a folder; columns as of `play`."""
    files = sorted(Path(folder).glob("*.csv"))
    if not files:
        raise FileNotFoundError(f"{folder} has no table: no file in it ends in .csv")
    return _in_order(pd.concat([_read_file(file) for file in files], ignore_index=True), families, policies)


def _read_file(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, keep_default_na=False)


def stored() -> pd.DataFrame:
    """Return the table that ships with the package: all families and policies; columns as of `play`.

    Examples
    --------
    >>> table = stored()
    >>> table["family"].nunique(), table["runs"].unique().tolist()
    (25, [20000])
    """
    return read(SHIPPED)


def extend(
    folder: Path,
    families: Mapping[str, Family] = FAMILIES,
    policies: Mapping[str, Policy] = POLICIES,
    runs: int = RUNS,
    seed: int = SEED,
    executor: Executor | None = None,
) -> Iterator[str]:
    """Play the rows that a folder lacks and add them to its files; yield what was added, in words.

    A folder that does not exist is made. Rows are written as soon as they are played, so the same call goes on after an
    interruption. No row that is there is played again or changed: give a policy with other code another name.
    """
    folder.mkdir(exist_ok=True)
    have: set[tuple[str, int, str]] = set()
    for file in folder.glob("*.csv"):
        table = _read_file(file)
        other = table[(table["runs"] != runs) | (table["seed"] != seed)]
        if len(other):
            row = other.iloc[0]
            raise ValueError(
                f"{file} has rows with {row['runs']} runs and seed {row['seed']}, not {runs} and {seed}; "
                "give those, or another folder"
            )
        have |= set(table[ROW].itertuples(index=False, name=None))
    for rows in _rows(families, policies, runs, seed, executor, frozenset(have)):
        family = str(rows["family"].iloc[0])
        file = folder / f"{re.sub('[^a-z0-9]+', '-', family.lower())}.csv"
        rows.to_csv(file, mode="a", header=not file.exists(), index=False, float_format="%.6g")
        yield f"{family}: {rows['policy'].iloc[0]}"


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
    found = []
    for name, there in (("FAMILIES", FAMILIES), ("POLICIES", POLICIES)):
        entries = made.get(name, {})
        if not isinstance(entries, Mapping):
            checks.wrong_type(name, entries, "a dict of names and what they stand for")
        taken = [entry for entry in entries if entry in there]
        if taken:
            raise ValueError(f"{name} has {taken[0]!r}, which is in the table already; take another name")
        found.append(dict(entries))
    if not any(found):
        raise ValueError(f"{file} defines neither FAMILIES nor POLICIES; see the section 'Enter your own' of the book")
    return found[0], found[1]


def main(arguments: list[str] | None = None) -> None:
    """Play the rows that a table lacks."""
    parser = argparse.ArgumentParser(
        prog="python -m bai.book.leaderboard", description="Play all policies on all kinds of problems."
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("leaderboard"), help="where the table is")
    parser.add_argument("--enter", type=Path, metavar="MINE.PY", help="Python file with your POLICIES or FAMILIES")
    parser.add_argument("--anew", action="store_true", help="start from nothing, not from the table that ships")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each policy (default: {RUNS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of problems and play (default: {SEED})")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    try:
        families, policies = entered(options.enter) if options.enter else ({}, {})
        if not options.folder.parent.is_dir():  # not after minutes of play
            raise ValueError(f"{options.folder.parent} is not a folder; make it, or name another place")
        if not (options.anew or options.folder.exists()):
            shutil.copytree(SHIPPED, options.folder)
        for name in set(FAMILIES) - set(at_hand()):
            print(f"{name}: left out, because its data are not here")
        families = at_hand() | families
        for added in extend(options.folder, families, POLICIES | policies, options.runs, options.seed):
            print(f"{time.perf_counter() - started:6.0f} s  {added}", flush=True)
    except (ImportError, OSError, TypeError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{options.folder} has all rows, after {time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main()
