"""MovieLens: problems from the shipped factors, and the way from the archive to those factors."""

import hashlib
import inspect
import io
import os
import subprocess
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial import KDTree

import bai
from bai.book import privacy
from bai.book import ratings as ml
from bai.problems import Factors, low_rank_moments, shipped_factors

needs_ratings = pytest.mark.skipif(
    not os.environ.get("BAI_MOVIELENS"), reason="BAI_MOVIELENS does not name ml-1m.zip or its folder"
)
NAN = float("nan")
ROOT = Path(__file__).resolve().parent.parent


# --- a small archive, and a server for it ----------------------------------------------------------------


def made_up_ratings(seed=1, movies=250, users=220):
    """Whole stars from two planted factors, half of them known. Ids have holes, as those of the archive."""
    rng = np.random.default_rng(seed)
    full = np.column_stack([np.full(movies, 3.0), rng.normal(size=movies)])
    full = full @ np.column_stack([np.ones(users), rng.normal(0, 0.7, users)]).T
    movie, user = np.nonzero(rng.random(full.shape) < 0.5)
    return 2 * user + 1, 3 * movie + 5, full[movie, user].round().clip(1, 5).astype(int)


def lines_of(columns):
    return "".join(f"{user}::{movie}::{stars}::978300760\n" for user, movie, stars in zip(*columns, strict=True))


RATINGS = lines_of(made_up_ratings())
MOVIES = "".join(f"{movie}::Made-up No. {movie} (1999)::Drama\n" for movie in range(1, 800))


def zipped(**files):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"ml-1m/{name}.dat", text)
    return memory.getvalue()


ARCHIVE = zipped(ratings=RATINGS, movies=MOVIES)
KNOWN_HASH = f"md5:{hashlib.md5(ARCHIVE).hexdigest()}"


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder without a word; of `cut.zip` it sends half and hangs up."""

    def log_message(self, *args):
        pass

    def copyfile(self, source, outputfile):
        data = source.read()
        outputfile.write(data[: len(data) // 2] if self.path == "/cut.zip" else data)


@pytest.fixture
def server(tmp_path):
    """The address of a server, and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_port}", folder
        finally:
            httpd.shutdown()
            thread.join()


@pytest.fixture
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")


def files_in(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


# --- from the address to the ratings ---------------------------------------------------------------------


def test_a_good_archive_is_fetched_once_and_read(server, tmp_path, no_proxy):
    address, folder = server
    (folder / "ml-1m.zip").write_bytes(ARCHIVE)
    path = ml.download(f"{address}/ml-1m.zip", KNOWN_HASH, tmp_path / "cache")
    assert path.read_bytes() == ARCHIVE
    assert files_in(tmp_path / "cache") == [path]
    (folder / "ml-1m.zip").unlink()  # the second time it comes from the cache
    assert ml.download(f"{address}/ml-1m.zip", KNOWN_HASH, tmp_path / "cache") == path
    user, movie, stars = made_up_ratings()
    ratings = ml.read_ratings(path)
    np.testing.assert_array_equal(np.unique(user)[ratings.users], user)
    np.testing.assert_array_equal(np.unique(movie)[ratings.movies], movie)
    np.testing.assert_array_equal(ratings.stars, stars)
    titles = ml.read_titles(path)
    assert titles[ratings.movies].tolist() == [f"Made-up No. {i} (1999)" for i in movie]


@pytest.mark.parametrize(
    "name, served, says",
    [
        ("cut.zip", ARCHIVE, "could not be fetched"),  # the connection breaks
        ("short.zip", ARCHIVE[: len(ARCHIVE) // 2], "not the archive that is known"),
        ("other.zip", zipped(ratings="1::1::5::978300760\n"), "not the archive that is known"),
        ("missing.zip", None, "could not be fetched"),
    ],
)
def test_what_is_not_the_archive_is_refused_and_no_file_is_left(server, tmp_path, no_proxy, name, served, says):
    address, folder = server
    if served is not None:
        (folder / name).write_bytes(served)
    with pytest.raises(ValueError, match=says) as caught:
        ml.download(f"{address}/{name}", KNOWN_HASH, tmp_path / "cache")
    assert f"{address}/{name}" in str(caught.value)
    assert "or give the folder or the archive ml-1m.zip" in str(caught.value)
    assert files_in(tmp_path / "cache") == []


def test_a_server_that_is_down_is_named_and_no_file_is_left(server, tmp_path, no_proxy):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    with pytest.raises(ValueError, match=f"http://127.0.0.1:{port}/ml-1m.zip could not be fetched") as caught:
        ml.download(f"http://127.0.0.1:{port}/ml-1m.zip", KNOWN_HASH, tmp_path / "cache")
    assert "try again later" in str(caught.value)
    assert files_in(tmp_path / "cache") == []


def archive_file(path, content):
    path.write_bytes(content)
    return path


BAD_SOURCES = {
    "folder without ratings": (lambda t: t, "holds no ratings.dat"),
    "nothing there": (lambda t: t / "nothing.zip", "holds no ratings.dat"),
    "archive without ratings": (lambda t: archive_file(t / "a.zip", zipped(movies=MOVIES)), "holds no ratings.dat"),
    "half an archive": (lambda t: archive_file(t / "a.zip", ARCHIVE[: len(ARCHIVE) // 2]), "not a whole zip archive"),
    "no archive": (lambda t: archive_file(t / "a.zip", b"<html>sorry</html>"), "not a whole zip archive"),
}


@pytest.mark.parametrize("case", BAD_SOURCES)
def test_a_source_without_ratings_is_refused_with_the_remedy(case, tmp_path):
    make, says = BAD_SOURCES[case]
    with pytest.raises(ValueError, match=says) as caught:
        ml.read_ratings(make(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert "--download" in str(caught.value)


@pytest.mark.parametrize(
    "line", ["1::2::3", "1::2::6::978300760", "1::2::3.5::978300760", "1,2,3,978300760", "", "x::2::3::4", "\xff"]
)
def test_a_malformed_line_is_shown_with_its_number(line, tmp_path):
    text = "1::1193::5::978300760\n1::661::3::978302109\n" + line + "\n1::914::3::978301968\n"
    (tmp_path / "ratings.dat").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"^line 3 of ratings\.dat is .*user::movie::stars::time$"):
        ml.read_ratings(tmp_path)


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_the_end_of_lines_and_of_the_file_do_not_matter(end, tmp_path):
    text = f"7::30::5::9{end or chr(10)}2::10::1::8{end}"
    (tmp_path / "ratings.dat").write_bytes(text.encode())
    ratings = ml.read_ratings(tmp_path)
    assert [column.tolist() for column in ratings] == [[1, 0], [1, 0], [5, 1]]


def test_the_environment_variable_names_the_ratings(tmp_path, monkeypatch):
    monkeypatch.delenv("BAI_MOVIELENS", raising=False)
    assert ml.raw_ratings() is None
    assert ml.raw_titles() is None
    monkeypatch.setenv("BAI_MOVIELENS", str(archive_file(tmp_path / "ml-1m.zip", ARCHIVE)))
    assert ml.raw_ratings().stars.size == RATINGS.count("\n")
    assert len(ml.raw_titles()) == ml.raw_ratings().movies.max() + 1


# --- completion ------------------------------------------------------------------------------------------


def planted(baseline="none", seed=2, movies=60, users=80, rank=2):
    """A matrix of low rank on a baseline, and three quarters of it without noise."""
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(movies, rank)) @ rng.normal(size=(users, rank)).T
    if baseline != "none":
        full += 3
    if baseline == "biases":
        full += rng.normal(size=(movies, 1)) + rng.normal(size=users)
    movie, user = np.nonzero(rng.random(full.shape) < 0.75)
    return full, ml.Ratings(user, movie, full[movie, user])


@pytest.mark.parametrize(("baseline", "rank", "further"), [("none", 2, 0), ("mean", 3, 1), ("biases", 2, 2)])
def test_a_planted_matrix_is_completed_where_it_was_hidden(baseline, rank, further):
    full, ratings = planted(baseline)  # the mean of what is seen is not quite the constant, so a factor makes up for it
    factors, errors = ml.complete(ratings, rank=rank, ridge=1e-7, rounds=150, baseline=baseline)
    np.testing.assert_allclose(factors.movies @ factors.users.T, full, atol=1e-3)
    assert errors[-1] < 1e-4
    assert factors.movies.shape[1] == rank + further


def test_completion_is_what_ridge_regression_of_each_user_gives():
    _, ratings = planted()
    factors, errors = ml.complete(ratings, rank=2, ridge=0.5, rounds=3, seed=4)
    for user in range(80):
        mine = ratings.users == user
        x, y = factors.movies[ratings.movies[mine]], ratings.stars[mine]
        np.testing.assert_allclose(factors.users[user], np.linalg.solve(x.T @ x + 0.5 * np.eye(2), x.T @ y), atol=1e-10)
    predicted = (factors.movies @ factors.users.T)[ratings.movies, ratings.users]
    assert errors[-1] == pytest.approx(np.sqrt(np.mean((ratings.stars - predicted) ** 2)))
    assert len(errors) == 3
    assert not np.allclose(ml.complete(ratings, rank=2, ridge=0.5, rounds=3, seed=5)[0].users, factors.users)


def test_completion_with_biases_weighs_the_ridge_by_the_number_of_ratings():
    _, ratings = planted("biases")
    factors, errors = ml.complete(ratings, rank=2, ridge=0.5, rounds=3, baseline="biases")
    for user in range(80):
        mine = ratings.users == user
        movies = factors.movies[ratings.movies[mine]]
        x, y = movies[:, [0, 1, 3]], ratings.stars[mine] - movies[:, 2]  # which is the mean and the movie's term
        own = np.linalg.solve(x.T @ x + 0.5 * mine.sum() * np.eye(3), x.T @ y)
        np.testing.assert_allclose(factors.users[user], [own[0], own[1], 1, own[2]], atol=1e-10)
    predicted = (factors.movies @ factors.users.T)[ratings.movies, ratings.users]
    assert errors[-1] == pytest.approx(np.sqrt(np.mean((ratings.stars - predicted) ** 2)))


@pytest.mark.parametrize("baseline", ["none", "mean", "biases"])
def test_a_movie_without_ratings_gets_no_factors_of_its_own(baseline):
    _, ratings = planted(baseline)
    some = ratings.movies != 7
    factors, _ = ml.complete(ml.Ratings(*(column[some] for column in ratings)), rank=2, rounds=3, baseline=baseline)
    assert not factors.movies[7, :2].any()
    assert np.isfinite(factors.movies @ factors.users.T).all()


def test_completion_shows_a_bar_with_the_error_when_asked(capsys):
    ml.complete(planted()[1], rounds=2, progress=True)
    assert "training_error" in capsys.readouterr().err
    ml.complete(planted()[1], rounds=2)
    assert capsys.readouterr().err == ""


# --- anonymity -------------------------------------------------------------------------------------------


def parallel_pairs(movies):
    unit = privacy.directions(np.asarray(movies, float))
    return int((np.triu(unit @ unit.T, 1) > 1 - 1e-6).sum())


def assert_similar(ours, theirs, errors=8):
    """As many rows, with the same mean and about the same spread; chance alone moves a mean by one error."""
    assert ours.shape == theirs.shape
    error = theirs.std(axis=0) * np.sqrt(2 / len(theirs))
    assert (abs(ours.mean(axis=0) - theirs.mean(axis=0)) < errors * error).all()
    np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.15)


def planted_factors(users=3000, single=2000):
    """Users with heavy tails, and movies with one rating: multiples of their only raters, two for each."""
    rng = np.random.default_rng(3)
    people = rng.standard_t(5, (users, 3)) @ rng.normal(size=(3, 3)) + 1
    return Factors(np.concatenate([5 * people[: single // 2], 3 * people[: single // 2]]) / 10, people)


def noisy(rows, rng):
    """A release that adds noise, a tenth of the spread, to each row."""
    return rng.permutation(rows + 0.1 * rng.standard_normal(rows.shape) @ np.linalg.cholesky(np.cov(rows.T)).T)


def test_the_random_numbers_are_others_each_time():
    factors = planted_factors()
    twice = np.concatenate([ml.anonymous(factors).users for _ in range(2)])
    assert len(np.unique(twice, axis=0)) == len(twice)


def test_anonymous_factors_are_as_many_with_similar_moments_and_movies_are_parallel_by_chance_only():
    factors = planted_factors()
    public = ml.anonymous(factors, np.random.default_rng(5))
    for ours, theirs in zip(public, factors, strict=True):
        assert_similar(ours, theirs)
    assert parallel_pairs(factors.movies) >= 1000
    assert parallel_pairs(public.movies) < 40


@pytest.mark.parametrize("size", [100, 199, 200, 1234])
def test_groups_partition_the_rows_and_none_is_smaller_than_asked(size):
    rows = np.random.default_rng(6).normal(size=(size, 3))
    groups = ml._groups(rows, 100)
    assert all(100 <= len(group) < 200 for group in groups)
    np.testing.assert_array_equal(np.sort(np.concatenate(groups)[:, 0]), np.sort(rows[:, 0]))


def test_too_few_rows_to_hide_among_are_refused():
    with pytest.raises(ValueError, match="there are 99 rows to hide among; at least 100 are needed"):
        ml.drawn(np.random.default_rng(6).normal(size=(99, 3)), np.random.default_rng(7))


def test_draws_have_the_mean_and_the_spread_of_their_group():
    group = np.random.default_rng(6).normal(size=(150, 2)) * [1, 10] + 50
    drawn = np.concatenate([ml._t_draws(group, np.random.default_rng(seed)) for seed in range(200)])
    np.testing.assert_allclose(drawn.mean(axis=0), group.mean(axis=0), rtol=0.01)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(group.T), atol=0.1 * group.std(axis=0).prod(), rtol=0.1)


def test_one_row_far_out_is_pulled_in_among_the_others():
    rows = np.random.default_rng(7).normal(size=(500, 3))
    rows[0] = 1000
    drawn = ml.drawn(rows, np.random.default_rng(8))
    assert abs(drawn).max() < 200


def test_whoever_knows_all_rows_but_one_learns_nothing_of_it_from_the_mean():
    users = planted_factors().users
    missing = len(users) * ml.drawn(users, np.random.default_rng(9)).mean(axis=0) - users[1:].sum(axis=0)
    assert (abs(missing - users[0]) > 5 * users.std(axis=0)).any()


def test_the_game_is_won_against_rows_and_noise_and_not_against_draws():
    """The games are random with fixed seeds: 0.03 is 6 standard errors or more."""
    factors = planted_factors()
    best = {
        release.__name__: privacy.won(privacy.play(factors.users, release, splits=10))["share"].max()
        for release in (noisy, ml.drawn)
    }
    assert best["noisy"] > 0.6
    assert abs(best["drawn"] - 0.5) < 0.03
    rater = np.tile(np.arange(1000), 2)
    link = privacy.play(factors.users, ml.drawn, factors.movies, rater, splits=10)
    direct = privacy.play(factors.users, lambda half, rng: half, factors.movies, rater, splits=10)
    assert privacy.won(direct).loc["nearest by direction", "share"] > 0.99
    assert abs(privacy.won(link)["share"] - 0.5).max() < 0.06


def test_the_game_is_fair_to_a_file_that_has_nothing_to_do_with_the_rows():
    rows = np.random.default_rng(1).normal(size=(400, 2))
    game = privacy.play(rows, lambda half, rng: rng.normal(size=half.shape), splits=200)
    found = privacy.won(game)
    assert game.inside.shape == (200, 400) and (game.inside.sum(axis=1) == 200).all()
    assert (abs(found["share"] - 0.5) < 2 * (found["high"] - found["share"])).all()
    quarter = privacy.won(privacy.Game(*(part[:50] for part in game)))
    np.testing.assert_allclose(found["high"] - found["low"], (quarter["high"] - quarter["low"]) / 2, rtol=0.25)


# --- the workflows ---------------------------------------------------------------------------------------


def fetching(name, job):
    """The step of a workflow that fetches the ratings, which must come before the one that tests."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
    commands = [step.get("run", "") for step in workflow["jobs"][job]["steps"]]
    (number,) = (i for i, command in enumerate(commands) if "BAI_MOVIELENS" in command)
    assert any(command.startswith("pytest") for command in commands[number + 1 :])
    return commands[number]


def test_the_public_workflows_fetch_the_ratings_before_they_run_the_page(server, tmp_path, no_proxy):
    """The step, the same in all of them, is run as it stands, but for the address, the hash and the cache."""
    address, folder = server
    (folder / "ml-1m.zip").write_bytes(ARCHIVE)
    (command,) = {fetching("book", "test"), fetching("release", "test"), fetching("monthly", "newest")}
    known = f'"{address}/ml-1m.zip", "{KNOWN_HASH}", "{tmp_path / "cache"}"'
    script = command.replace("download()", f"download({known.replace(chr(34), chr(39))})")
    environment = os.environ | {
        "GITHUB_ENV": str(tmp_path / "env"),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    }
    subprocess.run(["bash", "-e", "-c", script], env=environment, check=True)
    variable, _, path = (tmp_path / "env").read_text().strip().partition("=")
    assert (variable, Path(path).read_bytes()) == ("BAI_MOVIELENS", ARCHIVE)
    (folder / "ml-1m.zip").write_bytes(ARCHIVE[:100])  # another file stops the workflow
    Path(path).unlink()
    assert subprocess.run(["bash", "-e", "-c", script], env=environment, capture_output=True).returncode != 0


# --- the command -----------------------------------------------------------------------------------------


def test_the_command_writes_the_factors_of_an_archive_or_a_folder(tmp_path, capsys):
    source = archive_file(tmp_path / "ml-1m.zip", ARCHIVE)
    ml.main([str(source), "--output", str(tmp_path / "one.npz")])
    said = capsys.readouterr().out
    assert f"{source}: {RATINGS.count(chr(10)):,} ratings of 250 movies by 220 users" in said
    assert len(said.split("training error per round: ")[1].splitlines()[0].split()) == 40
    with zipfile.ZipFile(source) as archive:
        archive.extractall(tmp_path)
    ml.main([str(tmp_path / "ml-1m"), "--output", str(tmp_path / "two.npz")])
    expected = ml.complete(ml.read_ratings(source))[0]
    for name in ("one.npz", "two.npz"):
        with np.load(tmp_path / name) as stored:
            assert sorted(stored.files) == ["movies", "users"]
            for name, side in expected._asdict().items():
                assert stored[name].shape == side.shape and np.isfinite(stored[name]).all()
    assert list(tmp_path.glob("*.part")) == []


def test_the_command_downloads(server, tmp_path, no_proxy, monkeypatch):
    address, folder = server
    (folder / "ml-1m.zip").write_bytes(ARCHIVE)
    monkeypatch.setattr(ml, "download", partial(ml.download, f"{address}/ml-1m.zip", KNOWN_HASH, tmp_path / "cache"))
    ml.main(["--download", "--output", str(tmp_path / "out.npz")])
    with np.load(tmp_path / "out.npz") as stored:
        assert stored["movies"].shape == (250, 5)


def test_the_command_says_what_is_wrong_and_leaves_no_file(tmp_path, monkeypatch):
    output = tmp_path / "out.npz"
    with pytest.raises(SystemExit, match=r"holds no ratings\.dat"):
        ml.main([str(tmp_path), "--output", str(output)])
    source = archive_file(tmp_path / "ml-1m.zip", ARCHIVE)
    with pytest.raises(SystemExit, match="No such file"):
        ml.main([str(source), "--output", str(tmp_path / "nowhere" / "out.npz")])

    def full_disk(file, **arrays):
        file.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(SystemExit, match="No space left"):
        ml.main([str(source), "--output", str(output)])
    assert files_in(tmp_path) == [source]


@pytest.mark.parametrize("arguments", [[], ["ml-1m.zip", "--download"]])
def test_the_command_wants_either_a_source_or_the_download(arguments, capsys):
    with pytest.raises(SystemExit):
        ml.main(arguments)
    assert "or --download" in capsys.readouterr().err


def test_the_module_runs_as_a_program_without_a_warning():
    command = [sys.executable, "-W", "error", "-m", "bai.book.ratings", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--download" in said.stdout
    assert said.stderr == ""


def test_the_problem_is_a_plain_function_whose_signature_can_be_read():
    assert inspect.isfunction(bai.movielens)
    assert list(inspect.signature(bai.movielens).parameters) == [
        "n_arms", "runs", "seed", "shift", "best_arm", "repeats", "factors",
    ]  # fmt: skip
    code = "import bai.book.ratings; import bai; print(bai.movielens(4, 2, 0))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "LowRankBandits(runs=2, n_arms=4)"


# --- the shipped factors ---------------------------------------------------------------------------------


def test_the_shipped_file_is_small_and_holds_nothing_but_factors():
    file = resources.files("bai").joinpath("data/movielens.npz")
    assert len(file.read_bytes()) < 400_000
    with file.open("rb") as stream, np.load(stream) as arrays:
        assert {name: (arrays[name].shape, arrays[name].dtype.name) for name in arrays.files} == {
            "movies": ((3706, 5), "float32"),
            "users": ((6040, 5), "float32"),
        }
    assert parallel_pairs(shipped_factors().movies) == 0


@pytest.fixture(scope="module")
def completed():
    """The ratings, and the factors and errors of their completion."""
    ratings = ml.raw_ratings()
    return ratings, *ml.complete(ratings)


@needs_ratings
def test_the_shipped_factors_are_drawn_like_those_that_the_ratings_give(completed):
    _, factors, errors = completed
    assert (np.diff(errors) < 0).all()
    again = ml.anonymous(factors, np.random.default_rng(0))
    for ours, theirs, fresh in zip(shipped_factors(), factors, again, strict=True):
        assert_similar(ours, theirs)
        nearest = [np.median(KDTree(file).query(theirs)[0]) for file in (ours, fresh)]
        assert nearest[0] == pytest.approx(nearest[1], rel=0.05)
        assert not np.isin(ours.astype(np.float32), theirs.astype(np.float32)).all(axis=1).any()


def single_ratings(ratings):
    """The movies with one rating, and their raters."""
    single = np.isin(ratings.movies, np.flatnonzero(np.bincount(ratings.movies) == 1))
    return ratings.movies[single], ratings.users[single]


@needs_ratings
def test_a_movie_with_one_rating_points_at_its_rater_unless_users_are_drawn(completed):
    ratings, factors, _ = completed
    movie, rater = single_ratings(ratings)
    assert movie.size > 100
    attack = factors.movies[movie], rater
    direct = privacy.won(privacy.play(factors.users, lambda half, rng: half, *attack))["share"]
    link = privacy.won(privacy.play(factors.users, ml.drawn, *attack))
    assert direct["nearest by direction"] > 0.99
    assert ((link["low"] < 0.5) & (link["high"] > 0.5)).all()


@needs_ratings
def test_only_raters_are_not_found_by_the_movies_that_they_alone_rated(completed):
    ratings, factors, _ = completed
    movie, rater = single_ratings(ratings)
    people = np.unique(rater)

    def release(half, rng):  # without the movies of the others
        return ml.drawn(np.delete(factors.movies, movie[~np.isin(rater, half)], axis=0), rng)

    found = privacy.won(privacy.play(people, release, factors.users[people], splits=50)).iloc[2:]  # by direction
    assert ((found["low"] < 0.5) & (found["high"] > 0.5)).all()


@needs_ratings
@pytest.mark.parametrize("side", Factors._fields)
def test_whether_a_user_or_a_movie_was_there_can_hardly_be_told(side, completed):
    ratings, factors, _ = completed
    rows = getattr(factors, side)
    game = privacy.play(rows, ml.drawn)
    assert abs(privacy.won(game)["share"] - 0.5).max() < 0.02
    distance = np.linalg.norm(np.linalg.solve(np.cov(rows.T), (rows - rows.mean(axis=0)).T).T, axis=1)
    assert privacy.won(game, np.argsort(distance)[-len(rows) // 100 :])["share"].max() < 0.6
    if side == "movies":
        count = np.bincount(ratings.movies)
        assert max(privacy.won(game, np.flatnonzero(count == k))["share"].max() for k in (1, 2, 3)) < 0.56


@needs_ratings
def test_the_ratings_are_those_of_movielens_1m():
    ratings = ml.raw_ratings()
    assert ratings.stars.size == 1_000_209
    assert (ratings.movies.max() + 1, ratings.users.max() + 1) == (3706, 6040)
    assert ml.raw_titles()[0] == "Toy Story (1995)"


# --- problems --------------------------------------------------------------------------------------------


WRONG_VALUES = [
    (lambda: bai.movielens(1, 10, 0), "n_arms is 1", "at least 2"),
    (lambda: bai.movielens(8, 0, 0), "runs is 0", "at least 1"),
    (lambda: bai.movielens(8, 10, -1), "seed is -1", "at least 0"),
    (lambda: bai.movielens(8, 10, 0, best_arm="loud"), "best_arm is 'loud'", "'noisy' or 'quiet'"),
    (lambda: bai.movielens(8, 10, 0, shift=NAN), "shift is nan", "finite"),
    (lambda: bai.movielens(4000, 1, 0, repeats=False), "n_arms is 4000", "fewer arms or allow repeats"),
    (lambda: bai.LowRankBandits([[1, 2]], [[1]], [[0, 0]]), "items has shape (1, 2) and users (1, 1)", "same number"),
    (lambda: bai.LowRankBandits([[1]], np.empty((0, 1)), [[0, 0]]), "users (0, 1)", "there must be a user"),
    (lambda: bai.LowRankBandits([[1], [NAN]], [[1]], [[0, 1]]), "items[1, 0] is nan", "finite"),
    (lambda: bai.LowRankBandits([[1], [2]], [[1]], [[0, 2]]), "arms contains 2", "items has rows 0 to 1"),
    (lambda: ml.complete(planted(False)[1], rank=0), "rank is 0", "at least 1"),
    (lambda: ml.complete(planted(False)[1], ridge=0), "ridge is 0", "above 0"),
    (lambda: ml.complete(planted(False)[1], rounds=0), "rounds is 0", "at least 1"),
    (lambda: ml.complete(planted(False)[1], seed=0.5), "seed is 0.5", "whole number"),
    (lambda: ml.anonymous(Factors(*np.ones((2, 99, 3)))), "there are 99 rows", "at least 100 are needed"),
    (lambda: ml.anonymous(planted_factors(), least=0), "least is 0", "at least 1"),
]


WRONG_TYPES = [
    (lambda: bai.movielens(8, 10, 0, repeats="no"), "repeats is 'no', of type str", "True or False"),
    (lambda: bai.movielens(8, 10, 0, shift=None), "shift is None, of type NoneType", "finite number"),
    (lambda: bai.LowRankBandits([[1], [2]], [[1]], [["a", "b"]]), "arms has entries of type str_", "numbers only"),
    (lambda: ml.complete(planted(False)[1], ridge="0.1"), "ridge is '0.1', of type str", "finite number above 0"),
]


@pytest.mark.parametrize(
    "error, call, names, remedy",
    [(ValueError, *bad) for bad in WRONG_VALUES] + [(TypeError, *bad) for bad in WRONG_TYPES],
)
def test_bad_calls_name_the_argument_the_value_and_the_remedy(error, call, names, remedy):
    with pytest.raises(error) as caught:
        call()
    assert names in str(caught.value)
    assert remedy in str(caught.value)


def test_each_target_gets_the_nearest_movie():
    bandits, targets = bai.movielens(16, 20, seed=3, shift=1.5), bai.synthetic(16, 20, seed=3)
    mean, variance = low_rank_moments(*shipped_factors())
    wanted = targets.means + 1.5
    distance = np.hypot(wanted[..., None] - mean, targets.variances[..., None] - variance)
    chosen = np.take_along_axis(distance, bandits.arms[..., None], axis=2)[..., 0]
    np.testing.assert_allclose(chosen, distance.min(axis=2), atol=1e-12)
    np.testing.assert_allclose(bandits.means, mean[bandits.arms])
    np.testing.assert_allclose(bandits.variances, variance[bandits.arms])


def test_without_repeats_movies_differ_and_each_target_gets_the_nearest_one_left():
    bandits, targets = bai.movielens(48, 5, seed=4, repeats=False), bai.synthetic(48, 5, seed=4)
    mean, variance = low_rank_moments(*shipped_factors())
    for r in range(5):
        free = np.ones(mean.size, bool)
        for i in np.argsort(-targets.means[r]):
            distance = np.hypot(targets.means[r, i] + 2 - mean, targets.variances[r, i] - variance)
            assert free[bandits.arms[r, i]]
            assert distance[bandits.arms[r, i]] <= distance[free].min() + 1e-12
            free[bandits.arms[r, i]] = False
    assert all(len(set(arms)) == 48 for arms in bandits.arms.tolist())
    assert any(len(set(arms)) < 48 for arms in bai.movielens(48, 5, seed=4).arms.tolist())  # it does matter


def test_a_few_movies_can_all_be_arms_without_repeats():
    few = Factors(*(side[:6] for side in shipped_factors()))
    assert sorted(bai.movielens(6, 1, seed=0, repeats=False, factors=few).arms[0].tolist()) == list(range(6))


def small_problem(runs):
    rng = np.random.default_rng(6)
    items, users = rng.normal(size=(12, 3)), rng.normal(size=(40, 3)) + 1
    return bai.LowRankBandits(items, users, rng.integers(12, size=(runs, 5)))


def test_low_rank_means_and_variances_are_those_of_the_matrix():
    bandits = small_problem(7)
    matrix = (bandits.items @ bandits.users.T)[bandits.arms]
    np.testing.assert_allclose(bandits.means, matrix.mean(axis=2))
    np.testing.assert_allclose(bandits.variances, matrix.var(axis=2), atol=1e-12)


def test_low_rank_draws_are_entries_of_the_matrix_with_its_mean_and_variance():
    bandits = small_problem(1)
    rewards = bandits.rewards(np.arange(5)[None, :], np.random.default_rng(7))
    matrix = (bandits.items @ bandits.users.T)[bandits.arms[0]]
    pulls = 3000
    for arm in (0, 1):
        drawn = np.array([rewards.draw(0, arm, k) for k in range(pulls)])
        assert np.abs(drawn[:, None] - matrix[arm]).min(axis=1).max() < 1e-12
        error = np.sqrt(bandits.variances[0, arm] / pulls)  # false alarms below 1e-8 at six errors
        assert abs(drawn.mean() - bandits.means[0, arm]) < 6 * error
        fourth = np.mean((matrix[arm] - matrix[arm].mean()) ** 4)
        error = np.sqrt((fourth - bandits.variances[0, arm] ** 2) / pulls)
        assert abs(drawn.var() - bandits.variances[0, arm]) < 6 * error


@pytest.mark.parametrize("plain, runs", [(False, 300), (True, 3)])
def test_low_rank_rewards_play_like_the_rows_of_the_matrix(plain, runs):
    """A table that holds the matrix picks the same user with the same random number, so it makes the same pulls."""
    bandits = small_problem(runs)
    table = bai.TableBandits(bandits.items @ bandits.users.T, bandits.arms)
    for policy in (bai.Unif(), bai.SH(), bai.SHVar(), bai.SHAdaVar()):
        one, other = (bai.simulate(policy, some, 300, seed=8, plain=plain) for some in (bandits, table))
        np.testing.assert_array_equal(one.pulls, other.pulls)
        np.testing.assert_array_equal(one.recommended, other.recommended)
