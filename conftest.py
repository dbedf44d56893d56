"""How the tests are run: the slowest first or not at all, kernels that start at once, no page that lacks its data."""

import gc
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent

# nbgrader and JupyterHub run these files with a name that they define; nothing else can import them.
collect_ignore = ["chapters/assignments/nbgrader_config.py", "deploy/jupyterhub_config.py"]

# Files by the time they take, the longest first: two processes then finish at nearly the same time.
SLOWEST = [
    "test_site.py",
    "test_assignments.py",
    "test_package.py",
    "test_large.py",
    "test_leaderboard.py",
    "test_processors.py",
    "test_bounds.py",
    "movielens_data.ipynb",
    "test_movielens.py",
    "test_live.py",
    "test_exact_bounds.py",
    "movielens_readings.ipynb",
    "keep_samples.ipynb",
    "own_arms.ipynb",
    "large_studies.ipynb",
    "lower_bound.ipynb",
    "test_open.py",
    "test_field.py",
    "scoreboard.ipynb",
    "appendix_e.ipynb",
    "test_live_figures.py",
    "test_halvevar.py",
    "test_dask.py",  # after the files that fork: a cluster leaves threads behind, and to fork with threads may hang
]

# This one plays every policy, so that all later tests find their loops compiled.
COMPILING = "test_alike.py"

# Measuring coverage makes Python three times as slow. Tests whose names begin like this run what others run too, often
# on many inputs.
COVERED_BY_OTHERS = (
    "chapters/",
    "index.ipynb",
    "tests/test_algorithms.py",
    "tests/test_alike.py::test_experiment_fed_from",
    "tests/test_alike.py::test_exploration_breaks",
    "tests/test_alike.py::test_levels_that",
    "tests/test_alike.py::test_plain_and_compiled",
    "tests/test_assignments.py::test_a_time_limit",  # an alarm that rings while the tracer holds its lock would hang
    "tests/test_assignments.py::test_another",
    "tests/test_assignments.py::test_code_that_reaches_out",
    "tests/test_assignments.py::test_every_assertion",
    "tests/test_assignments.py::test_every_student_gets_a_mark",
    "tests/test_assignments.py::test_functions_of_ours_are_not_asked_for_ever",
    "tests/test_assignments.py::test_generate_assignment",
    "tests/test_assignments.py::test_mistake_loses",
    "tests/test_assignments.py::test_other_names",
    "tests/test_assignments.py::test_students_get",
    "tests/test_assignments.py::test_untouched",
    "tests/test_bounds.py::test_elimination_in_the_first_stage",
    "tests/test_bounds.py::test_no_bound_of_sh",
    "tests/test_bounds.py::test_the_bound_of_sh_with_one_proxy",
    "tests/test_bounds.py::test_the_cheapest_path_bounds",
    "tests/test_bounds.py::test_the_sharp_bounds",
    "tests/test_by_hand.py",
    "tests/test_confirmation.py::test_intervals",
    "tests/test_dask.py",
    "tests/test_errors.py::test_an_experiment_can_be_pickled",
    "tests/test_errors.py::test_the_least_budget",
    "tests/test_exact_bounds.py",
    "tests/test_experiment.py::test_a_forecast_from",
    "tests/test_experiment.py::test_batches_of_any_size",
    "tests/test_experiment.py::test_probabilities_are_right",
    "tests/test_field.py",
    "tests/test_fuzz.py",
    "tests/test_halvevar.py",
    "tests/test_large.py::test_a_full_disk",
    "tests/test_large.py::test_chances_agree",
    "tests/test_large.py::test_halving_at_one",
    "tests/test_large.py::test_no_changed_byte",
    "tests/test_leaderboard.py::test_blocks_played_again",
    "tests/test_live",
    "tests/test_notebooks.py",
    "tests/test_numbers.py",
    "tests/test_open.py",
    "tests/test_package.py",
    "tests/test_processors.py",
    "tests/test_project.py",
    "tests/test_properties.py",
    "tests/test_replays.py",
    "tests/test_select.py::test_claims_are_right",
    "tests/test_simulate.py::test_the_same_seed_gives_the_same_bits_with_any_number",
    "tests/test_site.py",
    "tests/test_stored.py::test_every_study",
    "tests/test_structure.py",
    "tests/test_teaching.py",
    "tests/test_theory.py",
)

# What measures coverage, kept here while it pauses.
MEASURED = pytest.StashKey()

# A search for garbage visits all that a process holds, which in a process of tests is a lot: search less often.
gc.set_threshold(100_000, 20, 100)

# Two processes share the cores: threads of BLAS beyond the first would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out the files that take longest")


def pytest_ignore_collect(collection_path, config):
    return True if config.getoption("quick") and collection_path.name in SLOWEST else None


def pytest_configure(config):
    if hasattr(config, "workerinput") and measuring() is not None:
        measuring().stop()  # pytest-cov starts one more in each process of pytest-xdist, whose lines it never reads
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # keeps pytest-xdist from putting files with many tests first
    if getattr(config.option, "nbval", False):
        config.option.nbval_kernel_startup_timeout = 600  # seconds, for a busy machine
        if not getattr(config.option, "numprocesses", None):  # not in the process that only hands out tests
            sys.path.append(str(ROOT / "tests"))
            import kernels

            kernels.use()
            set_up_nbval()


def set_up_nbval():
    """Let nbval pass over figures as it does over photographs, since their last digits may depend on the processor.

    Nor does it measure coverage in kernels: unit tests run what the pages run, and pages would take half as long again.
    """
    import nbval.plugin
    from nbval.plugin import IPyNbFile

    nbval.plugin.setup_coverage = nbval.plugin.teardown_coverage = lambda *_: None
    usual = IPyNbFile.__init__

    def init(self, *args, **kwargs):
        usual(self, *args, **kwargs)
        self.skip_compare = (*self.skip_compare, "image/svg+xml")

    IPyNbFile.__init__ = init


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Look for no garbage while tests are collected, nor later in what was made then: all of it stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        if measuring() is not None:
            session.config.stash[MEASURED] = measuring()
            measuring().stop()  # until the first test


def pytest_collection_modifyitems(items):
    order = [SLOWEST[0], COMPILING, *SLOWEST[1:]]
    place = {name: number for number, name in enumerate(order)}
    items.sort(key=lambda item: place.get(item.path.name, len(order)))
    if not os.environ.get("BAI_MOVIELENS"):
        reason = "the cells of movielens_data.ipynb need BAI_MOVIELENS to name ml-1m.zip or its folder"
        for item in items:
            if item.path.name == "movielens_data.ipynb":
                item.add_marker(pytest.mark.skip(reason=reason))


def measuring():
    """Return what measures coverage at the moment, if anything does."""
    return sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Measure coverage unless others run what this test runs, and nothing of what pytest does about a test."""
    coverage = item.config.stash.get(MEASURED, None)
    if coverage is None or item.nodeid.startswith(COVERED_BY_OTHERS):
        return (yield)
    coverage.start()
    try:
        return (yield)
    finally:
        coverage.stop()


pytest_runtest_setup = pytest_runtest_teardown = pytest_runtest_call  # which make what a test needs, and take it away
