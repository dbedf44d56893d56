"""What a file of factors gives away: a game between an attacker and the way in which the file is made.

A random half of the rows (movies or users) goes into the file. The attacker sees the file, holds the exact vector of a
row, which is more than anyone could learn elsewhere, and must say whether that row was in. The attacker goes by how
near the file comes to the vector. If the file tells nothing, it comes nearer to a row that was in than to one that was
not with probability 1/2, because the halves could be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial import KDTree
from scipy.stats import rankdata

WAYS = ("nearest by distance", "ten nearest by distance", "nearest by direction", "ten nearest by direction")
Release = Callable[[np.ndarray, np.random.Generator], np.ndarray]


class Game(NamedTuple):
    """Outcome of several splits: who was in, shape (S, N), and the scores of each way to attack, shape (S, 4, N)."""

    inside: np.ndarray
    scores: np.ndarray


def play(
    rows: np.ndarray,
    release: Release,
    known: np.ndarray | None = None,
    owner: np.ndarray | None = None,
    splits: int = 20,
    seed: int = 0,
) -> Game:
    """Play the game with several random halves.

    Parameters
    ----------
    rows : array
        What is split into halves.
    release : callable
        ``release(half, rng)`` returns the file made of some rows, an array of vectors.
    known : array, optional
        Vectors that the attacker holds, by default the rows themselves.
    owner : array of int, optional
        The row that each known vector asks about, by default the row in its place.
    splits, seed : int

    Examples
    --------
    A file of the rows themselves tells everything:

    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> won(play(rows, lambda half, rng: half, splits=3)).loc["nearest by distance", "share"]
    np.float64(1.0)
    """
    rng = np.random.default_rng(seed)
    known = rows if known is None else known
    owner = np.arange(len(rows)) if owner is None else owner
    inside = np.array([rng.permutation(len(rows)) < len(rows) // 2 for _ in range(splits)])
    return Game(inside[:, owner], np.array([_nearness(known, release(rows[half], rng)) for half in inside]))


def won(game: Game, some: np.ndarray | slice = slice(None)) -> pd.DataFrame:
    """Return how often, of two known vectors, the one whose row was in came nearer, with a 95 % interval.

    The interval reflects the variation between splits. `some` selects known vectors.
    """
    sides = list(zip(game.inside[:, some], game.scores[:, :, some], strict=True))
    shares = np.array([[_share(score[half], score[~half]) for score in scores] for half, scores in sides])
    error = 1.96 * shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    share = shares.mean(axis=0)
    return pd.DataFrame({"share": share, "low": share - error, "high": share + error}, index=list(WAYS))


def directions(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors scaled to length 1.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _nearness(known: np.ndarray, file: np.ndarray) -> np.ndarray:
    unit = np.linalg.inv(np.linalg.cholesky(np.cov(known.T))).T  # distances are in units of the spread
    pairs = (file @ unit, known @ unit), (directions(file), directions(known))
    near = [KDTree(x, leafsize=24).query(y, k=10)[0] for x, y in pairs]
    scores = np.array([score for d in near for score in (d[:, 0], np.log(d + 1e-12).mean(axis=1))])
    return -np.round(scores, 9)  # movies with the same ratings tie, whatever the last digit on a processor


def _share(inside: np.ndarray, outside: np.ndarray) -> float:
    """Return the share of pairs in which the first is larger; ties count half."""
    n, m = len(inside), len(outside)
    return (rankdata(np.concatenate([inside, outside]))[:n].sum() - n * (n + 1) / 2) / (n * m)
