"""The leaderboard that ships is what its command computes, and its ranks are those of paired tests."""

import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from problems import mistakes_played_again

import bai
from bai.book import judgements, leaderboard
from bai.book.families import CONFIRMATION, DESIGN, FAMILIES, at_hand, in_random_units
from bai.book.leaderboard import POLICIES
from bai.play import BLOCK

CELL = ["family", "budget", "policy"]


@pytest.fixture(scope="module")
def stored():
    return leaderboard.stored()


@pytest.fixture(scope="module")
def wrong(stored):
    """The runs that were mistakes, by family, budget and policy."""
    return dict(zip(stored[CELL].itertuples(index=False, name=None), leaderboard.wrong_runs(stored), strict=True))


def cells_of(name, policies=POLICIES):
    """The budgets and policies of a family, in the order of the table."""
    playable = leaderboard.playable(FAMILIES[name], policies)
    return [(name, n, policy) for n in FAMILIES[name].budgets for policy in policies if n in playable[policy]]


def test_every_policy_is_stored_for_every_family_and_budget_that_it_can_play(stored):
    there = [cell for cell in stored[CELL].itertuples(index=False, name=None) if cell[0] in at_hand()]
    assert there == [cell for name in at_hand() for cell in cells_of(name)]
    assert set(stored["family"]) == set(FAMILIES)
    assert min(len(family.budgets) for family in FAMILIES.values()) >= 2
    assert (stored["runs"] == leaderboard.RUNS).all()
    assert (stored["seed"] == leaderboard.SEED).all()


def test_half_of_the_families_are_for_design_and_half_for_confirmation():
    assert not set(DESIGN) & set(CONFIRMATION)
    assert len(DESIGN) >= 10 and len(CONFIRMATION) >= len(DESIGN)


def test_stored_runs_add_up(stored):
    assert np.array_equal(leaderboard.wrong_runs(stored).sum(axis=1), stored["mistakes"])
    assert np.allclose(stored["mistake_rate"], stored["mistakes"] / leaderboard.RUNS)


@pytest.mark.parametrize("name", FAMILIES)
def test_blocks_played_again_give_the_stored_runs_bit_for_bit(name, wrong):
    """The first runs of a block of every row."""
    if name not in at_hand():
        pytest.skip("the votes on captions are not here; BAI_CAPTIONS names their file")
    problem = leaderboard.problem_of(FAMILIES[name])
    for _, budget, policy in cells_of(name):
        block = zlib.crc32(f"{policy} {budget}".encode()) % (leaderboard.RUNS // BLOCK)
        runs, mistakes = mistakes_played_again(POLICIES[policy], problem, budget, leaderboard.SEED, block)
        assert np.array_equal(mistakes, wrong[name, budget, policy][runs]), (policy, budget)


def test_every_run_has_a_unit_and_a_level_of_its_own_and_ties_stay():
    coins = bai.BernoulliBandits([0.5, 0.25], runs=2000)
    rescaled = in_random_units(coins, seed=2)
    powers, levels = np.log2(rescaled.units[:, 0]), rescaled.levels[:, 0] / rescaled.units[:, 0]
    assert set(powers) == set(range(-10, 11)) and set(levels) == {0, 1}
    assert np.array_equal(rescaled.best, coins.best)
    for policy in (bai.SH(), bai.SR(), bai.SHVar(reuse=True)):  # which compare means only
        outs = [bai.simulate(policy, problem, 60, seed=3) for problem in (coins, rescaled)]
        assert np.array_equal(outs[0].pulls, outs[1].pulls)


def test_examples_that_are_shared_come_in_one_order_for_all_models():
    shared = FAMILIES["models, shared examples"].make(5, 1)
    order = np.tile(np.arange(12), (5, 1))
    rewards = shared.rewards(order, np.random.default_rng(0))
    scores = judgements.alpaca().to_numpy()
    for run in range(5):
        drawn = np.array([[rewards.draw(run, arm, pull) for arm in range(12)] for pull in range(100)])
        models = [int(np.abs(scores.mean(axis=0) - mean).argmin()) for mean in shared.means[run]]
        assert {tuple(row) for row in drawn} <= {tuple(row) for row in scores[:, models]}
        assert len({tuple(row) for row in drawn}) > 90


def test_which_policies_depend_on_the_unit_is_found_out():
    assert {name for name, policy in POLICIES.items() if leaderboard.needs_unit(policy)} == {
        "A-GapE-V, b = 1", "EB-TC-eps", "EB-TC-eps, estimated", "CR-A", "CR-C", "BayesElim",
    }  # fmt: skip


def test_a_row_played_as_a_whole_has_the_stored_regret(stored):
    family = FAMILIES["5.1, quiet best"]._replace(budgets=(200,))
    played = leaderboard.play({"5.1, quiet best": family}, {"SH": bai.SH(), "TopTwo": bai.TopTwo()})
    there = stored.set_index(CELL).loc[list(played[CELL].itertuples(index=False))].reset_index()
    assert played["wrong"].equals(there["wrong"])
    for column in ("mistake_rate", "low", "high", "regret", "regret_error"):
        np.testing.assert_allclose(there[column], played[column], rtol=1e-5, err_msg=column)


def test_rates_are_neither_zero_nor_those_of_a_guess(stored):
    for (family, budget), cell in stored.groupby(["family", "budget"]):
        guess = 1 - 1 / cell["n_arms"].iloc[0]
        assert cell["mistakes"].max() > 100, (family, budget)
        assert cell["mistake_rate"].min() < 0.85 * guess, (family, budget)


def test_comparing_two_policies_of_the_table_is_the_paired_test_of_their_runs():
    family = FAMILIES["best very noisy"]._replace(budgets=(320,))
    policies = {"halving": bai.SH(), "rejects": bai.SR()}
    table = leaderboard.play({"mine": family}, policies, runs=600, seed=3)
    outs = [
        bai.simulate(policy, leaderboard.problem_of(family, 600, 3), 320, seed=3).mistakes
        for policy in policies.values()
    ]
    assert leaderboard.compare(table, "mine", 320, "halving", "rejects") == bai.paired(*outs)
    with pytest.raises(ValueError, match="no row for family 'mine', budget 320 and policies 'halving', 'SR'"):
        leaderboard.compare(table, "mine", 320, "halving", "SR")


def board(*wrong):
    """A table with one family and policies a, b, c, ..., given the runs of 1,000 in which each erred."""
    flags = np.zeros((len(wrong), 1000), bool)
    for row, runs in zip(flags, wrong, strict=True):
        row[runs] = True
    rows = {"family": "f", "budget": 100, "policy": list("abcd")[: len(wrong)], "runs": 1000}
    return pd.DataFrame(rows | {"wrong": [leaderboard._packed(row) for row in flags]})


A, B, WORSE_B = range(100), range(5, 115), range(5, 118)  # a against b: 5 to 15, p = 0.04; or 5 to 18, p = 0.011


def test_runs_are_packed_without_loss():
    wrong = np.random.default_rng(0).random((3, 1001)) < 0.3
    table = pd.DataFrame({"wrong": [leaderboard._packed(row) for row in wrong], "runs": 1001})
    assert np.array_equal(leaderboard.wrong_runs(table), wrong)


def test_rank_counts_the_policies_that_err_significantly_less():
    table = board(A, B, range(200))
    assert leaderboard.only_row(table).tolist() == [[0, 5, 0], [15, 0, 0], [100, 90, 0]]
    assert leaderboard.ranks(table).tolist() == [1, 1, 3]
    assert leaderboard.ranks(table, level=0.15).tolist() == [1, 2, 3]


def test_more_families_make_the_tests_stricter():
    one = board(A, WORSE_B, range(200))  # 0.011 < 0.05 / 3
    assert leaderboard.ranks(one).tolist() == [1, 2, 3]
    two = pd.concat([one, one.assign(family="g")], ignore_index=True)
    assert leaderboard.ranks(two).tolist() == [1, 1, 3, 1, 1, 3]


def test_four_policies_make_six_tests():
    four = board(A, WORSE_B, range(200), range(200))  # 0.011 is between 0.05 / 6 and 0.05 / 4
    assert leaderboard.ranks(four).tolist() == [1, 1, 3, 3]
    assert leaderboard.ranks(four, level=0.07).tolist() == [1, 2, 3, 3]


def test_what_a_policy_is_told_is_what_changes_with_the_problem():
    told = {name for name, policy in POLICIES.items() if leaderboard.knowledge(policy)}
    assert told == {
        "SHVar", "SHVar, kept", "GapE", "GapE, rescaled", "GapE-V", "GapE-V, rescaled", "A-GapE", "A-GapE-V",
        "HalveVar", "HalveVar, kept", "BayesElim", "EB-TC", "EB-TC-eps", "T3C", "TTUCB", "UCB-E", "UGapEb", "UGapEb-V",
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


MINE = """
import bai
from bai.book.leaderboard import Family

POLICIES = {"mine": bai.SH(reuse=True)}
FAMILIES = {"easy": Family(lambda runs, seed: bai.GaussianBandits([1, 0], [1, 1], runs=runs), (10, 20), "two arms")}
"""


def test_a_table_is_resumed_and_extended_without_a_change_of_what_is_there(tmp_path):
    folder, families, policies = tmp_path / "board", {}, {"SH": bai.SH(), "SR": bai.SR()}
    for name in ("Bernoulli", "equal variances"):
        families[name] = FAMILIES[name]._replace(budgets=(320,))
    steps = leaderboard.extend(folder, families, policies, runs=20)
    assert next(steps) == "Bernoulli: SH"
    steps.close()  # interrupted
    files = [folder / "bernoulli.csv", folder / "equal-variances.csv"]
    begun = files[0].read_text()
    added = list(leaderboard.extend(folder, families, policies, runs=20))
    assert added == ["Bernoulli: SR", "equal variances: SH", "equal variances: SR"]
    assert files[0].read_text().startswith(begun)
    whole = [file.read_text() for file in files]
    assert list(leaderboard.extend(folder, families, policies, runs=20)) == []
    more = policies | {"Unif": bai.Unif()}
    assert list(leaderboard.extend(folder, families, more, runs=20)) == ["Bernoulli: Unif", "equal variances: Unif"]
    for file, before in zip(files, whole, strict=True):
        assert file.read_text().startswith(before)
    there = leaderboard.read(folder, families, more)
    pd.testing.assert_frame_equal(there, leaderboard.play(families, more, runs=20), rtol=1e-5)
    with pytest.raises(ValueError, match="has rows with 20 runs and seed 1, not 30 and 1; give those, or another"):
        list(leaderboard.extend(folder, families, policies, runs=30))


def test_any_executor_plays_the_table():
    family = {"Bernoulli": FAMILIES["Bernoulli"]._replace(budgets=(320,))}
    with ThreadPoolExecutor(1) as executor:
        assert leaderboard.play(family, {"SR": bai.SR()}, 600, executor=executor).equals(
            leaderboard.play(family, {"SR": bai.SR()}, 600)
        )


def test_the_command_adds_an_entry_to_the_table_that_ships(tmp_path, capsys, monkeypatch):
    some = {"Bernoulli": FAMILIES["Bernoulli"]}
    monkeypatch.setattr(leaderboard, "FAMILIES", some)
    monkeypatch.setattr(leaderboard, "at_hand", lambda: some)
    monkeypatch.setattr(leaderboard, "POLICIES", {"SH": bai.SH()})
    (tmp_path / "mine.py").write_text(MINE)
    leaderboard.main([str(tmp_path / "board"), "--enter", str(tmp_path / "mine.py")])
    table = leaderboard.read(tmp_path / "board")
    shipped = leaderboard.stored()
    assert len(table) == len(shipped) + 2 + 2 + 2
    assert sorted(table[table["policy"] == "mine"]["family"]) == ["Bernoulli"] * 2 + ["easy"] * 2
    same = table[(table["policy"] == "mine") & (table["family"] == "Bernoulli")]["wrong"].tolist()
    kept = shipped[(shipped["policy"] == "SH, kept") & (shipped["family"] == "Bernoulli")]["wrong"].tolist()
    assert same == kept  # the same policy under another name
    assert "Bernoulli: mine" in capsys.readouterr().out


HEAD = "import bai\nfrom bai.book.leaderboard import Family\n"
TWO_ARMS = "lambda runs, seed: bai.GaussianBandits([1, 0], [1, 1], runs=runs)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("POLICIES = {'mine': bai.SH}", r"policy is the class SH; write SH\(\)"),
        ("POLICIES = {'SH': bai.SR()}", "POLICIES has 'SH', which is in the table already; take another name"),
        ("POLICIES = [bai.SH()]", "POLICIES is .*, of type list; it must be a dict of names"),
        (f"FAMILIES = {{'Bernoulli': Family({TWO_ARMS}, (40,), '')}}", "FAMILIES has 'Bernoulli', which is in"),
        (f"FAMILIES = {{'f': ({TWO_ARMS}, (40,), '')}}", "the family 'f' is .*, of type tuple; it must be a Family"),
        ("FAMILIES = {'f': Family(bai.GaussianBandits([1, 0], [1, 1]), (40,), '')}", "make of the family 'f' is"),
        (f"FAMILIES = {{'f': Family({TWO_ARMS}, 40, '')}}", "budgets of the family 'f' is 40, of type int"),
        (f"FAMILIES = {{'f': Family({TWO_ARMS}, (40, 0.5), '')}}", "a budget of the family 'f' is 0.5; it must be"),
        (f"FAMILIES = {{'f': Family({TWO_ARMS}, (1,), '')}}", r"'f' has budgets \[1\] for 2 arms; give one"),
        ("FAMILIES = {'f': Family(lambda runs, seed: [1, 0], (40,), '')}", "what make of the family 'f' returns is"),
        (
            "FAMILIES = {'f': Family(lambda runs, seed: bai.GaussianBandits([[1, 0]], [[1, 1]]), (40,), '')}",
            "make of the family 'f' returns 1 runs if asked for 2; hand its argument runs on",
        ),
        (
            "FAMILIES = {'f': Family(lambda runs, seed: bai.GaussianBandits([1, 0], [1, 1, 1], runs=runs), (40,), '')}",
            r"variances has shape \(1, 3\) but means has shape \(1, 2\)",
        ),
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_played_is_refused_before_anything_is_played(text, said, tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + text)
    with pytest.raises(SystemExit, match=f"error: .*{said}"):
        leaderboard.main([str(tmp_path / "board"), "--anew", "--runs", "3", "--enter", str(tmp_path / "mine.py")])
    assert not list((tmp_path / "board").glob("*.csv"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no/x"], "is not a folder"),
        (["--anew", "--runs", "0"], "runs is 0"),
        (["--enter", "empty.py"], "empty.py defines neither FAMILIES nor POLICIES"),
        (["--enter", "none.py"], "none.py"),
    ],
)
def test_the_command_refuses_what_it_cannot_do_in_one_sentence(arguments, said, tmp_path, monkeypatch):
    (tmp_path / "empty.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=f"^error: .*{said}"):
        leaderboard.main(arguments)


def test_the_command_ends_with_status_1_and_without_a_traceback(tmp_path):
    command = [sys.executable, "-m", "bai.book.leaderboard", str(tmp_path / "no" / "x")]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.startswith("error: ")
    assert "Traceback" not in run.stderr
