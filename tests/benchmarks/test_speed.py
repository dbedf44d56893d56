"""How fast is bai? `pytest tests/benchmarks` prints ratios, each measured in one run on one machine.

Times are the best of several tries, taken in turn, because machines are busy. Ratios of times taken together say
more than times; what is asserted is only that the compared programs agree.
"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

import bai
from bai.play import CORES, play_block

K, N, RUNS = 64, 5000, 5000


def best_times(tries, **jobs):
    """Return the shortest time of each job, trying them in turn."""
    times = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(tries):
        for name, job in jobs.items():
            started = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - started)
    return {name: min(taken) for name, taken in times.items()}


def one_core(policy, bandits, budget=N):
    with ThreadPoolExecutor(1) as executor:
        return bai.simulate(policy, bandits, budget, seed=1, executor=executor)


# --- the same algorithms in NumPy, vectorised over runs, as a good user would write them ------------------


def keep_half(active, means):
    """Return the better half of the arms of each run."""
    survivors = (active.shape[1] + 1) // 2
    top = np.argpartition(-means, survivors - 1, axis=1)[:, :survivors]
    return np.take_along_axis(active, np.sort(top, axis=1), axis=1)


def numpy_stage_means(rng, means, sd, counts):
    """Draw every reward of a stage and average: counts may differ between arms."""
    runs, k = means.shape
    length = counts.sum(axis=1)[0]
    noise = rng.standard_normal((runs, length))
    starts = np.concatenate([np.zeros((runs, 1), int), counts.cumsum(axis=1)[:, :-1]], axis=1)
    starts += length * np.arange(runs)[:, None]
    sums = np.add.reduceat(noise.ravel(), starts.ravel()).reshape(runs, k)
    return means + sd * sums / counts


def numpy_halving(bandits, budget, seed, allocate, stage_means):
    rng = np.random.default_rng(seed)
    active = rng.permuted(np.tile(np.arange(bandits.n_arms), (bandits.runs, 1)), axis=1)
    stages = int(np.ceil(np.log2(bandits.n_arms)))
    for _ in range(stages):
        means, variances = (np.take_along_axis(a, active, axis=1) for a in (bandits.means, bandits.variances))
        counts = allocate(variances, budget // stages)
        active = keep_half(active, stage_means(rng, means, np.sqrt(variances), counts))
    return active[:, 0]


def equal_counts(variances, b):
    k = variances.shape[1]
    return np.broadcast_to(b // k + (np.arange(k) < b % k), variances.shape)


def greedy_counts(variances, b):
    runs, k = variances.shape
    counts = np.maximum(1, np.floor((b - k) * variances / variances.sum(axis=1, keepdims=True))).astype(int)
    left, rows = b - counts.sum(axis=1), np.arange(runs)
    while left.any():
        arm = (variances / counts).argmax(axis=1)
        counts[rows, arm] += left > 0
        left = np.maximum(left - 1, 0)
    return counts


def drawn_at_once(rng, means, sd, counts):
    return means + sd / np.sqrt(counts) * rng.standard_normal(means.shape)


def numpy_shadavar(bandits, budget, seed, delta=0.05):
    rng = np.random.default_rng(seed)
    active = rng.permuted(np.tile(np.arange(bandits.n_arms), (bandits.runs, 1)), axis=1)
    stages, rows = int(np.ceil(np.log2(bandits.n_arms))), np.arange(bandits.runs)
    warm, b = int(4 * np.log(1 / delta)) + 2, budget // stages
    degrees = np.arange(1, b + 1)
    divisor = np.concatenate([[1, 1], (degrees + 1) * (degrees - 2 * np.sqrt(degrees * np.log(1 / delta)))])
    for _ in range(stages):
        means, variances = (np.take_along_axis(a, active, axis=1) for a in (bandits.means, bandits.variances))
        sd, k = np.sqrt(variances), active.shape[1]
        first = rng.standard_normal((bandits.runs, k, min(warm, b // k))) * sd[..., None] + means[..., None]
        count = np.full(active.shape, first.shape[2])
        mean, squares = first.mean(axis=2), first.var(axis=2) * first.shape[2]
        index = squares / divisor[count]
        for _ in range(b - k * first.shape[2]):
            arm = index.argmax(axis=1)
            reward = means[rows, arm] + sd[rows, arm] * rng.standard_normal(bandits.runs)
            c, old = count[rows, arm] + 1, mean[rows, arm]
            new = old + (reward - old) / c
            s = squares[rows, arm] + (reward - old) * (reward - new)
            count[rows, arm], mean[rows, arm], squares[rows, arm], index[rows, arm] = c, new, s, s / divisor[c]
        active = keep_half(active, mean)
    return active[:, 0]


def test_against_numpy(say):
    bandits = bai.synthetic(K, RUNS, seed=0)
    best = bandits.best
    rate = lambda named: (named != best).mean()  # noqa: E731
    programs = {
        "SH": (bai.SH(), lambda: numpy_halving(bandits, N, 2, equal_counts, numpy_stage_means), 10),
        "SHVar": (bai.SHVar(), lambda: numpy_halving(bandits, N, 2, greedy_counts, numpy_stage_means), 10),
        "SHAdaVar": (bai.SHAdaVar(), lambda: numpy_shadavar(bandits, N, 2), 4),
        "SH, means drawn at once": (bai.SH(), lambda: numpy_halving(bandits, N, 2, equal_counts, drawn_at_once), None),
        "SHVar, means drawn at once": (
            bai.SHVar(),
            lambda: numpy_halving(bandits, N, 2, greedy_counts, drawn_at_once),
            None,
        ),
    }
    say(f"\nNumPy vectorised over {RUNS} runs / bai on one core (K = {K}, n = {N}); runs per second")
    for name, (policy, program, aim) in programs.items():
        gap = rate(program()) - one_core(policy, bandits).mistake_rate
        assert abs(gap) < 5 * np.sqrt(2 * 0.1 / RUNS)  # the same algorithm, up to noise
        times = best_times(3, numpy=program, bai=lambda policy=policy: one_core(policy, bandits))
        ratio = times["numpy"] / times["bai"]
        wanted = f" (aim: at least {aim})" if aim else " (for comparison)"
        say(f"  {name:28s} {RUNS / times['numpy']:9.0f} {RUNS / times['bai']:9.0f}   ratio {ratio:5.1f}{wanted}")


@njit(nogil=True)
def sum_of_normals(rng, n):
    total = 0.0
    for _ in range(n):
        total += rng.standard_normal()
    return total


def test_against_drawing_normals(say):
    bandits = bai.synthetic(K, 500, seed=0)
    rng = np.random.Generator(np.random.SFC64(0))
    policies = {cls.name: cls() for cls in bai.REGISTRY if cls not in (bai.Unif, bai.SH, bai.SHVar, bai.SR)}
    jobs = {name: lambda p=p: play_block(p, bandits, N, 0, 0) for name, p in policies.items()}
    times = best_times(7, normals=lambda: sum_of_normals(rng, 500 * N), **jobs)
    one = times["normals"] / (500 * N) * 1e9
    say(f"\nplaying / drawing as many normals in a compiled loop, {one:.1f} ns each (K = {K}, n = {N}, one core)")
    aims = {"SHAdaVar": 2.0, "GapE": 10, "GapE-V": 10}
    for name in policies:
        wanted = f" (aim: at most {aims[name]})" if name in aims else ""
        say(f"  {name:9s} {times[name] / times['normals']:6.2f}{wanted}")
    assert play_block(bai.SHAdaVar(), bandits, N, 0, 0).pulls.sum() > 0.99 * 500 * N


def test_cost_per_run_as_n_and_k_grow(say):
    for policy in (bai.SHVar(), bai.SHAdaVar(), bai.GapE()):
        say(f"\n{policy}: microseconds per run on one core (nanoseconds per pull)")
        say("        " + "".join(f"{f'n = {n}':>20s}" for n in (1_000, 10_000, 100_000)))
        for n_arms in (16, 64, 256, 1024):
            row = f"K = {n_arms:4d}"
            for n in (1_000, 10_000, 100_000):
                if n < policy.least_budget(n_arms):
                    row += f"{'-':>20s}"
                    continue
                runs = max(4, min(500, 4_000_000 // n))
                bandits = bai.synthetic(n_arms, runs, seed=0)
                taken = best_times(2, play=lambda p=policy, b=bandits, n=n: play_block(p, b, n, 0, 0))["play"] / runs
                row += f"{f'{taken * 1e6:.1f} ({taken / n * 1e9:.2f})':>20s}"
            say(row)


def test_all_cores_are_used(say):
    bandits = bai.synthetic(K, 20_000, seed=0)
    say(f"\ntime on one core / time on {CORES} (aim with two: at least 1.7)")
    for policy in (bai.SHVar(), bai.SHAdaVar(), bai.GapE()):
        times = best_times(
            3, one=lambda p=policy: one_core(p, bandits), all=lambda p=policy: bai.simulate(p, bandits, N, seed=1)
        )
        say(f"  {policy!s:9s} {times['one'] / times['all']:5.2f}")
    np.testing.assert_array_equal(
        one_core(bai.SHVar(), bandits).recommended, bai.simulate(bai.SHVar(), bandits, N, seed=1).recommended
    )


class Turns(bai.Policy):
    """The arms in turn: a policy of one's own."""

    name = "Turns"

    def steps(self, n_arms, budget):
        total = [0.0] * n_arms
        for t in range(budget):
            total[t % n_arms] += yield t % n_arms
        return max(range(n_arms), key=total.__getitem__)


class Normal(bai.Bandits):
    """Gaussian arms as a problem of one's own."""

    def draw(self, run, arm, rng):
        return self.means[run, arm] + self.variances[run, arm] ** 0.5 * rng.standard_normal()


def test_what_is_written_in_python_costs_microseconds_per_pull(say):
    theirs = bai.synthetic(16, 50, seed=0)
    mine = Normal(theirs.means, theirs.variances)
    say("\nmicroseconds per pull on one core (K = 16, n = 1000)")
    for policy, bandits, times_as_many in (
        (bai.Unif(), theirs, 200),
        (bai.SHAdaVar(), theirs, 200),
        (bai.GapE(), theirs, 200),
        (Turns(), theirs, 1),
        (bai.Unif(), mine, 1),
        (bai.SHAdaVar(), mine, 1),
        (bai.GapE(), mine, 1),
        (Turns(), mine, 1),
    ):
        many = bandits.select(np.tile(np.arange(50), times_as_many))
        taken = best_times(3, play=lambda p=policy, b=many: one_core(p, b, 1000))["play"] / (many.runs * 1000)
        whose = "an own problem" if bandits is mine else "GaussianBandits"
        say(f"  {policy!s:9s} on {whose:16s} {taken * 1e6:8.3f}")
    np.testing.assert_array_equal(
        one_core(Turns(), mine, 1000).recommended,
        bai.simulate(bai.Unif(), theirs, 1000, seed=1, plain=True).recommended,
    )


def test_asking_for_a_batch_costs_the_same_late_as_early(say):
    say("\nExperiment.ask(16) after 4,000 rewards / after 400 (aim: about 1); milliseconds after 400")
    for policy in (bai.SH(), bai.SHAdaVar(), bai.VBR(), bai.AGapE(bound=1), bai.TopTwo(), Turns()):
        experiment, rng, taken = bai.Experiment(policy, 8, 30_000), np.random.default_rng(0), []
        for rewards in (400, 4000):
            while len(experiment.history) < rewards:
                arm = experiment.ask()
                experiment.tell(arm, rng.normal(arm / 8))
            taken.append(best_times(30, ask=lambda e=experiment: e._forecast(16))["ask"])
            assert len(experiment._forecast(16)) == 16
        again = "" if policy.name != "Turns" else " (own policies are told all rewards again)"
        say(f"  {policy!s:16s} {taken[1] / taken[0]:6.2f} {taken[0] * 1e3:8.2f}{again}")


def test_a_fresh_process_starts_quickly(say):
    code = (
        "import time; started = time.perf_counter(); import bai; imported = time.perf_counter();"
        "bai.simulate(bai.SHAdaVar(), bai.synthetic(64, 500, seed=0), 5000, seed=0);"
        "print(imported - started, time.perf_counter() - imported)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(4)]
    importing, first = min([float(word) for word in run.stdout.split()] for run in runs[1:])
    say(f"\na fresh process: import bai {importing:.2f} s, then its first simulate {first:.2f} s (aim: about a second)")
    assert first > 0


def test_memory_of_many_arms(say):
    code = (
        "import bai, resource; b = bai.synthetic(1024, 5000, seed=0);"
        "bai.simulate(bai.SHAdaVar(), b, 20480, seed=0);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    say(f"\n5,000 runs of K = 1024, n = 20,480: {float(run.stdout):.0f} MB at most (aim: under 500)")
    assert float(run.stdout) < 500
