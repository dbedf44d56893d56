"""The MovieLens problems of Section 5.2, and the factors behind them.

``bai.movielens(n_arms, runs, seed)`` works at once, from rank-5 factors that ship with the package.
``python -m bai.movielens --download`` makes such factors from the ratings of MovieLens 1M, each
time with other noise.

The ratings belong to GroupLens (F. M. Harper and J. A. Konstan, "The MovieLens datasets: history and context", ACM
Transactions on Interactive Intelligent Systems, 2015). Their licence forbids passing them on, so the package holds a
model of them only: factors in random order, without the names of movies or users.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import types
import zipfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse, spatial
from tqdm.auto import tqdm

from . import checks
from .bandits import LowRankBandits, low_rank_moments, synthetic

ARCHIVE = "https://files.grouplens.org/datasets/movielens/ml-1m.zip"
ARCHIVE_HASH = "md5:c4d9eecfca2ab87c1945afe126590906"
NEEDED = "give the folder or the archive ml-1m.zip of MovieLens 1M, or --download"


class Ratings(NamedTuple):
    """Who rated what how: three arrays of equal length. Users and movies are numbered from 0, as their ids rise."""

    users: np.ndarray
    movies: np.ndarray
    stars: np.ndarray


class Factors(NamedTuple):
    """A completed matrix of ratings: user j gives movie i ``movies[i] @ users[j]`` stars."""

    movies: np.ndarray
    users: np.ndarray


# --- problems --------------------------------------------------------------------------------------------


def problems(
    n_arms: int,
    runs: int,
    seed: int,
    shift: float = 2.0,
    best_arm: str = "noisy",
    repeats: bool = True,
    factors: Factors | None = None,
) -> LowRankBandits:
    """Movies as arms, as in Section 5.2: also called as ``bai.movielens(...)``.

    Each run takes the target means and variances of a new instance of `synthetic`, adds `shift` to the means, and
    takes for each target the movie whose mean and variance are closest. A pull asks a random user.

    Parameters
    ----------
    n_arms, runs : int
        K and R.
    seed : int
        The same seed gives the same movies.
    shift : float
        Added to the target means, which lie between 0 and 1 where ratings lie between 1 and 5. The paper's text
        has no shift, its Figure 4 shows one of about 2.
    best_arm : {"noisy", "quiet"}
        Parity of the targets, see `synthetic`.
    repeats : bool
        Whether a movie may be several arms of a run. Otherwise each target, the highest mean first, takes the closest
        movie that is left.
    factors : Factors, optional
        Another completion; by default the one that ships with the package.

    Returns
    -------
    LowRankBandits

    Examples
    --------
    >>> import bai
    >>> bandits = bai.movielens(n_arms=64, runs=5, seed=0)
    >>> bandits
    LowRankBandits(runs=5, n_arms=64)
    >>> bool(1.5 < bandits.means.min() < bandits.means.max() < 3.5)
    True
    """
    targets = synthetic(n_arms, runs, seed, best_arm)
    shift = checks.number("shift", shift)
    repeats = checks.flag("repeats", repeats)
    movies, users = shipped_factors() if factors is None else factors
    moments = spatial.KDTree(np.column_stack(low_rank_moments(movies, users)))
    wanted = np.stack([targets.means + shift, targets.variances], axis=-1)
    if repeats:
        return LowRankBandits(movies, users, moments.query(wanted)[1])
    if targets.n_arms > len(movies):
        raise ValueError(f"n_arms is {n_arms}, but there are {len(movies)} movies; take fewer arms or allow repeats")
    arms = np.empty(targets.means.shape, np.int64)
    for r, order in enumerate(np.argsort(-targets.means, axis=1)):
        # The K nearest movies of each target suffice: the other targets take at most K - 1 of them.
        near = moments.query(wanted[r], k=np.arange(1, targets.n_arms + 1))[1].tolist()
        taken = set()
        for i in order:
            arms[r, i] = next(movie for movie in near[i] if movie not in taken)
            taken.add(arms[r, i])
    return LowRankBandits(movies, users, arms)


@cache
def shipped_factors() -> Factors:
    """Return the rank-5 factors that ship with the package: 3,706 movies and 6,040 users, both in random order."""
    with resources.files("bai").joinpath("data/movielens.npz").open("rb") as file, np.load(file) as arrays:
        return Factors(*(arrays[name].astype(float) for name in Factors._fields))


# --- ratings ---------------------------------------------------------------------------------------------


def download(address: str = ARCHIVE, known_hash: str = ARCHIVE_HASH, folder: str | Path | None = None) -> Path:
    """Return the path of the archive, fetched from its address unless it is in the cache already.

    Raises ValueError, and leaves no file, if it does not arrive or is not the archive that is known.
    """
    import pooch

    try:
        folder = pooch.os_cache("bai") if folder is None else folder
        return Path(pooch.retrieve(address, known_hash, "ml-1m.zip", folder, progressbar=sys.stderr.isatty()))
    except OSError as error:  # every error of the network is one
        raise ValueError(f"{address} could not be fetched ({error}); try again later, or {NEEDED}") from None
    except ValueError as error:  # the hash is another one
        raise ValueError(f"{address} is not the archive that is known ({error}); try again, or {NEEDED}") from None


def read_ratings(source: str | Path) -> Ratings:
    """Return the ratings in a folder with ``ratings.dat``, or in the archive ``ml-1m.zip``.

    Movies that nobody rated have no number: the 3,952 ids of MovieLens 1M have 3,706 movies with a rating.
    """
    user, movie, stars = _read_ids(source)
    number = [np.unique(ids, return_inverse=True)[1] for ids in (user, movie)]
    return Ratings(*number, stars)


def read_titles(source: str | Path) -> np.ndarray:
    """Return the titles of the rated movies, in the order of their numbers, from ``movies.dat`` beside the ratings."""
    lines = _read_lines(source, "movies.dat", rb"\d+::.+::.*", "movie::title::genres").decode("latin-1").splitlines()
    titles = {int(movie): title for movie, title, _ in (line.split("::") for line in lines)}
    return np.array([titles[movie] for movie in np.unique(_read_ids(source)[1]).tolist()])


def _read_ids(source):
    """Return three arrays: users and movies by their ids in the archive, and stars."""
    text = _read_lines(source, "ratings.dat", rb"\d+::\d+::[1-5]::\d+", "user::movie::stars::time")
    return np.fromstring(text.replace(b"::", b" "), np.int64, sep=" ").reshape(-1, 4).T[:3]


def _read_lines(source, name, pattern, form):
    """Return the bytes of a file in the folder or archive, each line of which has the form."""
    source = Path(source)
    try:
        if source.is_dir():
            text = (source / name).read_bytes().rstrip()
        else:
            with zipfile.ZipFile(source) as archive:
                text = archive.read(f"ml-1m/{name}").rstrip()
    except (FileNotFoundError, KeyError):
        raise ValueError(f"{source} holds no {name}; {NEEDED}") from None
    except zipfile.BadZipFile as error:
        raise ValueError(f"{source} is not a whole zip archive ({error}); fetch it again, or {NEEDED}") from None
    malformed = re.search(rb"^(?!" + pattern + rb"\r?$).*$", text, re.MULTILINE)
    if malformed:
        line = text.count(b"\n", 0, malformed.start()) + 1
        shown = malformed.group().decode(errors="replace")
        raise ValueError(f"line {line} of {name} is {shown!r}; it must read {form}")
    return text


def raw_ratings() -> Ratings | None:
    """Return the ratings that the environment variable BAI_MOVIELENS points to, or None if it is not set."""
    source = os.environ.get("BAI_MOVIELENS")
    return read_ratings(source) if source else None


def raw_titles() -> np.ndarray | None:
    """Return the titles of the movies of `raw_ratings`, or None if BAI_MOVIELENS is not set."""
    source = os.environ.get("BAI_MOVIELENS")
    return read_titles(source) if source else None


# --- completion ------------------------------------------------------------------------------------------


def complete(
    ratings: Ratings,
    rank: int = 5,
    ridge: float = 0.1,
    rounds: int = 40,
    seed: int = 0,
    baseline: str = "none",
    progress: bool = False,
) -> tuple[Factors, np.ndarray]:
    """Complete the matrix of ratings by alternating least squares.

    A round solves a ridge regression for each movie, the users' factors being fixed, and then one for each user. All
    the small systems of a side are solved at once.

    Parameters
    ----------
    ratings : Ratings
    rank : int
        Factors per movie and user.
    ridge : float
        Weight of the squared factors of one movie or user against its squared errors.
    rounds : int
    seed : int
        Of the start: N(0, 0.1^2) for each factor of a user.
    baseline : {"none", "mean", "biases"}
        What the product of factors is added to: nothing; the mean of all ratings, which appears as one further factor;
        or that mean with a term per movie and per user, two further factors. With "biases" the ridge is weighed by
        the number of ratings of a movie or user.
    progress : bool
        Show a bar with the training error.

    Returns
    -------
    factors : Factors
    errors : array, shape (rounds,)
        Root mean squared error on the ratings after each round.
    """
    rank = checks.integer("rank", rank, least=1)
    ridge = checks.number("ridge", ridge, above=0)
    rounds = checks.integer("rounds", rounds, least=1)
    rng = np.random.default_rng(checks.integer("seed", seed, least=0))
    index = (ratings.movies, ratings.users)
    shape = tuple(int(i.max()) + 1 for i in index)
    checks.choice("baseline", baseline, ("none", "mean", "biases"))
    biases = baseline == "biases"
    centre = 0.0 if baseline == "none" else ratings.stars.mean()
    given = sparse.csr_array((ratings.stars - centre, index), shape)
    ones = sparse.csr_array((np.ones(ratings.stars.size), index), shape)
    by_movie, by_user = (given, ones), (given.T.tocsr(), ones.T.tocsr())
    movies = np.zeros((shape[0], rank))
    users = rng.normal(0, 0.1, (shape[1], rank))
    if biases:  # movie: (..., its term, 1); user: (..., 1, its term)
        movies = np.column_stack([movies, np.zeros(shape[0]), np.ones(shape[0])])
        users = np.column_stack([users, np.ones(shape[1]), np.zeros(shape[1])])
    errors = np.empty(rounds)
    with tqdm(total=rounds, desc="completion", unit="round", disable=not progress) as bar:
        for k in range(rounds):
            movies = _regress(*by_movie, users, movies, ridge, biases, fixed=-1)
            users = _regress(*by_user, movies, users, ridge, biases, fixed=-2)
            predicted = np.einsum("ij,ij->i", movies[ratings.movies], users[ratings.users])
            errors[k] = np.sqrt(np.mean((ratings.stars - centre - predicted) ** 2))
            bar.set_postfix(training_error=f"{errors[k]:.4f}", refresh=False)
            bar.update()
    if biases:
        movies[:, -2] += centre
    elif baseline == "mean":
        movies = np.column_stack([movies, np.full(shape[0], centre)])
        users = np.column_stack([users, np.ones(shape[1])])
    return Factors(movies, users), errors


def _regress(given, ones, other, own, ridge, biases, fixed):
    """Return the ridge regression of each row of `given` on the factors `other` of its columns.

    With biases the column `fixed` of `own` is 1 and stays so: its part is subtracted first.
    """
    free = np.delete(np.arange(own.shape[1]), fixed) if biases else np.arange(own.shape[1])
    x = other[:, free]
    target = given @ x
    if biases:
        target = target - ones @ (x * other[:, [fixed]])
    d = len(free)
    squares = (ones @ (x[:, :, None] * x[:, None, :]).reshape(-1, d * d)).reshape(-1, d, d)
    weight = np.maximum(ones.sum(axis=1), 1) if biases else np.ones(len(own))  # a row without ratings becomes 0
    squares += ridge * weight[:, None, None] * np.eye(d)
    own = own.copy()
    own[:, free] = np.linalg.solve(squares, target[:, :, None])[:, :, 0]
    return own


def anonymous(factors: Factors, rng: np.random.Generator | None = None) -> Factors:
    """Return factors for all to see: in random order, without names, and blurred.

    The factors of a movie with a single rating point exactly where those of its only rater do, and two such movies of
    one rater are parallel, with lengths in the ratio of their stars. So the factors are mixed with Gaussian noise of
    the same covariance, a tenth of the spread for movies and three tenths for users. Mean and covariance over movies
    and over users stay what they are. Who knew the noise could take it off again: by default it comes from a
    generator that nobody can restart.
    """
    rng = np.random.default_rng() if rng is None else rng
    shuffled = [rng.permutation(side) for side in factors]
    return Factors(*(_blurred(side, share, rng) for side, share in zip(shuffled, (0.1, 0.3), strict=True)))


def _blurred(side, share, rng):
    centre, root = side.mean(axis=0), np.linalg.cholesky(np.cov(side.T))
    mixed = np.sqrt(1 - share**2) * (side - centre) + share * rng.standard_normal(side.shape) @ root.T
    mixed -= mixed.mean(axis=0)
    mixed = np.linalg.solve(np.linalg.cholesky(np.cov(mixed.T)), mixed.T).T @ root.T
    return (centre + mixed).astype(np.float32)


def main(arguments: list[str] | None = None) -> None:
    """Make the factors that ship with the package."""
    parser = argparse.ArgumentParser(
        prog="python -m bai.movielens", description="Complete the ratings of MovieLens 1M at rank 5."
    )
    parser.add_argument("source", type=Path, nargs="?", help="ml-1m.zip or its folder")
    parser.add_argument("--download", action="store_true", help="fetch ml-1m.zip from GroupLens")
    parser.add_argument("--output", type=Path, default=Path("movielens.npz"), help="default: movielens.npz")
    options = parser.parse_args(arguments)
    if (options.source is None) != options.download:
        parser.error(NEEDED)
    try:
        source = download() if options.download else options.source
        ratings = read_ratings(source)
        movies, users = ratings.movies.max() + 1, ratings.users.max() + 1
        print(f"{source}: {ratings.stars.size:,} ratings of {movies:,} movies by {users:,} users")
        factors, errors = complete(ratings, progress=True)
        print("training error per round:", " ".join(f"{error:.4f}" for error in errors))
        part = options.output.with_suffix(".part")
        try:
            with part.open("wb") as file:
                np.savez(file, **anonymous(factors)._asdict())
            part.replace(options.output)
        finally:
            part.unlink(missing_ok=True)
        print(f"wrote {options.output}")
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


class _CallableModule(types.ModuleType):
    """A module with the name of a function: ``bai.movielens(...)`` beside ``python -m bai.movielens``."""

    def __call__(self, *args, **kwargs) -> LowRankBandits:
        return problems(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule

if __name__ == "__main__":
    main()
