"""The command line: ``python -m bai select scores.csv --budget 2000``.

The file has a row per example and a column per candidate; its first column names the examples. Scores are looked up in
it, as if they were judged one by one. With ``--live`` they come from a command instead, which prints the score in its
last line; ``{candidate}`` and ``{example}`` in it stand for the names. Every score is then kept in a file beside the
table, so that the same command goes on after an interruption.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

from .selection import POLICIES, select


def table_of(path: Path) -> pd.DataFrame:
    """Return the table of a file, with names of examples as index and names of candidates as columns."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file; give a table with a row per example and a column per candidate")
    try:
        table = pd.read_csv(path, index_col=0)
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from None
    if table.shape[0] < 1 or table.shape[1] < 2:
        raise ValueError(f"{path} has {table.shape[0]} examples and {table.shape[1]} candidates; give 1 and 2 or more")
    return table


def looked_up(table: pd.DataFrame) -> Callable[[str, int], float]:
    """Return a judge that looks scores up."""
    try:
        scores = table.to_numpy(float)
    except ValueError:
        raise ValueError("the table has entries that are no numbers; give a score for every pair") from None
    if not np.isfinite(scores).all():
        raise ValueError("the table has missing or infinite scores; fill them in, or judge with --live")
    return lambda candidate, row: float(scores[row, table.columns.get_loc(candidate)])


def ran(command: str, table: pd.DataFrame) -> Callable[[str, int], float]:
    """Return a judge that runs a command, without a shell, and reads the last line that it prints."""
    words = shlex.split(command)
    if not words:
        raise ValueError("the command of --live is empty; name a program that prints a score")

    def judge(candidate: str, row: int) -> float:
        names = {"{candidate}": str(candidate), "{example}": str(table.index[row])}
        filled = []
        for word in words:
            for name, value in names.items():
                word = word.replace(name, value) if name in word else word
            filled.append(word)
        done = subprocess.run(filled, capture_output=True, text=True, check=True)
        return float(done.stdout.strip().splitlines()[-1])

    return judge


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m bai", description="Best-arm identification under a fixed budget.")
    commands = parser.add_subparsers(dest="command", required=True)
    choose = commands.add_parser("select", help="find the best candidate of a table of scores")
    choose.add_argument("table", type=Path, help="CSV: a row per example, a column per candidate")
    choose.add_argument("--budget", type=int, required=True, help="the most evaluations")
    choose.add_argument("--live", metavar="COMMAND", help="judge with a command that prints a score")
    choose.add_argument("--parallel", type=int, default=1, help="commands that run at a time (default: 1)")
    choose.add_argument("--policy", choices=POLICIES, default=POLICIES[0])
    choose.add_argument("--minimise", action="store_true", help="the lowest mean is the best")
    choose.add_argument("--seed", type=int, default=0, help="of the order of the examples (default: 0)")
    options = parser.parse_args(arguments)
    try:
        table = table_of(options.table)
        judge = looked_up(table) if options.live is None else ran(options.live, table)
        file = None if options.live is None else options.table.with_suffix(".scores.jsonl")
        with ThreadPoolExecutor(max(1, options.parallel)) as executor:
            answer = select(
                list(table.columns),
                judge,
                range(len(table)),
                options.budget,
                seed=options.seed,
                minimise=options.minimise,
                policy=options.policy,
                executor=executor if options.parallel > 1 else None,
                file=file,
            )
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(answer.summary().drop(columns="behind").round(4).to_string())
    share = f"{answer.judged} of {table.size} pairs judged"
    print(f"\nbest: {answer.labels[answer.index]} ({share}, expected loss about {answer.expected_loss:.2g})")
    chance = f"about {answer.probability_best[answer.index]:.0%} sure"
    print(chance if answer.separated else f"{chance}: not separated from {', '.join(answer.rivals) or 'the others'}")


if __name__ == "__main__":
    main()
