"""The files around the book agree with each other."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_is_the_same_everywhere():
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert yaml.safe_load(read("CITATION.cff"))["version"] == version
    assert re.search(rf"^## {re.escape(version)}\b", read("CHANGELOG.md"), flags=re.M)


def test_every_chapter_is_in_the_table_of_contents():
    listed = re.findall(r"^[ -]*file: (\S+)", read("_toc.yml"), flags=re.M)
    written = [p.relative_to(ROOT).with_suffix("").as_posix() for p in ROOT.glob("chapters/*.ipynb")]
    assert sorted(set(written) - set(listed)) == []


def test_contributors_are_given_the_set_up_cell_that_is_tested():
    from test_notebooks import SETUP

    indented = re.sub("^", " " * 6, SETUP, flags=re.M)
    assert indented in read("CONTRIBUTING.md")


@pytest.mark.parametrize("path", sorted(ROOT.glob(".github/workflows/*.yml")), ids=lambda p: p.name)
def test_workflow_runs_the_test_command_of_contributors(path):
    command = re.search(r"^\s+(pytest .*)$", read("CONTRIBUTING.md"), flags=re.M)[1]
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    assert command in [step.get("run") for job in jobs for step in job["steps"]]


def test_readme_and_ci_run_the_test_command_of_contributors():
    command = re.search(r"^\s+(pytest .*)$", read("CONTRIBUTING.md"), flags=re.M)[1]
    line = f"python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt && .venv/bin/python -m {command}"
    assert line in read("README.md").splitlines()
    assert line in read(".ci/run").splitlines()


def test_requirements_are_exact_and_end_with_the_package_itself():
    lines = read("requirements.txt").splitlines()
    assert lines[-1] == "-e ."
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[^=\s]+", line) for line in lines[:-1])
    names = {re.sub(r"[._-]+", "-", line.split("==")[0]).lower() for line in lines[:-1]}
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = [*project["dependencies"], *(d for group in project["optional-dependencies"].values() for d in group)]
    assert {re.split(r"[<>=\[; ]", name)[0].lower() for name in wanted} <= names


def test_picture_of_the_readme_is_that_of_the_landing_page():
    from make_picture import PICTURE, stored_picture

    assert PICTURE.read_bytes() == stored_picture(), "run: python tools/make_picture.py"
    assert "_static/picture.png" in read("README.md")
