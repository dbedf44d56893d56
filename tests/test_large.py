"""Large studies: any executor, interruptions of every kind, precision on demand, and very small rates."""

import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import binom, binomtest, norm

import bai
from bai import conditional, variance_bounds
from bai.conditional import elimination_chances
from bai.play import BLOCK
from bai.study import FIRST_LOOK, LOOK_CONFIDENCE

ENSEMBLE = bai.synthetic(8, 2 * BLOCK + 100, seed=1)
ONE = bai.GaussianBandits([1.0, 0.8, 0.5], [1.0, 0.5, 2.0], runs=3 * BLOCK + 1)
PROBLEMS = {"many": ENSEMBLE, "one": ONE, "made": partial(bai.synthetic, 8)}
POLICIES = [bai.SH(), bai.SHAdaVar()]
N_BLOCKS = 2 * 2 * (3 + 4 + 4)


def study(policies=None, problems=PROBLEMS, budgets=(100, 300), seed=2, runs=3 * BLOCK + 7, **more):
    table = bai.sweep(POLICIES if policies is None else policies, problems, budgets, seed, runs=runs, **more)
    assert (table["seconds"] > 0).all()
    return comparable(table)


def comparable(table):
    """Return a table without its times and with the mistakes of every run as bytes."""
    rows = zip(table["policy"], table["problem"], table["budget"], strict=True)
    return table.drop(columns="seconds").assign(bits=[table.run_mistakes(*row).tobytes() for row in rows])


@pytest.fixture(scope="module")
def expected():
    return study()


def kept(file):
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT count(*) FROM blocks").fetchone()[0]


def assert_same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True)


# --- who plays makes no difference -----------------------------------------------------------------------


def test_a_row_is_the_simulation_of_its_problem_and_a_function_gives_the_same_instances_to_all(expected):
    rows = expected.set_index(["policy", "problem", "budget"])
    out = bai.simulate(bai.SHAdaVar(), ONE, 300, seed=2)
    assert rows.loc[("SHAdaVar", "one", 300), "mistakes"] == out.mistakes.sum()
    asked = []

    def maker(runs, seed):
        asked.append((runs, seed))
        return bai.synthetic(8, runs, seed)

    assert_same(study(problems={"made": maker}), expected[expected["problem"] == "made"].reset_index(drop=True))
    assert sorted(runs for runs, _ in set(asked)) == [7, BLOCK, BLOCK, BLOCK]  # four blocks, whoever plays them
    assert len({seed for _, seed in asked}) == 4


@pytest.mark.parametrize("pool", [partial(ThreadPoolExecutor, 3), partial(ProcessPoolExecutor, 2)], ids=["3", "proc"])
def test_threads_and_processes_give_the_same_bits(pool, expected, tmp_path):
    with pool() as executor:
        assert_same(study(executor=executor, checkpoint=tmp_path / "a.db"), expected)
    assert kept(tmp_path / "a.db") == N_BLOCKS


@dataclass(frozen=True)
class Slow(bai.SH):
    """Counts how many of its blocks are played at the same time."""

    playing, most = [], []

    def play(self, *args):
        self.playing.append(1)
        self.most.append(len(self.playing))
        time.sleep(0.02)
        super().play(*args)
        self.playing.pop()


def test_enough_jobs_go_out_for_many_workers():
    with ThreadPoolExecutor(24) as executor:
        bai.sweep(Slow(), bai.synthetic(4, 200 * BLOCK, seed=0), 100, seed=0, executor=executor)
    assert max(Slow.most) >= 12


# --- interruptions ---------------------------------------------------------------------------------------


def test_a_study_killed_twenty_times_ends_with_the_same_bits(tmp_path):
    script = Path(__file__).with_name("killed_study.py")
    said = subprocess.run(
        [sys.executable, script, tmp_path / "study.db", "20"], capture_output=True, text=True, check=True
    )
    kills, blocks, right = said.stdout.splitlines()
    in_the_middle = {int(count) for count in kills.split() if 0 < int(count) < int(blocks)}
    assert len(kills.split()) == 20
    assert len(in_the_middle) >= 5, kills
    assert right == "True"


class Interrupted(ThreadPoolExecutor):
    """Ctrl-C comes while the sixth job goes out."""

    def submit(self, *args):
        self.jobs = getattr(self, "jobs", 0) + 1
        if self.jobs == 6:
            raise KeyboardInterrupt
        return super().submit(*args)


def test_after_ctrl_c_the_same_call_goes_on_and_the_table_so_far_is_there(expected, tmp_path):
    file = tmp_path / "study.db"
    with pytest.raises(KeyboardInterrupt) as caught, Interrupted(1) as executor:
        study(executor=executor, checkpoint=file)
    assert 0 < kept(file) < N_BLOCKS
    assert f"{kept(file)} blocks are kept in '{file}'" in caught.value.__notes__[0]
    table = bai.read_checkpoint(file)
    assert_same(comparable(caught.value.table), comparable(table))
    assert table["runs"].sum() < expected["runs"].sum()
    unknown = ["mistake_rate", "low", "high", "regret", "regret_error"]
    assert table.loc[table["runs"] == 0, unknown].isna().all(axis=None)
    assert_same(study(checkpoint=file), expected)
    assert_same(comparable(bai.read_checkpoint(file)), expected)


@dataclass(frozen=True)
class Deadly(bai.SH):
    """Ends the process that plays it where a mean is marked."""

    def play(self, rewards, *args):
        if (rewards.loc > 50).any():
            os._exit(1)
        super().play(rewards, *args)


def marked(run):
    means = ENSEMBLE.means.copy()
    means[run, 0] = 99.0
    return bai.GaussianBandits(means, ENSEMBLE.variances)


def test_a_worker_that_dies_costs_nothing_that_was_finished(tmp_path):
    file, problem = tmp_path / "study.db", marked(2 * BLOCK + 1)
    with ProcessPoolExecutor(1) as executor, pytest.raises(BrokenExecutor, match=r"(?s).") as caught:
        bai.sweep(Deadly(), problem, 100, seed=2, executor=executor, checkpoint=file)
    assert "the same call goes on" in caught.value.__notes__[0]
    assert kept(file) == caught.value.table["runs"].sum() / BLOCK


def test_a_full_disk_costs_nothing_that_was_finished(tmp_path):
    file = tmp_path / "study.db"
    code = (
        "import resource, signal, sys, bai; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "bai.sweep(bai.SH(), bai.GaussianBandits([1, 0], [1, 1], runs=500_000), 10, seed=0, checkpoint=sys.argv[1])"
    )
    assert resource.RLIMIT_FSIZE  # a limit on the size of files stands for the end of the disk
    run = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "OSError: checkpoint" in run.stderr
    assert "make room" in run.stderr
    assert "blocks are kept" in run.stderr
    assert 0 < kept(file) < 1000
    problem = bai.GaussianBandits([1, 0], [1, 1], runs=500_000)
    table = bai.sweep(bai.SH(), problem, 10, seed=0, checkpoint=file)
    assert table["mistakes"][0] == bai.sweep(bai.SH(), problem, 10, seed=0)["mistakes"][0]
    assert kept(file) == 1000


@dataclass(frozen=True)
class Failing(bai.SH):
    """Fails where a mean is marked."""

    def play(self, rewards, *args):
        if (rewards.loc > 50).any():
            raise ArithmeticError("the marked arm")
        super().play(rewards, *args)


def test_a_block_that_fails_is_named_and_the_others_are_kept(tmp_path):
    file = tmp_path / "study.db"
    problems = {"good": ENSEMBLE, "bad": marked(BLOCK + 3)}
    with pytest.raises(RuntimeError) as caught:
        bai.sweep([Failing(), bai.SHVar()], problems, 100, seed=2, checkpoint=file)
    assert "SH on 'bad' with budget 100 failed in block 1 (runs 500 to 999)" in str(caught.value)
    assert "ArithmeticError: the marked arm" in str(caught.value)
    assert "play_block" in caught.value.__notes__[0]  # where it happened
    table = caught.value.table
    assert table["runs"].tolist() == [1100, 600, 1100, 1100]
    assert kept(file) == 11
    assert table["mistakes"][0] == bai.simulate(bai.SH(), ENSEMBLE, 100, seed=2).mistakes.sum()


def test_a_function_that_fails_in_many_blocks_is_counted():
    def maker(runs, seed):
        if runs < BLOCK or seed % 2:
            raise LookupError("no such instance")
        return bai.synthetic(4, runs, seed)

    with pytest.raises(RuntimeError, match=r"SH on 'problem' with budget 50 failed in block .*other blocks failed"):
        bai.sweep(bai.SH(), maker, 50, seed=2, runs=9 * BLOCK + 1)


# --- the file --------------------------------------------------------------------------------------------


def changed(**values):
    return lambda file: study(**({"checkpoint": file} | values))


def rewrite(*statements):
    def change(file):
        with closing(sqlite3.connect(file)) as connection, connection:
            for statement in statements:
                connection.execute(statement)
        study(checkpoint=file)

    return change


def overwrite(content):
    def change(file):
        file.write_bytes(content(file.read_bytes()))
        study(checkpoint=file)

    return change


REFUSED = {
    "seed": (changed(seed=3), "seed there 2, here 3", "new file"),
    "policy": (changed(policies=[bai.SH(), bai.SHAdaVar(delta=0.1)]), "policies there", "new file"),
    "budget": (changed(budgets=[100]), "budgets there [100, 300], here [100]", "new file"),
    "names": (changed(problems={"only": ENSEMBLE}, runs=None), "problems there ['many', 'one', 'made']", "new file"),
    "arms": (changed(problems=PROBLEMS | {"many": marked(0)}), "problem 'many' has other arms", "new file"),
    "maker": (changed(problems=PROBLEMS | {"made": partial(bai.synthetic, 9)}), "problem 'made' has other", "new file"),
    "text": (overwrite(lambda old: b"runs,mistakes\n" * 99), "is not a checkpoint (file is not a database)", "copy"),
    "cut": (overwrite(lambda old: old[: len(old) // 2]), "is damaged", "from a copy"),
    "other program": (rewrite("PRAGMA application_id = 0"), "made by another program", "new file"),
    "format": (rewrite("PRAGMA user_version = 7"), "its format is 7", "new file"),
    "edited": (
        rewrite("UPDATE blocks SET mistakes = 0 WHERE block = 1"),
        "block 1 has a wrong checksum",
        "from a copy",
    ),
    "moved": (rewrite("UPDATE blocks SET block = 9 WHERE block = 1"), "block 9 has a wrong checksum", "from a copy"),
    "unnamed": (rewrite("DELETE FROM study"), "does not name its study", "new file"),
    "renamed": (rewrite("UPDATE study SET description = '{'"), "is damaged", "new file"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    file = tmp_path_factory.mktemp("finished") / "study.db"
    study(checkpoint=file)
    return file.read_bytes()


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_of_another_study_or_a_damaged_one_is_refused_with_the_remedy(case, finished, tmp_path):
    change, names, remedy = REFUSED[case]
    file = tmp_path / "study.db"
    file.write_bytes(finished)
    with pytest.raises(ValueError) as caught:
        change(file)
    assert str(file) in str(caught.value)
    assert names in str(caught.value)
    assert remedy in str(caught.value)


def test_a_file_of_another_version_is_refused(finished, tmp_path, monkeypatch):
    file = tmp_path / "study.db"
    file.write_bytes(finished)
    monkeypatch.setattr(np, "__version__", "9.9")
    with pytest.raises(ValueError, match=r"numpy there .*, here 9\.9"):
        study(checkpoint=file)


def test_no_changed_byte_changes_a_number(finished, expected, tmp_path):
    rng = np.random.default_rng(4)
    file, refused = tmp_path / "study.db", 0
    for _ in range(60):
        spoilt = bytearray(finished)
        spoilt[rng.integers(len(spoilt))] ^= 1 << rng.integers(8)
        file.write_bytes(spoilt)
        try:
            assert_same(study(checkpoint=file), expected)
        except (ValueError, OSError):
            refused += 1
    assert refused > 0


def test_a_file_can_be_used_again_for_more_runs(expected, tmp_path):
    file = tmp_path / "study.db"
    study(checkpoint=file, runs=BLOCK + 1)
    before = kept(file)
    assert_same(study(checkpoint=file), expected)
    assert kept(file) == N_BLOCKS
    assert_same(study(checkpoint=file, runs=BLOCK), study(runs=BLOCK))  # and for fewer
    assert before == 2 * 2 * (3 + 4 + 2)


def test_the_description_of_a_study_is_readable(finished, tmp_path):
    file = tmp_path / "study.db"
    file.write_bytes(finished)
    with closing(sqlite3.connect(file)) as connection:
        (text,) = connection.execute("SELECT description FROM study").fetchone()
    assert json.loads(text)["policies"] == {str(policy): repr(policy) for policy in POLICIES}


# --- precision on demand ---------------------------------------------------------------------------------


def test_until_stops_when_every_interval_is_narrow_and_no_look_earlier():
    problems = {"many": ENSEMBLE, "one": ONE, "made": partial(bai.synthetic, 8)}
    table = bai.sweep(bai.SH(), problems, [50, 400], seed=5, runs=bai.Until(0.01))
    assert ((table["high"] - table["low"]) / 2 <= 0.01).all()
    low, _ = bai.clopper_pearson(table["mistakes"], table["runs"], LOOK_CONFIDENCE)
    np.testing.assert_array_equal(table["low"], low)
    first = {"many": 5500, "one": 4 * ONE.runs, "made": FIRST_LOOK}  # whole rounds of at least 5,000 runs
    rounds = table["runs"] / table["problem"].map(first)
    assert set(rounds) == {1, 4}
    earlier = bai.clopper_pearson((table["mistakes"] / 2).astype(int), table["runs"] // 2, LOOK_CONFIDENCE)
    assert ((earlier[1] - earlier[0])[rounds > 1] / 2 > 0.0095).all()  # with half the runs it was too wide


def test_an_ensemble_that_is_played_again_sees_fresh_rewards():
    problem = bai.synthetic(8, FIRST_LOOK, seed=6)
    often = bai.sweep(bai.SH(), problem, 50, seed=7, runs=bai.Until(0.01))
    once = bai.sweep(bai.SH(), problem, 50, seed=7)
    rounds = often["runs"][0] // once["runs"][0]
    assert rounds > 1
    assert 0 < abs(often["mistakes"][0] - rounds * once["mistakes"][0]) < 6 * rounds * np.sqrt(FIRST_LOOK / 4)


def test_until_goes_on_from_a_wider_study(tmp_path):
    file, problem = tmp_path / "study.db", partial(bai.synthetic, 8)
    bai.sweep(bai.SH(), problem, 50, seed=5, runs=bai.Until(0.02), checkpoint=file)
    assert kept(file) == FIRST_LOOK // BLOCK
    going_on = bai.sweep(bai.SH(), problem, 50, seed=5, runs=bai.Until(0.01), checkpoint=file)
    straight = bai.sweep(bai.SH(), problem, 50, seed=5, runs=bai.Until(0.01))
    assert_same(comparable(going_on), comparable(straight))
    assert kept(file) == straight["runs"][0] // BLOCK > FIRST_LOOK // BLOCK


def least(holds, most, size):
    """For each entry the least number up to `most` from which on it holds; one more, if it never does."""
    low, high = np.zeros(size, int), np.full(size, most + 1)
    while (low < high).any():
        middle = (low + high) // 2
        yes = holds(np.minimum(middle, most)) | (middle > most)
        low, high = np.where(yes, low, middle + 1), np.where(yes, middle, high)
    return low


def miss_probability(p, until, first):
    """Sum over looks of the probability to stop there with an interval that misses p: an upper bound, exact terms.

    The look is reached only if the one before it was too wide, so neither probability can be exceeded.
    """
    total, going, n = np.zeros_like(p), np.ones_like(p), first
    while going.max() > 1e-12:

        def ends(x, n=n):
            return bai.clopper_pearson(x, n, LOOK_CONFIDENCE)

        def wide(x, ends=ends):
            low, high = ends(x)
            return (high - low) / 2 > until

        # It stops with at most so many mistakes, or n minus so many: the interval is widest in the middle.
        few = int(least(wide, n // 2, 1)[0]) - 1 if wide(n // 2) else n
        first_in = least(lambda x, ends=ends: ends(x)[1] >= p, n, p.size)
        last_in = least(lambda x, ends=ends: ends(x)[0] > p, n, p.size) - 1
        below = binom.cdf(np.minimum(first_in - 1, few), n, p)
        above = np.maximum(0, binom.cdf(few, n, p) - binom.cdf(last_in, n, p))
        many = binom.sf(np.maximum(last_in, n - few - 1), n, p) * (few < n)  # p <= 1/2: misses up there are above
        total += np.minimum(going, below + above + many)
        going = np.zeros_like(p) if few == n else binom.sf(few, n, p) - binom.sf(n - few - 1, n, p)
        n *= 2
    return total


@pytest.mark.parametrize("until, first", [(0.02, 500), (0.01, 5000), (0.005, 7100), (0.001, 500), (0.004, 700)])
def test_the_interval_of_until_covers_with_95_per_cent(until, first):
    rates = np.geomspace(until / 50, min(0.5, 40 * until), 300)
    worst = miss_probability(rates, until, first).max()
    assert 0.015 < worst < 0.05


@pytest.mark.parametrize("mistakes, runs", [(0, 10), (3, 50), (50, 50), (250, 5000)])
def test_clopper_pearson_agrees_with_scipy(mistakes, runs):
    expected = binomtest(mistakes, runs).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(bai.clopper_pearson(mistakes, runs), (expected.low, expected.high), atol=1e-12)


# --- very small rates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.3, 1, 3, 8, 20, 35])
@pytest.mark.parametrize("sd", [(1.0, 0.3), (0.3, 1.0), (1.0, 0.001), (0.001, 1.0)])
def test_chances_of_two_arms_are_the_normal_tail(gap, sd):
    chance = elimination_chances(np.array([[gap, 0.0]]), np.array([sd]), np.array([0]), 1)[0]
    assert chance == pytest.approx(norm.sf(gap / np.hypot(*sd)), rel=1e-9, abs=0)


def test_chances_of_many_arms_agree_with_draws():
    rng = np.random.default_rng(8)
    means, spread = np.sort(rng.normal(size=7))[::-1], rng.uniform(0.2, 2, 7)
    drawn = means + spread * rng.normal(size=(100_000, 7))
    above = (drawn[:, 1:] > drawn[:, :1]).sum(axis=1)
    for survivors in (1, 2, 4):
        chance = elimination_chances(np.array([means]), np.array([spread]), np.array([0]), survivors)[0]
        assert binomtest(int((above >= survivors).sum()), 100_000, chance).pvalue > 1e-6


def test_chances_are_the_same_without_the_compiler(monkeypatch):
    rng = np.random.default_rng(14)
    arms = rng.normal(size=(2, 5)), 10 ** rng.uniform(-2, 0, (2, 5))
    best = arms[0].argmax(axis=1)
    compiled = [elimination_chances(*arms, best, survivors) for survivors in (1, 3)]
    for name in ("above", "panel", "integrate"):
        monkeypatch.setattr(conditional, name, getattr(conditional, name).py_func)
    for survivors, chances in zip((1, 3), compiled, strict=True):
        np.testing.assert_allclose(elimination_chances(*arms, best, survivors), chances, rtol=1e-9)


MEANS, VARIANCES = np.array([1.0, 0.6, 0.5]), np.array([1.0, 0.5, 2.0])


def test_unif_at_one_in_ten_billion_is_the_exact_integral():
    n = 500 * 3
    out = bai.rao_blackwell(bai.Unif(), bai.GaussianBandits(MEANS, VARIANCES, runs=5), n, seed=0)
    sd = np.sqrt(VARIANCES / (n / 3))

    def density(x):
        below = norm.logcdf(x, MEANS[1:], sd[1:]).sum()
        return norm.pdf(x, MEANS[0], sd[0]) * -np.expm1(below)

    exact = quad(density, 0.5, 1.2, points=[0.7, 0.85], epsabs=0, epsrel=1e-10, limit=200)[0]
    assert 1e-11 < exact < 1e-9
    assert out.mistake_rate == pytest.approx(exact, rel=1e-8)
    assert out.standard_error < 1e-8 * exact
    assert out.interval == pytest.approx((exact, exact), rel=1e-7)


def exact_halving_of_three(n):
    """Mistake probability of SH with three arms: the first stage drops the lowest, the second compares two."""
    sd = np.sqrt(VARIANCES / (n / 2 / 3))

    def is_lowest(arm):
        others = [i for i in range(3) if i != arm]
        density = lambda x: norm.pdf(x, MEANS[arm], sd[arm]) * norm.sf(x, MEANS[others], sd[others]).prod()  # noqa: E731
        ends = MEANS[arm] + np.array([-20, 10]) * sd[arm]
        return quad(density, *ends, points=np.linspace(*ends, 29)[1:-1], epsabs=0, epsrel=1e-10, limit=500)[0]

    final = [norm.sf((MEANS[0] - MEANS[i]) / np.sqrt((VARIANCES[0] + VARIANCES[i]) / (n / 4))) for i in (1, 2)]
    return is_lowest(0) + is_lowest(2) * final[0] + is_lowest(1) * final[1]


@pytest.mark.parametrize("n", [60, 600, 1860])
def test_halving_at_one_in_ten_billion_has_an_interval_that_covers_the_exact_value(n):
    exact = exact_halving_of_three(n)
    out = bai.rao_blackwell(bai.SH(), bai.GaussianBandits(MEANS, VARIANCES, runs=20_000), n, seed=9)
    assert abs(out.mistake_rate - exact) < 5 * out.standard_error  # false alarms below 1e-6
    assert out.standard_error < 0.02 * exact
    assert (exact < 1e-9) == (n == 1860)
    assert out.largest_share < 0.01


RB_POLICIES = [
    bai.Unif(),
    bai.SH(),
    bai.SHVar(),
    bai.SHVar(variances=[1, 1, 5, 1, 1]),
    bai.SHAdaVar(),
    bai.SHAdaVar(bound=variance_bounds.PlugIn()),
    bai.SHAdaVar(bound=variance_bounds.Printed()),
    bai.SHAdaVar(bound=variance_bounds.Bernstein(span=4.0)),
]


@pytest.mark.parametrize("policy", RB_POLICIES, ids=str)
def test_chances_agree_with_plain_runs_where_both_work(policy):
    means, variances, n = [0.7, 0.5, 1.0, 0.8, 0.0], [0.1, 0.1, 1.0, 0.5, 2.0], 403  # with leftover pulls
    out = bai.rao_blackwell(policy, bai.GaussianBandits(means, variances, runs=3000), n, seed=10)
    plain = bai.simulate(policy, bai.GaussianBandits(means, variances, runs=60_000), n, seed=11)
    error = np.hypot(out.standard_error, plain.mistakes.std() / np.sqrt(60_000))
    assert abs(out.mistake_rate - plain.mistake_rate) < 5 * error
    assert out.standard_error < 0.5 * plain.mistakes.std() / np.sqrt(3000)  # the gain at the same number of runs


def test_chances_have_the_same_bits_everywhere_and_say_what_they_rest_on():
    bandits = bai.synthetic(8, BLOCK + 20, seed=12)
    out = bai.rao_blackwell(bai.SHAdaVar(), bandits, 300, seed=13)
    with ProcessPoolExecutor(1) as executor:
        other = bai.rao_blackwell(bai.SHAdaVar(), bandits, 300, seed=13, executor=executor)
    np.testing.assert_array_equal(out.chances, other.chances)
    assert out.largest_share == out.chances.max() / out.chances.sum()
    low, high = out.interval
    assert low < out.mistake_rate < high
    assert np.log(high / low) == pytest.approx(2 * 1.96 * out.standard_error / out.mistake_rate)
    assert f"{out.mistake_rate:.3g}" in repr(out)
    never = bai.Conditional(bai.SH(), 9, np.zeros(5))
    assert never.interval == (0, 0)
    assert never.largest_share == 0


# --- a person is watching --------------------------------------------------------------------------------


def test_the_bar_works_in_a_notebook(monkeypatch):
    kernels = pytest.importorskip("kernels")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setattr(kernels.local_provisioner, "launch_kernel", kernels.launch)  # a fork, which starts at once
    code = "import bai\n_ = bai.sweep(bai.SH(), bai.synthetic(4, 2000, seed=0), 100, seed=0, progress={})"
    cells = [nbformat.v4.new_code_cell(code.format(progress)) for progress in (True, None)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    shown, silent = (json.dumps(cell["outputs"]) for cell in notebook.cells)
    assert "run/s" in shown or "widget-view" in shown
    assert "Warning" not in shown
    assert silent == "[]"
