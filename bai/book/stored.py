"""Large studies of the book, played once and stored run by run.

`sweep` answers from a file if the same study is stored. It then plays a block of runs of every policy again, and raises
an error unless each of them comes out as stored; so running a page checks it. `simulate` does the same for one policy
and one budget. With ``recompute=True``, or with the environment variable BAI_RECOMPUTE set to 1, everything is played
and stored anew, a study with a progress bar in Jupyter.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np

from .. import play, study
from ..checkpoint import BlockResult, Checkpoint
from ..play import BLOCK, CORES, Outcome
from ..policies import Policy
from ..problems import Bandits

FOLDER = Path(__file__).with_name("data") / "studies"


def sweep(
    policies: Policy | Iterable[Policy] | Mapping[str, Policy],
    problems: Bandits | Mapping[str, Bandits],
    budgets: int | Iterable[int],
    seed: int,
    recompute: bool | None = None,
    folder: Path = FOLDER,
) -> study.SweepTable:
    """Return the table of ``bai.sweep``, from a file where the same study is stored.

    Examples
    --------
    >>> import bai, pathlib, tempfile
    >>> problem = bai.synthetic(8, 1200, seed=0)
    >>> with tempfile.TemporaryDirectory() as name:
    ...     played, read = (sweep(bai.SH(), problem, 100, 1, new, pathlib.Path(name)) for new in (True, False))
    >>> played.drop(columns="seconds").equals(read.drop(columns="seconds"))
    True
    """
    if not isinstance(policies, (Policy, Mapping)):
        policies = list(policies)
    budgets = [budgets] if isinstance(budgets, int) else list(budgets)
    rows = study.study_rows(policies, problems, budgets, seed, None)
    path = folder / f"{_key(rows, seed)}.db"
    if _anew(recompute):
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:  # pages that share a study may play it at the same time
            new = Path(name) / path.name
            table = study.sweep(policies, problems, budgets, seed, checkpoint=new)
            new.replace(path)
        return table
    if not path.exists():
        return study.sweep(policies, problems, budgets, seed)
    with closing(Checkpoint(path)) as file:
        stored = [file.results(number) for number in range(len(rows))]
    again = {row.policy: number for number, row in sorted(enumerate(rows), key=lambda item: _chance(item[1]))}
    with ThreadPoolExecutor(CORES) as executor:
        checked = [number in again.values() for number in range(len(rows))]
        found = executor.map(_difference, rows, stored, [seed] * len(rows), checked)
        differences = [difference for difference in found if difference]
    if differences:
        raise _differs(path, differences[0])
    return study.read_checkpoint(path)


def simulate(
    policy: Policy,
    bandits: Bandits,
    budget: int,
    seed: int,
    pulls: bool = False,
    recompute: bool | None = None,
    folder: Path = FOLDER,
) -> Outcome:
    """Return the outcome of ``bai.simulate``, from a file where the same runs are stored.

    Its pulls are stored only if asked for; without them its attribute `pulls` is empty.

    Examples
    --------
    >>> import bai, pathlib, tempfile
    >>> problem = bai.synthetic(8, 1200, seed=0)
    >>> with tempfile.TemporaryDirectory() as name:
    ...     played, read = (simulate(bai.SH(), problem, 100, 1, True, new, pathlib.Path(name)) for new in (True, False))
    >>> (played.mistakes == read.mistakes).all(), (played.pulls == read.pulls).all()
    (np.True_, np.True_)
    """
    row = study.study_rows(policy, bandits, budget, seed, None)[0]
    path = folder / f"{_key([row], seed)}{'-pulls' * pulls}.npz"
    recompute = _anew(recompute)
    if recompute or not path.exists():
        out = play.simulate(policy, bandits, budget, seed)
        arrays = {name: _small(getattr(out, name)) for name in ("recommended", "pulls")[: 1 + pulls]}
        if recompute:
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as name:
                new = Path(name) / path.name
                np.savez_compressed(new, **arrays)  # pyright: ignore[reportArgumentType]
                new.replace(path)
    else:
        with np.load(path) as file:
            arrays = dict(file)
        block = _chance(row) % len(row.blocks.sizes(bandits.runs))
        runs = slice(block * BLOCK, (block + 1) * BLOCK)
        again = play.play_block(policy, bandits.select(runs), budget, seed, block)
        if not all(np.array_equal(getattr(again, name), array[runs]) for name, array in arrays.items()):
            raise _differs(path, f"{_name(row)} has other results in block {block} than stored")
    named = arrays["recommended"].astype(np.int64)
    regret = bandits.means.max(axis=1) - bandits.means[np.arange(bandits.runs), named]
    return Outcome(policy, budget, named, arrays.get("pulls", np.empty((0, 0))).astype(np.int64), regret)


def _anew(recompute: bool | None) -> bool:
    return os.environ.get("BAI_RECOMPUTE") == "1" if recompute is None else recompute


def _small(counts: np.ndarray) -> np.ndarray:
    """Return counts in the smallest type that holds them."""
    return counts.astype(np.min_scalar_type(int(counts.max())))


def _differs(path: Path, difference: str) -> RuntimeError:
    return RuntimeError(f"{path.name}: {difference}; play it again with recompute=True and look at the difference")


def _key(rows: list[study.Row], seed: int) -> str:
    """Return a name for the study: a hash of all that its numbers depend on, except versions of software."""
    described = study.describe(rows, seed)
    for software in ("bai", "numpy"):
        del described[software]
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]


def _name(row: study.Row) -> str:
    return f"{row.policy} on {row.problem!r} with budget {row.budget}"


def _chance(row: study.Row) -> int:
    """Return a number that looks random and is always the same: it decides which row and block are played again."""
    return zlib.crc32(_name(row).encode())


def _difference(row: study.Row, stored: dict[int, BlockResult], seed: int, play: bool) -> str:
    """Play a block of a row again if asked to; return in words how it differs from what is stored, or an empty text."""
    name = _name(row)
    sizes = row.blocks.sizes(row.blocks.first_runs)
    if sorted(stored) != list(range(len(sizes))):
        return f"{name} has {len(stored)} of {len(sizes)} blocks"
    if not play:
        return ""
    number = _chance(row) % len(sizes)
    played, failures = study.play_blocks(
        row.player, row.budget, seed, [(number, row.blocks.block(number, sizes[number]))]
    )
    if failures:
        return f"{name} failed in block {number}: {failures[0][1]}"
    same = played[0][:-1] == stored[number][:-1]  # all but the seconds
    return "" if same else f"{name} has other results in block {number} than stored"
