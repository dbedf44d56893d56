"""The leaderboard that ships is what its command computes, and its ranks are those of paired tests."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bai
from bai.book import leaderboard
from bai.book.leaderboard import FAMILIES, POLICIES

CELL = ["family", "budget", "policy"]


@pytest.fixture(scope="module")
def stored():
    return leaderboard.stored()


def replayed(families, policies):
    """Rows of the table computed now, and what is stored for them."""
    played = leaderboard.play(families, policies)
    return played, leaderboard.stored().set_index(CELL).loc[list(played[CELL].itertuples(index=False))].reset_index()


def assert_same(played, there):
    counts = ["n_arms", "runs", "mistakes", *played["policy"].unique()]
    pd.testing.assert_frame_equal(played[counts], there[counts])
    for column in ("mistake_rate", "low", "high", "regret", "regret_error"):
        np.testing.assert_allclose(there[column], played[column], rtol=1e-4, atol=1e-9, err_msg=column)


def test_every_policy_is_stored_for_every_family_and_budget(stored):
    wanted = [(name, n, policy) for name, family in FAMILIES.items() for n in family.budgets for policy in POLICIES]
    assert list(stored[CELL].itertuples(index=False, name=None)) == wanted
    assert len(FAMILIES) >= 8
    assert min(len(family.budgets) for family in FAMILIES.values()) >= 2
    assert (stored["runs"] == 5000).all()


def test_stored_counts_agree_with_each_other(stored):
    for _, cell in stored.groupby(["family", "budget"]):
        both, mistakes = cell[list(POLICIES)].to_numpy(), cell["mistakes"].to_numpy()
        assert np.array_equal(both, both.T)
        assert np.array_equal(both.diagonal(), mistakes)
        assert (both <= np.minimum.outer(mistakes, mistakes)).all()
        assert (both >= np.add.outer(mistakes, mistakes) - 5000).all()


def test_all_policies_replayed_on_one_family_give_the_stored_row_to_the_run():
    assert_same(*replayed({"5.1, quiet best": FAMILIES["5.1, quiet best"]._replace(budgets=(200,))}, POLICIES))


@pytest.mark.parametrize("name", FAMILIES)
def test_quick_policies_replayed_on_every_family_give_the_stored_rows_to_the_run(name):
    family = FAMILIES[name]._replace(budgets=FAMILIES[name].budgets[:1])
    assert_same(*replayed({name: family}, {p: POLICIES[p] for p in ("SH", "SHVar, kept", "SHAdaVar", "GapE-V")}))


def test_rates_are_neither_zero_nor_those_of_a_guess(stored):
    for (family, budget), cell in stored.groupby(["family", "budget"]):
        assert cell["mistakes"].max() > 100, (family, budget)
        assert cell["mistake_rate"].min() < 0.6, (family, budget)


def test_comparing_two_policies_of_the_table_is_the_paired_test_of_their_runs():
    family = FAMILIES["best very noisy"]._replace(budgets=(320,))
    policies = {"halving": bai.SH(), "rejects": bai.SR()}
    table = leaderboard.play({"mine": family}, policies, runs=600, seed=3)
    outs = [bai.simulate(policy, family.make(600, 3), 320, seed=3).mistakes for policy in policies.values()]
    assert leaderboard.compare(table, "mine", 320, "halving", "rejects") == bai.paired(*outs)
    with pytest.raises(ValueError, match="no row for family 'mine', budget 320 and policies 'halving', 'SR'"):
        leaderboard.compare(table, "mine", 320, "halving", "SR")


def board(mistakes, both):
    """A table with one family and policies a, b, c, ... over 1,000 runs."""
    names = list("abcd")[: len(mistakes)]
    rows = {"family": "f", "budget": 100, "policy": names, "runs": 1000, "mistakes": mistakes}
    return pd.DataFrame(rows | dict(zip(names, both, strict=True)))


def test_rank_counts_the_policies_that_err_significantly_less():
    both = [[100, 95, 90], [95, 110, 100], [90, 100, 200]]  # a against b: 5 to 15, p = 0.04; c loses to both
    assert leaderboard.ranks(board([100, 110, 200], both)).tolist() == [1, 1, 3]
    assert leaderboard.ranks(board([100, 110, 200], both), level=0.15).tolist() == [1, 2, 3]


def test_more_families_make_the_tests_stricter():
    both = [[100, 95, 90], [95, 113, 100], [90, 100, 200]]  # a against b: 5 to 18, p = 0.011 < 0.05 / 3
    one = board([100, 113, 200], both)
    assert leaderboard.ranks(one).tolist() == [1, 2, 3]
    two = pd.concat([one, one.assign(family="g")], ignore_index=True)
    assert leaderboard.ranks(two).tolist() == [1, 1, 3, 1, 1, 3]


def test_four_policies_make_six_tests():
    both = [[100, 95, 90, 90], [95, 113, 100, 100], [90, 100, 200, 150], [90, 100, 150, 200]]
    four = board([100, 113, 200, 200], both)  # a against b: p = 0.011, between 0.05 / 6 and 0.05 / 4
    assert leaderboard.ranks(four).tolist() == [1, 1, 3, 3]
    assert leaderboard.ranks(four, level=0.07).tolist() == [1, 2, 3, 3]


def test_what_a_policy_is_told_is_what_changes_with_the_problem():
    told = {name for name, policy in POLICIES.items() if leaderboard.knowledge(policy)}
    assert told == {
        "SHVar", "SHVar, kept", "GapE", "GapE, rescaled", "GapE-V", "GapE-V, rescaled", "A-GapE", "A-GapE-V",
        "HalveVar", "HalveVar, kept",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"families": {}}, ValueError, "families is empty"),
        ({"policies": {}}, ValueError, "policies is empty"),
        ({"runs": 0}, ValueError, "runs is 0"),
        ({"policies": {"SH": bai.SH}}, TypeError, r"policy is the class SH; write SH\(\)"),
    ],
)
def test_nothing_is_played_that_cannot_be(arguments, error, message):
    with pytest.raises(error, match=message):
        leaderboard.play(**arguments)


def test_the_command_writes_the_table(tmp_path, capsys):
    leaderboard.main([str(tmp_path / "board.csv"), "--runs", "2"])
    table = pd.read_csv(tmp_path / "board.csv")
    assert table[CELL].equals(leaderboard.stored()[CELL])
    assert "board.csv" in capsys.readouterr().out


def test_the_command_refuses_what_it_cannot_do_in_one_sentence(tmp_path):
    for arguments, said in (([str(tmp_path / "no" / "x.csv")], "is not a folder"), (["--runs", "0"], "runs is 0")):
        run = subprocess.run(
            [sys.executable, "-m", "bai.book.leaderboard", *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert run.returncode == 1
        assert run.stderr.startswith("error: ")
        assert said in run.stderr
        assert "Traceback" not in run.stderr
