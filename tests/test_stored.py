"""Stored studies: the same table as when played, and every difference is noticed."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import bai
from bai.book import stored
from bai.checkpoint import Checkpoint

PROBLEM = bai.synthetic(6, 1300, seed=1)
BUDGETS, HALVING = [60, 120], (bai.SH(), bai.SHVar())


class Fickle(bai.Policy):
    """Names one arm today and another tomorrow."""

    name, answer = "Fickle", 0

    def steps(self, n_arms, budget):
        yield 0
        return type(self).answer


def study(folder, recompute=False, policies=HALVING):
    return stored.sweep(policies, PROBLEM, BUDGETS, seed=2, recompute=recompute, folder=folder)


def test_a_stored_study_is_the_study_and_costs_one_block_of_each_policy(tmp_path, monkeypatch):
    played = study(tmp_path, recompute=True)
    assert len(list(tmp_path.iterdir())) == 1
    blocks = []
    usual = stored.study.play_blocks
    monkeypatch.setattr(stored.study, "play_blocks", lambda *job: blocks.extend(job[3]) or usual(*job))
    read = study(tmp_path)
    assert len(blocks) == 2
    pd.testing.assert_frame_equal(read, played)
    assert (read.run_mistakes("SH", budget=60) == played.run_mistakes("SH", budget=60)).all()
    direct = bai.sweep([bai.SH(), bai.SHVar()], PROBLEM, BUDGETS, seed=2)
    pd.testing.assert_frame_equal(read.drop(columns="seconds"), direct.drop(columns="seconds"))


def test_another_study_is_played_and_not_stored(tmp_path):
    study(tmp_path, recompute=True)
    table = study(tmp_path, policies=[bai.SR()])
    assert table["policy"].unique().tolist() == ["SR"]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_study_with_another_seed_is_another_study(tmp_path):
    for seed in (2, 3):
        stored.sweep(bai.SH(), PROBLEM, 60, seed=seed, recompute=True, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_study_is_played_anew_if_the_environment_says_so_and_only_then(tmp_path, monkeypatch):
    monkeypatch.delenv("BAI_RECOMPUTE", raising=False)
    study(tmp_path, recompute=None)
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("BAI_RECOMPUTE", "1")
    study(tmp_path, recompute=None)
    assert len(list(tmp_path.iterdir())) == 1


def test_runs_that_come_out_differently_are_noticed(tmp_path, monkeypatch):
    study(tmp_path, recompute=True, policies=[Fickle()])
    assert len(study(tmp_path, policies=[Fickle()])) == 2
    monkeypatch.setattr(Fickle, "answer", 1)
    with pytest.raises(RuntimeError, match=r"Fickle on 'problem' with budget 120 has other results .*recompute"):
        study(tmp_path, policies=[Fickle()])
    study(tmp_path, recompute=True, policies=[Fickle()])
    study(tmp_path, policies=[Fickle()])


def test_a_study_with_a_missing_block_is_noticed(tmp_path):
    study(tmp_path, recompute=True)
    (file,) = tmp_path.iterdir()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM blocks WHERE row = 2 AND block = 1")
    with pytest.raises(RuntimeError, match="SHVar on 'problem' with budget 60 has 2 of 3 blocks"):
        study(tmp_path)


@pytest.mark.parametrize("pulls", [False, True])
def test_stored_runs_are_the_runs_and_cost_one_block(tmp_path, monkeypatch, pulls):
    direct = bai.simulate(bai.SHVar(), PROBLEM, 60, seed=2)
    blocks, usual = [], stored.play.play_block

    def counted(*job, **more):
        blocks.append(job)
        return usual(*job, **more)

    monkeypatch.setattr(stored.play, "play_block", counted)
    for recompute, files, played in ((False, 0, 3), (True, 1, 3), (False, 1, 1)):
        blocks.clear()
        out = stored.simulate(bai.SHVar(), PROBLEM, 60, 2, pulls, recompute, tmp_path)
        assert (out.recommended == direct.recommended).all() and (out.regret == direct.regret).all()
        assert (out.policy, out.budget) == (direct.policy, direct.budget)
        assert np.array_equal(out.pulls, direct.pulls if pulls else np.empty((0, 0)))
        assert (len(list(tmp_path.iterdir())), len(blocks)) == (files, played)


def test_runs_with_another_seed_or_budget_or_with_pulls_are_stored_beside_each_other(tmp_path):
    for job in ((60, 2), (60, 3), (120, 2), (60, 2, True)):
        stored.simulate(bai.SH(), PROBLEM, *job, recompute=True, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("name", ["recommended", "pulls"])
def test_a_stored_run_that_comes_out_differently_is_noticed(tmp_path, name):
    job = bai.SH(), PROBLEM.select(slice(500)), 60, 2, True
    stored.simulate(*job, recompute=True, folder=tmp_path)
    (path,) = tmp_path.iterdir()
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name].flat[-1] += 1
    np.savez_compressed(path, **arrays)
    with pytest.raises(RuntimeError, match=r"SH on 'problem' with budget 60 has other results in block 0 .*recompute"):
        stored.simulate(*job, folder=tmp_path)


@pytest.mark.parametrize("file", sorted(stored.FOLDER.glob("*.npz")), ids=lambda file: file.stem)
def test_all_stored_runs_of_the_book_can_be_read(file):
    with np.load(file) as arrays:
        assert list(arrays) == ["recommended", "pulls"][: 1 + file.stem.endswith("-pulls")]
        assert len({len(array) for array in arrays.values()}) == 1


@pytest.mark.parametrize("file", sorted(stored.FOLDER.glob("*.db")), ids=lambda file: file.stem)
def test_every_study_of_the_book_is_whole_and_undamaged(file):
    with closing(Checkpoint(file)) as checkpoint:
        rows = [len(part) for part in (checkpoint.study[key] for key in ("policies", "problems", "budgets"))]
        blocks = {len(checkpoint.results(number)) for number in range(rows[0] * rows[1] * rows[2])}
    assert len(blocks) == 1 and blocks != {0}
