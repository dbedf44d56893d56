"""Simulation, sweeps and statistics: the same bits everywhere, honest intervals, tidy tables."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from problems import POLICIES
from scipy.stats import binomtest, norm

import bai
from bai import plots
from bai.simulate import BLOCK
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
    part = bai.simulate(bai.SHAdaVar(), bandits.part(slice(0, BLOCK)), 200, seed=9)
    np.testing.assert_array_equal(whole.pulls[:BLOCK], part.pulls)


def test_arms_arrive_in_random_order_so_leftover_pulls_favour_no_position():
    bandits = bai.GaussianBandits([1.0, 1.0, 1.0, 1.0, 1.0], [0.0] * 5, runs=5000)
    out = bai.simulate(bai.Unif(), bandits, 7, seed=10)
    extra = (out.pulls == 2).sum(axis=0)
    assert extra.sum() == 2 * 5000
    assert abs(extra / 5000 - 0.4).max() < 6 * np.sqrt(0.4 * 0.6 / 5000)  # false alarms below 1e-8
    named = np.bincount(out.recommended, minlength=5) / 5000
    assert abs(named - 0.2).max() < 6 * np.sqrt(0.2 * 0.8 / 5000)


def test_a_mistake_is_judged_by_the_mean_so_equal_best_arms_are_both_right():
    bandits = bai.TableBandits([[1.0, 1.0], [0.0, 0.0]], np.tile([0, 1, 0], (50, 1)))
    out = bai.simulate(bai.SH(), bandits, 12, seed=11)
    assert set(out.recommended.tolist()) == {0, 2}
    assert not out.mistakes.any()
    assert out.mistake_rate == 0


def test_regret_is_the_shortfall_of_the_named_arm():
    out = bai.simulate(bai.Unif(), bai.GaussianBandits([1.0, 0.75, 0.0], [9.0, 9.0, 9.0], runs=500), 3, seed=12)
    np.testing.assert_allclose(out.regret, np.array([0.0, 0.25, 1.0])[out.recommended])
    np.testing.assert_array_equal(out.mistakes, out.recommended != 0)


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
        "policy", "problem", "n_arms", "budget", "runs", "mistakes", "mistake_rate", "low", "high", "seconds",
    ]  # fmt: skip
    assert len(table) == 8
    policies = {"SH": bai.SH(), "SHAdaVar(reuse=True)": bai.SHAdaVar(reuse=True)}
    for row in table.itertuples():
        out = bai.simulate(policies[row.policy], problems[row.problem], row.budget, seed=17)
        assert row.mistakes == out.mistakes.sum()
        assert (row.low, row.high) == out.interval
        assert row.runs == out.mistakes.size
    assert (table["seconds"] > 0).all()


def test_sweeps_are_alike_on_threads_and_processes():
    problem = bai.synthetic(4, 1200, seed=18)
    one = bai.sweep(bai.SHVar(), problem, 100, seed=19)
    with ProcessPoolExecutor(2) as executor:
        other = bai.sweep([bai.SHVar()], {"problem": problem}, [100], seed=19, executor=executor)
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"))


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


def test_every_policy_has_its_own_look():
    looks = [plots.look(str(policy)) for policy in POLICIES]
    distinct = {(look["color"], look["marker"]) for look in plots.LOOKS.values()}
    assert len(distinct) == len(plots.LOOKS)
    assert all(look in plots.LOOKS.values() for look in looks)
