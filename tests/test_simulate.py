"""Simulation, sweeps and statistics: the same bits everywhere, honest intervals, tidy tables."""

import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from problems import POLICIES
from scipy.stats import binomtest, norm

import bai
from bai import bars, plots
from bai.play import BLOCK
from bai.stats import Paired

matplotlib.use("Agg")


def assert_same(one, other):
    np.testing.assert_array_equal(one.pulls, other.pulls)
    np.testing.assert_array_equal(one.recommended, other.recommended)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_same_seed_gives_the_same_bits_with_any_number_of_threads(policy):
    bandits = bai.synthetic(8, 2 * BLOCK + 17, seed=1)
    plays = [bai.simulate(policy, bandits, 200, seed=2)]
    for threads in (1, 2, 5):
        with ThreadPoolExecutor(threads) as executor:
            plays.append(bai.simulate(policy, bandits, 200, seed=2, executor=executor))
    for other in plays[1:]:
        assert_same(plays[0], other)
    assert (bai.simulate(policy, bandits, 200, seed=3).recommended != plays[0].recommended).any()


def test_processes_give_the_same_bits_as_threads():
    bandits = bai.synthetic(8, 2 * BLOCK, seed=4)
    here = bai.simulate(bai.SHAdaVar(), bandits, 300, seed=5)
    with ProcessPoolExecutor(2) as executor:
        assert_same(here, bai.simulate(bai.SHAdaVar(), bandits, 300, seed=5, executor=executor))


def test_another_process_gives_the_same_bits():
    code = (
        "import bai; out = bai.simulate(bai.GapEV(), bai.synthetic(8, 700, seed=6), 300, seed=7); "
        "print(out.recommended.tolist() == eval(input()))"
    )
    mine = bai.simulate(bai.GapEV(), bai.synthetic(8, 700, seed=6), 300, seed=7).recommended.tolist()
    said = subprocess.run([sys.executable, "-c", code], input=str(mine), text=True, capture_output=True, check=True)
    assert said.stdout.strip() == "True"


def test_a_block_does_not_depend_on_the_runs_after_it():
    bandits = bai.synthetic(4, 2 * BLOCK, seed=8)
    whole = bai.simulate(bai.SHAdaVar(), bandits, 200, seed=9)
    part = bai.simulate(bai.SHAdaVar(), bandits.select(slice(0, BLOCK)), 200, seed=9)
    np.testing.assert_array_equal(whole.pulls[:BLOCK], part.pulls)


def test_arms_arrive_in_random_order_so_leftover_pulls_favour_no_position():
    bandits = bai.GaussianBandits([1.0, 1.0, 1.0, 1.0, 1.0], [0.0] * 5, runs=5000)
    out = bai.simulate(bai.Unif(), bandits, 7, seed=10)
    extra = (out.pulls == 2).sum(axis=0)
    assert extra.sum() == 2 * 5000
    assert abs(extra / 5000 - 0.4).max() < 6 * np.sqrt(0.4 * 0.6 / 5000)  # false alarms below 1e-8
    named = np.bincount(out.recommended, minlength=5) / 5000
    assert abs(named - 0.2).max() < 6 * np.sqrt(0.2 * 0.8 / 5000)


def test_shvar_is_told_which_arm_is_noisy_wherever_it_stands():
    bandits = bai.GaussianBandits([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], runs=50)
    out = bai.simulate(bai.SHVar(), bandits, 40, seed=11)
    assert (out.pulls[:, 0] >= 17).all()  # of the 20 pulls of the first stage; the others get one each


def test_a_mistake_is_judged_by_the_mean_so_equal_best_arms_are_both_right():
    bandits = bai.TableBandits([[1.0, 1.0], [0.0, 0.0]], np.tile([0, 1, 0], (50, 1)))
    out = bai.simulate(bai.SH(), bandits, 12, seed=11)
    assert set(out.recommended.tolist()) == {0, 2}
    assert not out.mistakes.any()
    assert out.mistake_rate == 0


def test_a_mistake_is_one_however_small_the_shortfall():
    out = bai.simulate(bai.Unif(), bai.GaussianBandits([1.0, 1.0 - 1e-12], [1.0, 1.0], runs=50), 2, seed=11)
    np.testing.assert_array_equal(out.mistakes, out.recommended == 1)
    assert 0 < out.mistakes.sum() < 50


def test_regret_is_the_shortfall_of_the_named_arm():
    out = bai.simulate(bai.Unif(), bai.GaussianBandits([1.0, 0.75, 0.0], [9.0, 9.0, 9.0], runs=500), 3, seed=12)
    np.testing.assert_allclose(out.regret, np.array([0.0, 0.25, 1.0])[out.recommended])
    np.testing.assert_array_equal(out.mistakes, out.recommended != 0)


def test_a_replay_needs_as_many_rewards_as_the_budget():
    bandits = bai.ReplayBandits(np.ones((1, 2, 9)), [[1, 0]], [[1, 1]])
    assert bai.simulate(bai.Unif(), bandits, 9, seed=0).pulls.sum() == 9
    with pytest.raises(ValueError, match="budget is 10, but the stacks hold 9"):
        bai.simulate(bai.Unif(), bandits, 10, seed=0)


def test_table_rewards_are_resampled_with_equal_chances():
    table = np.array([[0.0, 0.0, 0.0, 1.0], [0.3, 0.3, 0.3, 0.3]])
    out = bai.simulate(bai.Unif(), bai.TableBandits(table, np.tile([0, 1], (40_000, 1))), 4, seed=13)
    # Arm 0 is pulled twice and wins if it shows a one at all: 1 - (3/4)^2.
    assert binomtest(int((out.recommended == 0).sum()), 40_000, 1 - 0.75**2).pvalue > 1e-6


def test_synthetic_is_section_5_1():
    n_arms, runs = 10, 20_000
    for best_arm, noisy in (("noisy", 0), ("quiet", 1)):
        bandits = bai.synthetic(n_arms, runs, seed=14, best_arm=best_arm)
        nominal = 1 - np.sqrt(np.arange(n_arms) / n_arms)
        variances = np.where(np.arange(n_arms) % 2 == noisy, 0.9 * nominal**2 + 0.1, 0.1)
        # Sorting undoes the random order for sums over arms: compare moments of the whole instance.
        assert bandits.means.mean() == pytest.approx(nominal.mean(), abs=5 * 0.05 / np.sqrt(runs * n_arms))
        assert bandits.variances.mean() == pytest.approx(variances.mean(), rel=0.01)
        assert (bandits.means**2).mean() == pytest.approx((nominal**2).mean() + 0.05**2, rel=0.01)
        pairs = (bandits.means * bandits.variances).mean()  # of a mean and its own variance
        assert pairs == pytest.approx((nominal * variances).mean(), rel=0.01)
        assert bandits.variances.max() <= 1.5 * variances.max()
        assert bandits.variances.min() >= 0.5 * variances.min()
        assert len(set(bandits.best[:200].tolist())) == n_arms  # random order
    assert not np.array_equal(bandits.means[0], bandits.means[1])  # a new instance in each run
    np.testing.assert_array_equal(bandits.means, bai.synthetic(n_arms, runs, seed=14, best_arm="quiet").means)


# --- sweep -----------------------------------------------------------------------------------------------


def test_a_sweep_row_equals_the_simulation_it_stands_for():
    problems = {"a": bai.synthetic(4, 700, seed=15), "b": bai.synthetic(8, 300, seed=16)}
    table = bai.sweep([bai.SH(), bai.SHAdaVar(reuse=True)], problems, [100, 200], seed=17)
    assert list(table.columns) == [
        "policy", "problem", "n_arms", "budget", "runs", "mistakes", "mistake_rate", "low", "high",
        "regret", "regret_error", "seconds",
    ]  # fmt: skip
    assert len(table) == 8
    policies = {"SH": bai.SH(), "SHAdaVar(reuse=True)": bai.SHAdaVar(reuse=True)}
    for row in table.itertuples():
        out = bai.simulate(policies[row.policy], problems[row.problem], row.budget, seed=17)
        assert row.mistakes == out.mistakes.sum()
        assert (row.low, row.high) == out.interval
        assert row.runs == out.mistakes.size
        assert row.regret == pytest.approx(out.regret.mean(), rel=1e-12)
        assert row.regret_error == pytest.approx(out.regret.std() / np.sqrt(row.runs), rel=1e-9)
        np.testing.assert_array_equal(table.run_mistakes(row.policy, row.problem, row.budget), out.mistakes)
    assert (table["seconds"] > 0).all()


def test_a_table_pairs_the_runs_of_two_policies():
    problem = bai.synthetic(8, BLOCK + 100, seed=26)
    first, second = bai.SH(), bai.SHVar(reuse=True)
    table = bai.sweep([first, second], problem, [100, 200], seed=27)
    mistakes = [bai.simulate(policy, problem, 200, seed=27).mistakes for policy in (first, second)]
    assert table.paired(first, "SHVar(reuse=True)", budget=200) == bai.paired(*mistakes)
    assert table.paired(first, second, "problem", 200).only_first > 0
    one = bai.sweep([first, second], problem, 200, seed=27)
    assert one.paired(first, second) == bai.paired(*mistakes)
    for column in table:  # what is done to the frame in place does not mix up the runs
        table[column] = table[column].to_numpy()[::-1]
    assert table.paired(first, second, budget=200) == bai.paired(*mistakes)
    assert pickle.loads(pickle.dumps(table)).paired(first, second, budget=200) == bai.paired(*mistakes)


def test_a_table_can_be_pickled_without_its_problems():
    table = bai.sweep(bai.SH(), lambda runs, seed: bai.synthetic(64, runs, seed), 400, seed=27, runs=2 * BLOCK)
    stored = pickle.dumps(table)
    assert len(stored) < 20_000
    np.testing.assert_array_equal(pickle.loads(stored).run_mistakes("SH"), table.run_mistakes("SH"))


def test_runs_that_are_not_the_same_are_not_paired():
    calls = {}

    def fails_at_last(runs, seed):
        calls[seed] = calls.get(seed, 0) + 1
        if calls[seed] > 2:  # the first two are for a look at the arms and for the first policy
            raise LookupError("no more")
        return bai.synthetic(4, runs, seed)

    with pytest.raises(RuntimeError) as caught, ThreadPoolExecutor(1) as executor:
        bai.sweep([bai.SH(), bai.SR()], fails_at_last, 50, seed=28, runs=BLOCK, executor=executor)
    assert caught.value.table["runs"].tolist() == [BLOCK, 0]
    with pytest.raises(ValueError, match=f"SH has {BLOCK} runs and SR 0, and they are not all the same"):
        caught.value.table.paired("SH", "SR")


def test_a_mapping_names_the_policies_and_two_of_a_kind_may_differ_in_name_only():
    problem = bai.synthetic(4, 100, seed=28)
    table = bai.sweep({"a": bai.SH(), "again": bai.SH()}, problem, 50, seed=29)
    assert table["policy"].tolist() == ["a", "again"]
    assert table.paired("a", "again").only_first == table.paired("again", "a").only_first == 0


def test_budgets_and_policies_may_be_any_finite_collection():
    problem = bai.synthetic(4, 20, seed=30)
    expected = bai.sweep([bai.SH(), bai.SR()], problem, [50, 60], seed=31).drop(columns="seconds")
    for policies, budgets in (
        ((bai.SH(), bai.SR()), (n for n in (50, 60))),
        (iter([bai.SH(), bai.SR()]), np.array([50, 60], np.int16)),
        ({"SH": bai.SH(), "SR": bai.SR()}, pd.Series([50.0, 60.0])),
        ({bai.SH(): 1, bai.SR(): 2}.keys(), {50: 1, 60: 2}.keys()),
    ):
        table = bai.sweep(policies, problem, budgets, seed=31)
        pd.testing.assert_frame_equal(table.drop(columns="seconds"), expected)
    table = bai.sweep(bai.SH(), problem, {50, 60}, seed=31)
    assert sorted(table["budget"]) == [50, 60]


def test_sweeps_are_alike_on_threads_and_processes():
    problem = bai.synthetic(4, 1200, seed=18)
    one = bai.sweep(bai.SHVar(), problem, 100, seed=19)
    with ProcessPoolExecutor(2) as executor:
        other = bai.sweep([bai.SHVar()], {"problem": problem}, [100], seed=19, executor=executor)
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"))


@pytest.mark.parametrize("environment, delays", [({}, []), ({"JPY_SESSION_NAME": "a.ipynb"}, [5])])
def test_a_long_study_shows_a_bar_in_jupyter_and_none_where_a_program_runs_it(environment, delays, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    seen = []
    monkeypatch.setattr("tqdm.auto.tqdm", lambda **options: seen.append(options["delay"]) or nullcontext())
    bai.sweep(bai.SH(), bai.synthetic(4, 100, seed=21), 100, seed=21)
    assert list(bars.watch("ab")) == ["a", "b"]
    assert seen == 2 * delays


def test_progress_is_shown_when_asked_for_and_only_then(capsys):
    problem = bai.synthetic(4, 600, seed=20)
    bai.sweep(bai.SH(), problem, 100, seed=21, progress=False)
    assert capsys.readouterr().err == ""
    bai.sweep(bai.SH(), problem, 100, seed=21, progress=True)
    assert "600" in capsys.readouterr().err


# --- statistics and plots --------------------------------------------------------------------------------


@pytest.mark.parametrize("mistakes, runs", [(0, 10), (3, 50), (50, 50), (250, 5000)])
def test_wilson_agrees_with_scipy(mistakes, runs):
    expected = binomtest(mistakes, runs).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose(bai.wilson(mistakes, runs), (expected.low, expected.high), atol=1e-12)


def test_an_interval_ends_at_zero_without_mistakes_and_at_one_without_anything_else():
    runs = np.arange(1, 300)
    for interval in (bai.wilson, bai.clopper_pearson):
        (low, _), (_, high) = interval(0 * runs, runs), interval(runs, runs)
        assert (low == 0).all()
        assert (high == 1).all()


def test_paired_test_agrees_with_the_exact_mcnemar_test():
    rng = np.random.default_rng(22)
    first, second = rng.random(500) < 0.3, rng.random(500) < 0.2
    result = bai.paired(first, second)
    alone = result.only_first + result.only_second
    assert result.p_value == pytest.approx(binomtest(result.only_first, alone).pvalue)
    assert result.difference == pytest.approx(first.mean() - second.mean())
    spread = np.std(first.astype(float) - second.astype(float))
    assert result.standard_error == pytest.approx(spread / np.sqrt(500))
    assert Paired(0, 0, 10).p_value == 1.0


def test_outcome_reports_rate_and_interval():
    out = bai.simulate(bai.Unif(), bai.GaussianBandits([1.0, 0.0], [1.0, 1.0], runs=2000), 8, seed=23)
    assert binomtest(int(out.mistakes.sum()), 2000, norm.sf(1 / np.sqrt(0.5))).pvalue > 1e-6
    assert out.mistake_rate == out.mistakes.mean()
    assert out.interval == tuple(float(end) for end in bai.wilson(out.mistakes.sum(), 2000))
    assert f"{out.mistake_rate:.4f}" in repr(out)


def test_curves_draw_one_line_with_intervals_per_policy():
    table = bai.sweep([bai.SH(), bai.SHVar()], bai.synthetic(4, 200, seed=24), [50, 100], seed=25)
    ax = bai.plots.mistake_curves(table, ax=plt.figure().gca())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["SH", "SHVar"]
    assert len(ax.containers) == 2
    heights = np.asarray(ax.containers[0].lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(heights, table["mistake_rate"].to_numpy()[:2])
    ends = np.array([segment[:, 1] for segment in ax.containers[0].lines[2][0].get_segments()])
    np.testing.assert_allclose(ends, table[["low", "high"]].to_numpy()[:2])


def test_curves_run_from_left_to_right_whatever_the_order_of_the_budgets():
    table = bai.sweep(bai.SH(), bai.synthetic(4, 200, seed=24), [100, 50], seed=25)
    ax = bai.plots.mistake_curves(table, ax=plt.figure().gca())
    assert ax.containers[0].lines[0].get_xdata().tolist() == [50, 100]


def test_variants_look_like_their_policy():
    for policy in POLICIES:
        assert plots.policy_style(policy) == plots.policy_style(str(policy)) == type(policy).style
        assert plots.policy_style(f"{policy.name}, kept") == type(policy).style


@pytest.mark.parametrize("name", ["Magic", "", "SHVarX", "A policy, with commas", "Häufigste (mine)"])
def test_a_name_that_is_not_of_the_package_has_a_style_of_its_own_and_always_the_same(name):
    style = plots.policy_style(name)
    assert style == plots.policy_style(name)
    assert style["marker"] not in {cls.style["marker"] for cls in bai.REGISTRY + bai.FIELD}
    assert sorted(style) == ["color", "linestyle", "marker"]
    plt.figure().gca().plot([0, 1], [0, 1], **style)


def test_panels_that_share_a_scale_are_not_drawn_before_they_are_shown():
    """matplotlib would draw the figure anew at every change of a scale that two parts of it share."""
    left, right = plots.panels(2, sharey=True)
    drawn = []
    figure = plt.gcf()
    figure.draw = lambda renderer: drawn.append(renderer)
    for ax in (left, right):
        ax.plot([0, 1], [0, 3])
        ax.set_ylim(0, 2)
    assert drawn == [] and right.get_ylim() == (0, 2)
    plt.close(figure)
