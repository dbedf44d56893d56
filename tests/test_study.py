"""What a sweep counts, records and stops for, on studies that take a moment."""

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from threading import Event

import numpy as np
import pandas as pd
import pytest

import bai
from bai.blocks import problem_blocks
from bai.checkpoint import BlockResult, Checkpoint
from bai.play import BLOCK, block_generator
from bai.study import BLOCK_BYTES, Totals

ARMS = bai.synthetic(4, 2 * BLOCK + 40, seed=1)
TWO = [bai.SH(), bai.SHVar()]


def study(policies=TWO, problems=ARMS, budgets=(20, 40), seed=2, **more):
    return bai.sweep(policies, problems, budgets, seed, **more)


def same(one, other):
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"), check_exact=True)


def blocks_in(file):
    with closing(Checkpoint(file)) as checkpoint:
        return checkpoint.count()


class Here(Executor):
    """Plays at once, in this thread, so that all jobs are back at the same time."""

    def submit(self, call, *args):
        future = Future()
        future.set_result(call(*args))
        return future


# --- what a row says -------------------------------------------------------------------------------------


def test_a_row_has_the_mistakes_and_the_regret_of_every_run_of_the_simulation():
    table = study(executor=Here())
    for number, (policy, budget) in enumerate((p, n) for p in TWO for n in (20, 40)):
        out, row = bai.simulate(policy, ARMS, budget, seed=2), table.loc[number]
        assert 0 < row["mistakes"] < row["runs"] == ARMS.runs
        np.testing.assert_array_equal(table.run_mistakes(policy, budget=budget), out.mistakes)
        assert row["mistakes"] == out.mistakes.sum()
        assert row["regret"] == pytest.approx(out.regret.mean(), rel=1e-12)
        assert row["regret_error"] == pytest.approx(out.regret.std() / np.sqrt(out.regret.size), rel=1e-9)


def test_mistakes_are_in_the_order_of_the_blocks_whichever_came_back_first():
    flags = np.random.default_rng(3).random((2, BLOCK)) < 0.3
    bits = [np.packbits(row, bitorder="little").tobytes() for row in flags]
    totals = Totals("SH", "problem", 4, 20)
    for number in (1, 0):
        totals.add(BlockResult(number, BLOCK, bits[number], 0.0, 0.0, 0.0))
    assert len(bits[0]) == BLOCK_BYTES
    np.testing.assert_array_equal(totals.run_mistakes(), flags.ravel())


def test_a_row_without_runs_has_no_rate():
    class Interrupted(Here):
        def submit(self, *args):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        study(executor=Interrupted())
    unknown = ["mistake_rate", "low", "high", "regret", "regret_error"]
    assert (caught.value.table["runs"] == 0).all()
    assert caught.value.table[unknown].isna().all(axis=None)


def test_a_name_that_fits_several_rows_is_refused():
    with pytest.raises(ValueError, match="name 2 rows; they must name one"):
        study(executor=Here()).run_mistakes("SH")


def test_two_policies_of_one_name_are_refused():
    with pytest.raises(ValueError, match="policies are SH, SH; each may occur only once"):
        study(policies=[bai.SH(), bai.SH()])


@dataclass(frozen=True)
class Failing(bai.Unif):
    """Fails where a mean has this value."""

    mark: float = 0.0

    def play(self, rewards, *args):
        if (rewards.loc == self.mark).any():
            raise ArithmeticError("the marked arm")
        super().play(rewards, *args)


def test_equally_many_runs_are_not_paired_unless_they_are_the_same():
    means = np.tile([1.0, 0.0], (2 * BLOCK, 1))
    means[0, 0], means[BLOCK, 0] = 8.0, 9.0
    policies = {"fails first": Failing(8.0), "fails later": Failing(9.0)}
    with pytest.raises(RuntimeError, match="and 1 other blocks failed") as caught:
        bai.sweep(policies, bai.GaussianBandits(means, np.ones_like(means)), 10, seed=1, executor=Here())
    assert caught.value.table["runs"].tolist() == [BLOCK, BLOCK]
    with pytest.raises(ValueError, match="they are not all the same"):
        caught.value.table.paired("fails first", "fails later")


# --- precision on demand ---------------------------------------------------------------------------------


def test_runs_are_doubled_from_5000_until_the_interval_is_narrow_enough():
    table = bai.sweep(bai.Unif(), bai.GaussianBandits([1.0, 0.0], [20.0, 20.0], runs=1), 10, 4, runs=bai.Until(0.01))
    assert 0.34 < table["mistake_rate"][0] < 0.38  # so that 12,500 runs are needed with confidence 0.98
    assert table["runs"].tolist() == [20_000]
    assert table.run_mistakes("Unif").sum() == table["mistakes"][0]


def test_a_block_that_fails_is_not_counted_as_done():
    def maker(runs, seed):
        asked.append(seed)
        if len(set(asked)) == 3:
            raise LookupError("no such instance")
        return bai.GaussianBandits([1.0, 0.0], [20.0, 20.0], runs=runs)

    asked = []
    with pytest.raises(RuntimeError, match="no such instance") as caught:
        bai.sweep(bai.Unif(), maker, 10, seed=4, executor=Here(), runs=bai.Until(0.01))
    assert caught.value.table["runs"].tolist() == [5000 - BLOCK]  # and nothing is doubled


# --- blocks ----------------------------------------------------------------------------------------------


def test_an_ensemble_is_repeated_in_whole_rounds_of_enough_runs():
    bandits = bai.GaussianBandits(np.arange(1400.0).reshape(700, 2), np.ones((700, 2)))
    blocks = problem_blocks("p", bandits, 1, None, least=1500)
    assert blocks.first_runs == 2100
    assert blocks.sizes(4200) == [500, 500, 500, 500, 100] * 2
    played = np.concatenate([blocks.block(b, size).means[:, 0] for b, size in enumerate(blocks.sizes(4200))])
    np.testing.assert_array_equal(played, np.tile(bandits.means[:, 0], 6))


def test_every_block_of_a_function_has_instances_of_its_own_that_owe_nothing_to_its_rewards():
    blocks = problem_blocks("p", lambda runs, seed: bai.synthetic(4, runs, seed % 2**32), 1, 1200, least=1)
    assert blocks.sizes(1200) == [500, 500, 200]
    made = [blocks.block(number, 100)().means for number in (0, 1, 0)]
    assert (made[0] == made[2]).all()
    assert (made[0] != made[1]).all()
    asked = []
    problem_blocks("p", lambda runs, seed: asked.append(seed) or ARMS.select(slice(BLOCK)), 1, 500, least=1)
    state = block_generator(1, 0).bit_generator.seed_seq
    assert asked != [int(state.generate_state(1, np.uint64)[0])]  # a child of the stream that rewards come from


def test_a_function_that_changes_its_mind_is_refused():
    arms = iter([4, 4, 5])
    with pytest.raises(RuntimeError, match="gave 5 arms in block 1 and 4 in block 0"):
        bai.sweep(bai.Unif(), lambda runs, seed: bai.synthetic(next(arms), runs, 0), 9, 1, Here(), runs=2 * BLOCK)
    with pytest.raises(ValueError, match=f"must return an ensemble of {BLOCK} runs"):
        bai.sweep(bai.Unif(), lambda runs, seed: bai.synthetic(4, runs - 1, 0), 9, 1, runs=BLOCK)


# --- the file --------------------------------------------------------------------------------------------


OTHERS = {
    "policies": {"policies": TWO[::-1]},
    "budgets": {"budgets": (40, 20)},
    "seed": {"seed": 3},
    "problems": {"problems": ARMS.select(slice(None, None, -1))},
}


@pytest.mark.parametrize("key", OTHERS)
def test_another_study_and_the_same_in_another_order_are_refused(key, tmp_path):
    table = study(checkpoint=tmp_path / "study.db", executor=Here())
    with pytest.raises(ValueError, match="belongs to another study"):
        study(checkpoint=tmp_path / "study.db", **OTHERS[key])
    same(study(checkpoint=tmp_path / "study.db"), table)
    same(bai.read_checkpoint(tmp_path / "study.db"), table)


def test_a_file_of_another_numpy_is_refused(tmp_path, monkeypatch):
    study(checkpoint=tmp_path / "study.db", executor=Here())
    monkeypatch.setattr(np, "__version__", "0.1")
    with pytest.raises(ValueError, match="numpy there"):
        study(checkpoint=tmp_path / "study.db")


def test_jobs_that_come_back_together_are_all_recorded(tmp_path):
    study(checkpoint=tmp_path / "study.db", executor=Here())
    assert blocks_in(tmp_path / "study.db") == 4 * 3


def test_a_smaller_study_goes_on_to_a_larger_one_with_its_last_block_played_again(tmp_path):
    made = partial(bai.synthetic, 4)
    study(problems=made, runs=BLOCK + 7, checkpoint=tmp_path / "study.db", executor=Here())
    larger = study(problems=made, runs=2 * BLOCK + 9, checkpoint=tmp_path / "study.db", executor=Here())
    same(larger, study(problems=made, runs=2 * BLOCK + 9, executor=Here()))
    assert blocks_in(tmp_path / "study.db") == 4 * 3


def sweep_into(file):
    return study(problems=bai.synthetic(4, 20 * BLOCK, seed=1), checkpoint=file)


def test_two_processes_may_play_one_study_into_one_file(tmp_path):
    with ProcessPoolExecutor(2) as executor:
        tables = list(executor.map(sweep_into, [tmp_path / "study.db"] * 2))
    expected = sweep_into(None)
    for table in (*tables, bai.read_checkpoint(tmp_path / "study.db")):
        same(table, expected)
    assert blocks_in(tmp_path / "study.db") == 4 * 20


# --- executors -------------------------------------------------------------------------------------------


def test_an_executor_that_fails_ends_the_study():
    class Dead(Here):
        def submit(self, *args):
            future = Future()
            future.set_exception(OSError("the worker is gone"))
            return future

    with pytest.raises(OSError, match="the worker is gone"):
        study(executor=Dead())


@dataclass(frozen=True)
class Waiting(bai.Unif):
    """Counts its blocks, and waits in each until it may go on."""

    go_on, played = Event(), []

    def play(self, *args):
        self.played.append(1)
        self.go_on.wait()
        super().play(*args)


def test_after_an_interruption_jobs_that_nobody_waits_for_are_not_played():
    class Interrupted(ThreadPoolExecutor):
        jobs = 0

        def submit(self, *args):
            self.jobs += 1
            if self.jobs == 4:
                raise KeyboardInterrupt
            return super().submit(*args)

    with Interrupted(1) as executor:
        with pytest.raises(KeyboardInterrupt):
            study(policies=Waiting(), executor=executor)
        Waiting.go_on.set()
    assert len(Waiting.played) <= 1
