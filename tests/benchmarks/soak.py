"""Plays 100 million cheap runs, or for an hour, and says whether memory stays flat and speed steady.

    python tests/benchmarks/soak.py [--runs 100000000] [--minutes 60] [--every 10]

The study writes a checkpoint like any other, since that is what one leaves alone overnight.
"""

import _thread
import argparse
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

import bai
from bai.play import CORES


class Counted(ThreadPoolExecutor):
    """Threads that count the runs they have played."""

    runs = 0

    def submit(self, *args):
        future = super().submit(*args)
        future.add_done_callback(self.count)
        return future

    def count(self, future):
        if not future.cancelled():
            results, _ = future.result()
            self.runs += sum(result.runs for result in results)


def watch(executor, file, every, minutes, stop, samples):
    """Note runs, memory and the size of the file from time to time; interrupt the study at the end of its time."""
    started = time.perf_counter()
    while not stop.wait(every):
        now = time.perf_counter() - started
        memory = psutil.Process().memory_info().rss / 2**20
        samples.append((now, executor.runs, memory))
        speed = (samples[-1][1] - samples[-2][1]) / (now - samples[-2][0]) if len(samples) > 1 else executor.runs / now
        size = file.stat().st_size / 2**20 if file.exists() else 0
        print(f"{now:7.0f} s {executor.runs:12,d} runs {speed:10,.0f} runs/s {memory:7.1f} MB, file {size:6.1f} MB")
        if now > 60 * minutes:
            _thread.interrupt_main()
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000_000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=10)
    given = parser.parse_args()
    problem = bai.GaussianBandits([1.0, 0.5], [1.0, 2.0], runs=given.runs // 4)
    stop, samples = threading.Event(), []
    with tempfile.TemporaryDirectory() as folder, Counted(CORES) as executor:
        file = Path(folder) / "soak.db"
        watcher = threading.Thread(target=watch, args=(executor, file, given.every, given.minutes, stop, samples))
        watcher.start()
        try:
            bai.sweep([bai.Unif(), bai.SHVar()], problem, [20, 40], seed=0, executor=executor, checkpoint=file)
        except KeyboardInterrupt:
            print("time is up")
        stop.set()
        watcher.join()
    # The first quarter is warming up: compiling, and filling caches.
    warm = samples[len(samples) // 4 :]
    middle = len(warm) // 2
    early, late = ((b[1] - a[1]) / (b[0] - a[0]) for a, b in ((warm[0], warm[middle]), (warm[middle], warm[-1])))
    print(f"speed of the second half / of the first: {late / early:.2f}")
    print(f"memory at the end / after the first quarter: {warm[-1][2] / warm[0][2]:.2f}")


if __name__ == "__main__":
    main()
