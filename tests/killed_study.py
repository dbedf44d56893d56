"""Starts a study again and again and kills it, until it was killed `times` times in the middle; prints what happened.

Each study runs in a forked child, so that no time goes into starting Python. Nothing here starts a thread before.
"""

import os
import random
import signal
import sqlite3
import sys
import time
from concurrent.futures import Executor, Future
from contextlib import closing

import bai


class Here(Executor):
    """Plays at once, in this thread."""

    def submit(self, call, *args):
        future = Future()
        future.set_result(call(*args))
        return future


PROBLEMS = {"many": bai.synthetic(16, 8_000, seed=1), "one": bai.GaussianBandits([1, 0.9], [1, 2], runs=8_250)}


def study(file=None, **more):
    return bai.sweep([bai.SHVar(), bai.SHAdaVar()], PROBLEMS, [400, 700], seed=2, checkpoint=file, **more)


def recorded(file):
    try:
        with closing(sqlite3.connect(file)) as connection:
            return connection.execute("SELECT count(*) FROM blocks").fetchone()[0]
    except sqlite3.OperationalError:  # killed before there was a table
        return 0


def main(file, times):
    expected = study(executor=Here()).drop(columns="seconds")  # also compiles, once for all children
    random.seed(3)
    kills, right, longest = [], True, 0.2
    while len(kills) < times:
        child = os.fork()
        if child == 0:
            study(file)
            os._exit(0)
        time.sleep(random.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            kills.append(recorded(file))
            longest *= 1 if kills[-1] else 2  # on a busy machine a study needs longer to begin
        else:  # it had finished: check it and begin anew
            right &= study(file, executor=Here()).drop(columns="seconds").equals(expected)
            os.remove(file)
    right &= study(file, executor=Here()).drop(columns="seconds").equals(expected)
    print(*kills)
    print(recorded(file))
    print(right)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
