"""The second confirmation of the default policy: its protocol holds, and its table is what the command plays."""

import hashlib
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from problems import mistakes_played_again

from bai.book import confirmation, families, leaderboard
from bai.book.confirmation import FAMILIES, POLICIES, RUNS, SEED
from bai.play import BLOCK

COMMITTED = "dc72ed1d81e073f625997dbc73c9ee75ec8c1289f74092e17a0e6315bbfbe267"


@pytest.fixture(scope="module")
def stored():
    return confirmation.stored()


def test_the_protocol_the_families_and_the_policies_are_those_that_were_committed_before_the_play():
    code = Path(confirmation.__file__).read_text(encoding="utf-8").partition("# --- answers")[0]
    assert hashlib.sha256(code.encode()).hexdigest() == COMMITTED


def test_families_are_new_and_have_ten_and_forty_pulls_per_arm():
    assert not set(FAMILIES) & set(families.FAMILIES)
    for family in FAMILIES.values():
        n_arms = family.make(1, 0).n_arms
        assert family.budgets == (10 * n_arms, 40 * n_arms)


def test_the_policies_are_open():
    for name, policy in POLICIES.items():
        assert not leaderboard.knowledge(policy) and not leaderboard.needs_unit(policy), name


def test_every_policy_is_stored_for_every_family_and_budget(stored):
    cells = [(name, n, policy) for name, family in FAMILIES.items() for n in family.budgets for policy in POLICIES]
    assert list(stored[leaderboard.ROW].itertuples(index=False, name=None)) == cells
    assert (stored["runs"] == RUNS).all() and (stored["seed"] == SEED).all()
    assert np.array_equal(leaderboard.wrong_runs(stored).sum(axis=1), stored["mistakes"])


@pytest.mark.parametrize("name", FAMILIES)
def test_blocks_played_again_give_the_stored_runs_bit_for_bit(name, stored):
    """The first runs of a block of every row."""
    problem = leaderboard.problem_of(FAMILIES[name], RUNS, SEED)
    rows = stored[stored["family"] == name]
    for row, wrong in zip(rows.itertuples(), leaderboard.wrong_runs(rows), strict=True):
        block = zlib.crc32(f"{name} {row.policy} {row.budget}".encode()) % (RUNS // BLOCK)
        runs, mistakes = mistakes_played_again(POLICIES[row.policy], problem, row.budget, SEED, block)
        assert np.array_equal(mistakes, wrong[runs]), (row.policy, row.budget)


def test_tables_of_quantiles_have_the_moments_of_their_distributions():
    counts = FAMILIES["counts"].make(1, 5)
    assert np.allclose(counts.means, [5, *np.linspace(2, 4.5, 19)], rtol=0.01)
    assert np.allclose(counts.variances, counts.means, rtol=0.02)
    laplace = FAMILIES["Laplace"].make(300, 5)
    assert np.allclose(laplace.means, [1, 0.8, 0.6, 0.4, 0.2, 0])
    assert np.allclose(np.unique(laplace.variances.round(2)), [0.06, 0.25, 0.99, 3.98])  # the outermost tails are cut
    fractions = FAMILIES["fractions"].make(300, 5)  # variances m (1 - m) / (1 + sum of the parameters)
    assert np.allclose(fractions.means[:, 0], 0.6, atol=1e-3) and fractions.means[:, 1:].max() < 0.551
    sums = fractions.means * (1 - fractions.means) / fractions.variances - 1
    assert np.allclose(np.unique(sums.round(1)), [0.5, 2, 8])
    times = FAMILIES["waiting times"].make(300, 5)
    assert np.allclose(times.means[:, 0], 1) and times.means[:, 1:].max() < 0.751
    assert np.allclose(np.sqrt(times.variances) / times.means, 1, atol=0.01)


def test_fifty_items_have_one_to_five_stars():
    stars = FAMILIES["five stars"].make(300, 5)
    assert set(stars.table.ravel()) == {1, 2, 3, 4, 5}
    assert all(len(set(items)) == 50 for items in stars.arms)
    weights = np.random.default_rng(0).integers(1, 9, (500, 5), endpoint=True) ** 2
    assert np.allclose(stars.table.mean(axis=1), weights @ np.arange(1, 6) / weights.sum(axis=1), atol=0.003)


def test_gaussian_families_are_as_described():
    clusters = FAMILIES["two clusters"].make(200, 5)
    assert (clusters.means[:, 0] == 1).all() and (clusters.means[:, 1:10] < 0.8).all()
    assert (clusters.means[:, 10:] < -0.5).all() and (clusters.variances[:, 10:] > 1).all()
    loud = FAMILIES["one loud arm"].make(200, 5).variances
    assert ((loud == 16).sum(axis=1) == 1).all() and ((loud == 1).sum(axis=1) == 9).all()
    assert set((loud == 16).argmax(axis=1)) == set(range(10))
    better = FAMILIES["quieter when better"].make(200, 5)
    assert np.allclose(better.variances * better.means**2, 0.25)
    portions = FAMILIES["portions"].make(200, 5)
    assert np.allclose(portions.means.sum(axis=1), 20)
    assert (portions.variances[np.arange(200), portions.means.argmax(axis=1)] == 4).all()


def board(*wrong):
    """A table of policies LookAhead and TopTwo in one family or more, given the runs of 400 in which each erred."""
    rows = []
    for number, runs in enumerate(wrong):
        flags = np.isin(np.arange(400), runs)
        place = {"family": f"f{number // 4}", "budget": number // 2 % 2, "policy": ["LookAhead", "TopTwo"][number % 2]}
        rows.append(place | {"runs": 400, "mistakes": flags.sum(), "wrong": leaderboard._packed(flags)})
    return pd.DataFrame(rows)


def test_ratios_and_factors_are_geometric_means_over_budgets_and_families():
    table = board(range(20), range(40), range(10), range(10), range(90), range(30), range(5), range(5))
    first, second = (20.5 / 40.5) ** 0.5, (90.5 / 30.5) ** 0.5
    found = confirmation.ratios(table)
    assert found["ratio"].tolist() == pytest.approx([first, second, *[(first * second) ** 0.5] * 2])
    assert confirmation.factors(table).loc["TopTwo"].tolist() == pytest.approx([1 / first, 1])
    assert confirmation.factors(table).index.tolist() == ["TopTwo", "LookAhead"]
    half = np.log(second / first) / 2  # of two values, 12.71 deviations of their mean
    assert np.log(found.loc["all, of families", "high"] / found.loc["all, of families", "ratio"]) == pytest.approx(
        12.706 * half, rel=1e-4
    )


def test_policies_that_err_on_the_same_runs_have_a_ratio_without_luck():
    same = confirmation.ratios(board(*[range(20)] * 8))
    assert same.loc["f0"].tolist() == pytest.approx([1, 1, 1])


def test_intervals_cover_the_ratio_as_often_as_they_say():
    """Two policies err in 20 % and 10 % of runs, half of the time together, and alike with both budgets."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        luck, other = rng.random(400), rng.random(400)
        first, second = np.nonzero(luck < 0.2)[0], np.nonzero((luck < 0.05) | (other < 0.05 / 0.95))[0]
        found = confirmation.ratios(board(*[first, second] * 4)).loc["f0"]
        covered += found["low"] < 0.2 / (0.05 + 0.95 * 0.05 / 0.95) < found["high"]
    assert 362 <= covered <= 395  # 380 expected; outside by chance in fewer than 1 of 1,000 tests


def test_the_command_adds_nothing_to_the_table_that_ships(tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(confirmation.SHIPPED, folder)
    command = [sys.executable, "-m", "bai.book.confirmation", folder]
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout == ""
    file = folder / "laplace.csv"
    rows = file.read_text().splitlines(keepends=True)
    file.write_text("".join(row for row in rows if not row.startswith("Laplace,60,SH,")))
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout == "Laplace: SH\n"
    assert sorted(file.read_text().splitlines(keepends=True)) == sorted(rows)
