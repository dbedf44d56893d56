"""How the tests are run: the slowest first or not at all, kernels that start at once, no page that lacks its data."""

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
    "test_live.py",
    "test_large.py",
    "keep_samples.ipynb",
    "test_package.py",
    "test_open.py",
    "test_processors.py",
    "test_movielens.py",
    "movielens_data.ipynb",
    "baselines.ipynb",
    "large_studies.ipynb",
    "bounded_rewards.ipynb",
    "own_arms.ipynb",
    "scoreboard.ipynb",
    "movielens.ipynb",
    "synthetic.ipynb",
    "experiments.ipynb",
    "choosing.ipynb",
    "test_dask.py",  # after the files that fork: a cluster leaves threads behind, and to fork with threads may hang
]

# Measuring coverage makes Python three times as slow. These tests, named by how they begin, play again, on many inputs,
# what others cover.
PLAYED_AGAIN = (
    "test_batches_of_any_size_never_ask_for_more_than_the_budget",
    "test_exploration_breaks_the_many_ties_of_coins_alike",
    "test_levels_that_prove_too_deep_are_taken_back_without_a_trace",
    "test_coins_are_played_as_their_plain_version_says",
    "test_every_policy_plays_an_own_problem_as_the_compiled_one_with_the_same_rewards",
    "test_every_policy_sees_the_rewards_that_an_own_problem_draws",
    "test_no_loop_that_computes_where_to_read_leaves_its_arrays",
    "test_plain_and_compiled_make_the_same_pulls[constant",
    "test_plain_and_compiled_make_the_same_pulls[equal_noise",
    "test_plain_and_compiled_make_the_same_pulls[far_away",
    "test_plain_and_compiled_make_the_same_pulls[silent",
    "test_plain_and_compiled_make_the_same_pulls_in_extreme_units",
    "test_plain_and_compiled_make_the_same_pulls_on_coins",
    "test_plain_and_compiled_make_the_same_pulls_on_extreme_rewards",
    "test_plain_and_compiled_make_the_same_pulls_with_64_arms",
    "test_what_the_pages_write_makes_the_pulls_of_bai",
    "test_blocks_played_again_give_the_stored_runs_bit_for_bit",
    "test_mistakes_are_as_frequent_as_in_another_implementation",
)

# Two processes share the cores: threads of BLAS beyond the first would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out the files that take longest")


def pytest_ignore_collect(collection_path, config):
    return True if config.getoption("quick") and collection_path.name in SLOWEST else None


def pytest_configure(config):
    config.addinivalue_line("markers", "no_cover: coverage is not measured (pytest-cov may not be there to say so)")
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # keeps pytest-xdist from putting files with many tests first
    if getattr(config.option, "nbval", False):
        config.option.nbval_kernel_startup_timeout = 600  # seconds, for a busy machine
        if not getattr(config.option, "numprocesses", None):  # not in the process that only hands out tests
            sys.path.append(str(ROOT / "tests"))
            import kernels

            kernels.use()
            use_no_drawings()


def use_no_drawings():
    """Let nbval pass over figures as it does over photographs: their last digits may depend on the processor."""
    from nbval.plugin import IPyNbFile

    usual = IPyNbFile.__init__

    def init(self, *args, **kwargs):
        usual(self, *args, **kwargs)
        self.skip_compare = (*self.skip_compare, "image/svg+xml")

    IPyNbFile.__init__ = init


def pytest_collection_modifyitems(items):
    place = {name: number for number, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(SLOWEST)))
    for item in items:
        if item.name.startswith(PLAYED_AGAIN):
            item.add_marker("no_cover")
    if not os.environ.get("BAI_MOVIELENS"):
        reason = "the cells of movielens_data.ipynb need BAI_MOVIELENS to name ml-1m.zip or its folder"
        for item in items:
            if item.path.name == "movielens_data.ipynb":
                item.add_marker(pytest.mark.skip(reason=reason))
