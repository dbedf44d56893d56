"""What does handing out blocks cost? Shares of time, each measured in one run on one machine."""

import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import bai
from bai.play import BLOCK, play_block

K, N = 64, 5000


def executors(stack):
    from distributed import Client, LocalCluster

    yield "a thread", stack.enter_context(ThreadPoolExecutor(1))
    yield "a process", stack.enter_context(ProcessPoolExecutor(1))
    cluster = stack.enter_context(LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None))
    yield "a Dask worker", stack.enter_context(Client(cluster)).get_executor()


def test_share_of_time_that_one_worker_does_not_play(say, tmp_path):
    ensemble = bai.synthetic(K, 40_000, seed=0)
    instance = partial(bai.GaussianBandits, ensemble.means[0], ensemble.variances[0])
    say(f"\nshare of the time in which one worker plays no block (K = {K}, n = {N}; aim: below 5 %)")
    with ExitStack() as stack:
        for name, executor in executors(stack):
            for policy, runs in ((bai.SHVar(), 400_000), (bai.SHAdaVar(), 40_000)):
                bai.sweep(policy, instance(runs=500), N, seed=0, executor=executor)  # starts the worker
                problems = {"one instance": instance(runs=runs), "a function": partial(bai.synthetic, K)}
                for label, problem in (problems | {"an ensemble": ensemble}).items():
                    more = {"runs": runs} if label == "a function" else {}
                    file = tmp_path / f"{name} {policy} {label}.db"
                    started = time.perf_counter()
                    table = bai.sweep(policy, problem, N, seed=1, executor=executor, checkpoint=file, **more)
                    idle = 1 - table["seconds"].sum() / (time.perf_counter() - started)
                    say(f"  {name:14s} {policy!s:9s} {label:13s} {idle:6.1%}")
                    assert table["runs"][0] in (runs, ensemble.runs)


def test_share_of_a_block_that_does_not_grow_with_its_runs(say):
    say(f"\na block with one run / a block of {BLOCK}")
    for n_arms, n in ((2, 40), (8, 200), (64, 5000)):
        bandits = bai.synthetic(n_arms, BLOCK, seed=0)
        for policy in (bai.Unif(), bai.SH(), bai.SHVar(), bai.SHAdaVar()):
            shortest = {}
            for runs in (1, BLOCK):
                times = []
                for _ in range(15):
                    started = time.perf_counter()
                    played = play_block(policy, bandits.select(slice(0, runs)), n, 0, 0)
                    times.append(time.perf_counter() - started)
                shortest[runs] = min(times)
                assert played.pulls.sum() <= runs * n
            say(f"  K = {n_arms:2d}, n = {n:4d} {policy!s:9s} {shortest[1] / shortest[BLOCK]:6.1%}")
