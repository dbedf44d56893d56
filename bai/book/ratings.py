"""The ratings of MovieLens 1M, and how the factors behind ``bai.movielens`` are made from them.

The factors ship with the package. ``python -m bai.book.ratings --download`` makes such factors from the ratings, each
time with other random numbers.

The ratings belong to GroupLens (F. M. Harper and J. A. Konstan, "The MovieLens datasets: history and context", ACM
Transactions on Interactive Intelligent Systems, 2015). Their licence forbids passing them on, so the package holds only
a model of them: factors drawn from a distribution that is fitted to those of the movies and users.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .. import bars, checks
from ..problems import Factors

ARCHIVE = "https://files.grouplens.org/datasets/movielens/ml-1m.zip"
ARCHIVE_HASH = "md5:c4d9eecfca2ab87c1945afe126590906"
NEEDED = "give the folder or the archive ml-1m.zip of MovieLens 1M, or --download"


class Ratings(NamedTuple):
    """Who gave which movie how many stars: three arrays of equal length. Users and movies are numbered from 0."""

    users: np.ndarray
    movies: np.ndarray
    stars: np.ndarray


# --- ratings ---------------------------------------------------------------------------------------------


def download(address: str = ARCHIVE, known_hash: str = ARCHIVE_HASH, folder: str | Path | None = None) -> Path:
    """Return the path of the archive, fetched from its address unless it is in the cache already.

    Raises ValueError, and leaves no file, if it does not arrive or is not the expected archive.
    """
    try:
        import pooch
    except ModuleNotFoundError:
        raise checks.not_installed("the download", "pooch", extra="book") from None
    show = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
    try:
        folder = pooch.os_cache("bai") if folder is None else folder
        return Path(pooch.retrieve(address, known_hash, "ml-1m.zip", folder, progressbar=show))
    except OSError as error:  # every error of the network is one
        raise ValueError(f"{address} could not be fetched ({error}); try again later, or {NEEDED}") from None
    except ValueError as error:  # the hash is another one
        raise ValueError(f"{address} is not the archive that is known ({error}); try again, or {NEEDED}") from None


def read_ratings(source: str | Path) -> Ratings:
    """Return the ratings in a folder with ``ratings.dat``, or in the archive ``ml-1m.zip``.

    Movies that nobody rated have no number: the 3,952 ids of MovieLens 1M have 3,706 movies with a rating.
    """
    user, movie, stars = _read_ids(source)
    users, movies = (np.unique(ids, return_inverse=True)[1] for ids in (user, movie))
    return Ratings(users, movies, stars)


def read_titles(source: str | Path) -> np.ndarray:
    """Return the titles of the rated movies, in the order of their numbers, from ``movies.dat`` beside the ratings."""
    lines = _read_lines(source, "movies.dat", rb"\d+::.+::.*", "movie::title::genres").decode("latin-1").splitlines()
    titles = {int(movie): title for movie, title, _ in (line.split("::") for line in lines)}
    return np.array([titles[movie] for movie in np.unique(_read_ids(source)[1]).tolist()])


def _read_ids(source: str | Path) -> np.ndarray:
    """Return three arrays: users and movies by their ids in the archive, and stars."""
    text = _read_lines(source, "ratings.dat", rb"\d+::\d+::[1-5]::\d+", "user::movie::stars::time")
    return np.fromstring(text.replace(b"::", b" "), np.int64, sep=" ").reshape(-1, 4).T[:3]


def _read_lines(source: str | Path, name: str, pattern: bytes, form: str) -> bytes:
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

    A round solves a ridge regression for each movie, with the users' factors fixed, and then one for each user. All
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
        or that mean with a term per movie and per user, two further factors. With "biases" the ridge is weighted by
        the number of ratings of a movie or user.
    progress : bool
        Show a bar with the training error (needs tqdm).

    Returns
    -------
    factors : Factors
    errors : array, shape (rounds,)
        Root mean squared error on the ratings after each round.
    """
    rank = checks.integer("rank", rank, least=1)
    ridge = checks.number("ridge", ridge, above=0)
    rounds = checks.integer("rounds", rounds, least=1)
    rng = np.random.default_rng(checks.integer("seed", seed, 0, below=None))
    index = (ratings.movies, ratings.users)
    shape = tuple(int(i.max()) + 1 for i in index)
    checks.choice("baseline", baseline, ("none", "mean", "biases"))
    biases = baseline == "biases"
    centre = 0.0 if baseline == "none" else ratings.stars.mean()
    given = sparse.csr_array((ratings.stars - centre, index), shape)
    by_movie, by_user = ((side, _ones(side)) for side in (given, given.T.tocsr()))
    movies = np.zeros((shape[0], rank))
    users = rng.normal(0, 0.1, (shape[1], rank))
    if biases:  # movie: (..., its term, 1); user: (..., 1, its term)
        movies = np.column_stack([movies, np.zeros(shape[0]), np.ones(shape[0])])
        users = np.column_stack([users, np.ones(shape[1]), np.zeros(shape[1])])
    errors = np.empty(rounds)
    with bars.bar(progress, total=rounds, desc="completion", unit="round") as bar:
        for k in range(rounds):
            movies, _ = _regress(*by_movie, users, movies, ridge, biases, fixed=-1)
            users, squares = _regress(*by_user, movies, users, ridge, biases, fixed=-2)
            errors[k] = np.sqrt(squares / ratings.stars.size)
            if bar is not None:
                bar.set_postfix(training_error=f"{errors[k]:.4f}", refresh=False)
                bar.update()
    if biases:
        movies[:, -2] += centre
    elif baseline == "mean":
        movies = np.column_stack([movies, np.full(shape[0], centre)])
        users = np.column_stack([users, np.ones(shape[1])])
    return Factors(movies, users), errors


def _ones(given: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with a one for each rating."""
    return sparse.csr_array((np.ones(given.nnz), given.indices, given.indptr), given.shape)


def _regress(
    given: sparse.csr_array,
    ones: sparse.csr_array,
    other: np.ndarray,
    own: np.ndarray,
    ridge: float,
    biases: bool,
    fixed: int,
) -> tuple[np.ndarray, float]:
    """Return the ridge regression of each row of `given` on the factors `other` of its columns, and its squared error.

    With biases the column `fixed` of `own` is 1 and stays so: its part is subtracted first.
    """
    free = np.delete(np.arange(own.shape[1]), fixed) if biases else np.arange(own.shape[1])
    x = other[:, free]
    target, error = np.asarray(given @ x), (given.data**2).sum()
    if biases:
        part = other[:, fixed]
        target = target - ones @ (x * part[:, None])
        error += (ones.sum(axis=0) * part - 2 * given.sum(axis=0)) @ part
    d = len(free)
    row, column = np.triu_indices(d)  # the squares are symmetric
    squares = np.empty((len(own), d, d))
    squares[:, row, column] = squares[:, column, row] = ones @ (x[:, row] * x[:, column])
    weight = np.maximum(ones.sum(axis=1), 1) if biases else np.ones(len(own))  # a row without ratings becomes 0
    solved = np.linalg.solve(squares + ridge * weight[:, None, None] * np.eye(d), target[:, :, None])
    error += ((squares @ solved - 2 * target[:, :, None]) * solved).sum()
    own = own.copy()
    own[:, free] = solved[:, :, 0]
    return own, max(float(error), 0.0)


def anonymous(factors: Factors, rng: np.random.Generator | None = None, least: int = 100) -> Factors:
    """Return factors that may be published: as many movies and users, but none of the given ones.

    The factors of a movie with a single rating point exactly where those of its only rater do, so neither real movies
    nor real users may be shown, and noise added to each does not hide them (`bai.book.privacy` measures it). Both
    sides are drawn instead, from means and covariances of groups of at least `least` neighbours; see `drawn`. Anyone
    who knew the random numbers could work these out, so by default they come from a generator that nobody can restart.

    Moments over all movies and all users agree only up to chance. They are not made exact, since anyone who knows an
    exact mean and all rows but one knows that one too.
    """
    rng = np.random.default_rng() if rng is None else rng
    return Factors(*(drawn(side, rng, least).astype(np.float32) for side in factors))


def drawn(rows: np.ndarray, rng: np.random.Generator, least: int = 100) -> np.ndarray:
    """Return as many new rows, drawn from a distribution that is fitted to groups of at least `least` rows.

    The `least` rows farthest from the centre, in units of the spread, are first pulled in to the same distance. Then
    the rows are halved, at the median of the direction in which they spread most, and so are the halves, as long as
    each keeps at least `least`. A group is replaced by as many draws from Student's t distribution with 5 degrees of
    freedom and the group's mean and covariance. A normal one would lose the heavy tails that single far rows make.
    """
    least = checks.integer("least", least, least=1)
    if len(rows) < least:
        raise ValueError(f"there are {len(rows)} rows to hide among; at least {least} are needed")
    centre, root = rows.mean(axis=0), np.linalg.cholesky(np.cov(rows.T))
    spread = np.linalg.solve(root, (rows - centre).T).T
    distance = np.linalg.norm(spread, axis=1, keepdims=True)
    edge = np.sort(distance, axis=0)[-least]
    new = [_t_draws(group, rng) for group in _groups(spread * edge / np.maximum(distance, edge), least)]
    return rng.permutation(centre + np.concatenate(new) @ root.T)


def _groups(rows: np.ndarray, least: int) -> list[np.ndarray]:
    if len(rows) < 2 * least:
        return [rows]
    widest = np.linalg.eigh(np.cov(rows.T))[1][:, -1]
    order, half = np.argsort(rows @ widest), len(rows) // 2
    return [group for part in (order[:half], order[half:]) for group in _groups(rows[part], least)]


def _t_draws(group: np.ndarray, rng: np.random.Generator, freedom: int = 5) -> np.ndarray:
    normal = rng.standard_normal(group.shape) @ np.linalg.cholesky(np.cov(group.T)).T
    return group.mean(axis=0) + normal * np.sqrt((freedom - 2) / rng.chisquare(freedom, (len(group), 1)))


def main(arguments: list[str] | None = None) -> None:
    """Make the factors that ship with the package."""
    parser = argparse.ArgumentParser(
        prog="python -m bai.book.ratings", description="Complete the ratings of MovieLens 1M at rank 5."
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
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
