"""A Dask cluster plays as everybody else does: the same bits, own policies and problems included, whatever dies."""

import os
import signal
import threading
import time
from functools import partial

import pytest
import test_large
import test_open

import bai

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes, which take seconds to start."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def test_a_cluster_gives_the_same_bits(client):
    assert len(set(client.run(os.getpid).values())) == 2
    test_large.assert_same(test_large.study(executor=client.get_executor()), test_large.study())


def test_own_policies_and_problems_have_the_same_bits(client):
    ensemble = test_open.ENSEMBLE
    problems = {"theirs": ensemble, "mine": test_open.Normal(ensemble.means, ensemble.variances)}
    study = partial(bai.sweep, [*test_open.OWN, bai.SHVar()], problems, 20, seed=5)
    test_open.assert_same_table(study(), study(executor=client.get_executor()))


def test_a_study_survives_the_death_of_a_worker(client, tmp_path):
    more = {"problems": bai.synthetic(16, 20_000, seed=3), "budgets": [500, 1000], "runs": None}
    file, played_when_killed = tmp_path / "dask.db", []

    def kill_a_worker():
        while not (file.exists() and file.stat().st_size and test_large.kept(file) > 20):
            time.sleep(0.005)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        played_when_killed.append(test_large.kept(file))

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    table = test_large.study(executor=client.get_executor(), checkpoint=file, **more)
    killer.join()
    test_large.assert_same(table, test_large.study(**more))
    assert 20 < played_when_killed[0] < test_large.kept(file) == 160
