"""The files around the book agree with each other."""

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import nbformat
import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tools"), str(ROOT / "_ext")]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_is_the_same_everywhere():
    from release_notes import newest_release, versions

    version, _, notes = newest_release(read("CHANGELOG.md"))  # below what is not released yet
    assert versions() == dict.fromkeys(["pyproject.toml", "CITATION.cff", ".zenodo.json"], version)
    assert notes.startswith("- ")


def test_doi_is_described_as_in_the_citation():
    citation, doi = yaml.safe_load(read("CITATION.cff")), json.loads(read(".zenodo.json"))
    assert (doi["title"], doi["keywords"]) == (citation["title"], citation["keywords"])
    assert (doi["upload_type"], doi["creators"]) == (citation["type"], citation["authors"])
    code, data, scores = tomllib.loads(read("pyproject.toml"))["project"]["license"].split(" AND ")
    assert (doi["license"], data) == (citation["license"][0], "LicenseRef-MovieLens-1M") and doi["license"] == code
    assert scores == "CC-BY-NC-4.0"
    assert all(
        licence in doi["notes"] for licence in [*citation["license"], "MovieLens 1M", "CC-BY-NC-4.0", "LICENSE-data.md"]
    )
    papers = [entry["value"] for paper in citation["references"] for entry in paper["identifiers"]]
    assert [entry["identifier"] for entry in doi["related_identifiers"]] == papers


# --- releases --------------------------------------------------------------------------------------------

READY = {
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0 (2030-01-31)\n\n- New.\n\n## 1.1.0 (2029-12-24)\n\n- Old.\n",
    "pyproject.toml": '[project]\nversion = "1.2.0"\n',
    "CITATION.cff": "version: 1.2.0\ndate-released: 2030-01-31\n",
    ".zenodo.json": '{"version": "1.2.0"}\n',
}
NOT_READY = {  # file, what stands there, what is written in its place; the obstacle that is named
    "tag": ("", "", "", "the tag is v1.3.0, but the newest release in CHANGELOG.md is 1.2.0"),
    "package": ("pyproject.toml", "1.2.0", "1.1.0", "pyproject.toml states version 1.1.0, CHANGELOG.md 1.2.0"),
    "citation": ("CITATION.cff", "1.2.0", "1.1.0", "CITATION.cff states version 1.1.0, CHANGELOG.md 1.2.0"),
    "doi": (".zenodo.json", "1.2.0", "1.1.0", ".zenodo.json states version 1.1.0, CHANGELOG.md 1.2.0"),
    "not dated": ("CHANGELOG.md", "2030-01-31", "not yet released", "the heading of 1.2.0 in CHANGELOG.md has no date"),
    "other date": ("CITATION.cff", "01-31", "02-01", "date-released 2030-02-01, CHANGELOG.md 2030-01-31"),
    "unreleased": ("CHANGELOG.md", "## 1.2.0", "## Unreleased\n\n- More.\n\n## 1.2.0", "has a section Unreleased"),
    "no notes": ("CHANGELOG.md", "- New.", "", "CHANGELOG.md says nothing about 1.2.0"),
}


def write_release(folder, changed="", old="", new=""):
    for name, text in READY.items():
        (folder / name).write_text(text.replace(old, new) if name == changed else text)


def test_release_notes_are_the_section_of_the_changelog(tmp_path):
    from release_notes import newest_release, obstacles

    write_release(tmp_path)
    assert obstacles("v1.2.0", tmp_path) == []
    assert newest_release(READY["CHANGELOG.md"]) == ("1.2.0", "2030-01-31", "- New.")


@pytest.mark.parametrize("case", NOT_READY)
def test_release_that_is_not_ready_is_refused(case, tmp_path):
    from release_notes import obstacles

    file, old, new, obstacle = NOT_READY[case]
    write_release(tmp_path, file, old, new)
    (found,) = obstacles("v1.3.0" if case == "tag" else "v1.2.0", tmp_path)
    assert obstacle in found


def test_release_program_names_every_obstacle():
    done = subprocess.run([sys.executable, ROOT / "tools" / "release_notes.py", "v0"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("error: the tag is v0") and not done.stdout


def test_release_workflow_publishes_to_pypi_only_when_switched_on():
    jobs = yaml.safe_load(read(".github/workflows/release.yml"))["jobs"]
    assert jobs["pypi"]["if"] == "vars.PUBLISH_TO_PYPI == 'true'" and jobs["pypi"]["environment"]["name"] == "pypi"
    assert jobs["build"]["needs"] == "test" and jobs["attest"]["needs"] == "build"
    assert jobs["release"]["needs"] == jobs["pypi"]["needs"] == "attest"


# --- workflows -------------------------------------------------------------------------------------------

WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
JOBS = [
    pytest.param(job, id=f"{path.stem}-{name}")
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text())["jobs"].items()
]
INSTALL = [
    "pip install --require-hashes -r .github/locked.txt",
    "pip install --no-deps --no-build-isolation -e .",
]
CHOOSE_VERSIONS = {"monthly-newest", "monthly-lowest"}  # install the newest or the lowest that pyproject.toml allows


def actions(job):
    return [step["uses"].split("@")[0] for step in job["steps"] if "uses" in step]


def commands(job):
    runs = [step["run"] for step in job["steps"] if "run" in step]
    return [line.strip() for run in runs for line in run.replace("\\\n", " ").splitlines()]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_workflow_pins_every_action_by_commit_and_names_its_version(path):
    lines = [line.strip() for line in path.read_text().splitlines() if "uses:" in line]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"(- )?uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


def test_workflows_use_one_commit_of_each_action():
    pins = {line.split("uses: ")[1] for path in WORKFLOWS for line in path.read_text().splitlines() if "uses: " in line}
    assert len(pins) == len({pin.split("@")[0] for pin in pins})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_workflow_grants_nothing_by_itself_and_runs_once_at_a_time(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {} and workflow["concurrency"]["group"]
    assert "pull_request_target" not in workflow[True] and "secrets." not in path.read_text()  # YAML reads "on" as True


@pytest.mark.parametrize("job", JOBS)
def test_job_states_its_permissions_and_a_time_limit(job):
    assert job["permissions"] and set(job["permissions"].values()) <= {"read", "write"}
    assert 0 < job["timeout-minutes"] <= 60
    assert not re.search("latest$", job["runs-on"])


@pytest.mark.parametrize("job", JOBS)
def test_job_that_may_write_runs_no_code_of_the_project(job):
    if "write" in job["permissions"].values():
        assert "actions/checkout" not in actions(job) and "actions/setup-python" not in actions(job)
        assert {line.split()[0] for line in commands(job)} <= {"git", "gh"}
    else:
        assert job["permissions"] == {"contents": "read"} and "github.token" not in yaml.dump(job)


def test_checkout_leaves_no_credentials_behind():
    steps = [step for job in JOBS for step in job.values[0]["steps"] if "actions/checkout@" in step.get("uses", "")]
    assert steps and all(step["with"]["persist-credentials"] is False for step in steps)


@pytest.mark.parametrize("job", [job for job in JOBS if job.id not in CHOOSE_VERSIONS])
def test_job_installs_by_hash(job):
    assert [line for line in commands(job) if "pip install" in line] == (
        INSTALL if "actions/checkout" in actions(job) else []
    )


@pytest.mark.parametrize("job", JOBS)
def test_job_uses_no_cache_that_another_run_could_fill(job):
    assert "actions/cache" not in actions(job)
    assert not any("cache" in step.get("with", {}) for step in job["steps"])


def test_workflow_expands_no_expression_inside_a_command():
    assert [line for job in JOBS for line in commands(job.values[0]) if "${{" in line] == []


def test_book_is_tested_on_every_python_that_the_package_names():
    matrix = yaml.safe_load(read(".github/workflows/book.yml"))["jobs"]["test"]["strategy"]["matrix"]["python"]
    project = tomllib.loads(read("pyproject.toml"))["project"]
    names = [name.rsplit(" ", 1)[1] for name in project["classifiers"] if " :: Python :: 3." in name]
    assert matrix == names and project["requires-python"] == f">={names[0]}"


def test_pages_are_compared_on_every_processor_that_is_imitated():
    processors = pytest.importorskip("test_processors").PROCESSORS
    job = yaml.safe_load(read(".github/workflows/monthly.yml"))["jobs"]["processors"]
    assert job["strategy"]["matrix"]["processor"] == list(processors)
    assert 'python tests/test_processors.py "$PROCESSOR"' in commands(job)
    assert f"python tests/test_processors.py {processors[0]}" in read("CONTRIBUTING.md")


def test_workflows_have_no_finding_of_zizmor():
    zizmor = Path(sysconfig.get_path("scripts"), "zizmor")
    command = [zizmor, "--offline", "--quiet", "--persona=auditor", ROOT / ".github"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_locked_requirements_are_those_of_requirements_with_hashes():
    pins = {}
    lines = [line for line in read(".github/locked.txt").splitlines() if line[:1] not in "#"]
    assert lines[0] == "--only-binary :all:"
    for line in lines[1:]:
        if match := re.fullmatch(r"([a-z0-9-]+)==(\S+) \\", line):
            hashes = pins[match[1]] = (match[2], [])
        else:
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line), line
            hashes[1].append(line)
    assert all(found for _, found in pins.values())
    wanted = (line.split("==") for line in read("requirements.txt").splitlines()[:-1])
    assert {name: version for name, (version, _) in pins.items()} == {
        re.sub(r"[._-]+", "-", name).lower(): version for name, version in wanted
    }


# --- pages -----------------------------------------------------------------------------------------------


def test_api_page_has_every_public_name_once():
    pytest.importorskip("sphinx")
    bai = pytest.importorskip("bai")
    from api import listed

    page = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("reference/api/*.md")))
    written = [name for kind in re.findall(r"^```{class-list} (\w+)$", page, flags=re.M) for name in listed(kind)]
    single = re.findall(r"^\.\. (?:auto|data|module)\w*:: (?:bai\.)?(\S+)$", page, flags=re.M)
    written += [f"bai.{name}" for name in single]
    assert sorted({f"bai.{name}" for name in bai.__all__} - set(written)) == []
    assert len(written) == len(set(written))


def test_map_of_the_subject_names_every_policy():
    import bai

    rows = [line.split("|")[1] for line in read("chapters/map.md").splitlines() if line.startswith("| ")]
    named = {name.strip() for row in rows for name in row.split(",")}
    assert not {policy.name for policy in bai.REGISTRY + bai.FIELD} - named


def test_every_chapter_is_in_the_table_of_contents():
    listed = re.findall(r"^[ -]*file: (\S+)", read("_toc.yml"), flags=re.M)
    written = [p.relative_to(ROOT).with_suffix("").as_posix() for p in ROOT.glob("chapters/*.ipynb")]
    assert sorted(set(written) - set(listed)) == []


def test_published_notebooks_get_a_cell_that_installs_the_package_before_all_other_code():
    from add_install_cell import add_install_cell

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title")])
    notebook.cells += [nbformat.v4.new_code_cell("import bai"), nbformat.v4.new_code_cell("bai.SH()")]
    add_install_cell(notebook, "https://git.example/owner/name")
    nbformat.validate(notebook)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "code", "code"]
    assert "%pip install -q git+https://git.example/owner/name" in notebook.cells[1].source
    assert notebook.cells[1].metadata["tags"] == ["remove-cell"]  # the pages of the book do not show it


COMMANDS = {  # what each workflow runs, by how the line in CONTRIBUTING.md begins
    "book": ["pytest .*--nbval"],
    "monthly": ["pytest .*--nbval"],
    "release": ["pytest .*--nbval"],
    "weekly": ["pytest .*test_fuzz", "python tests/mutants"],
}


@pytest.mark.parametrize("path", sorted(ROOT.glob(".github/workflows/*.yml")), ids=lambda p: p.stem)
def test_workflow_runs_the_commands_of_contributors(path):
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    run = [step.get("run") for job in jobs for step in job["steps"]]
    for start in COMMANDS[path.stem]:
        assert re.search(rf"^\s+({start}.*)$", read("CONTRIBUTING.md"), flags=re.M)[1] in run


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

    assert PICTURE.read_text(encoding="utf-8") == stored_picture(), "run: python tools/make_picture.py"
    assert "_static/picture.svg" in read("README.md")
