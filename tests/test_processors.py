"""The same bits on any processor: neither BLAS kernels nor vector instructions nor the compiler's target change any."""

import os
import subprocess
import sys

import pytest

# What passes through NumPy, SciPy and BLAS on its way into a problem, and plays of policies with square roots and logs.
PROGRAM = """
import hashlib
import bai
from bai.book import leaderboard

digest = hashlib.sha256()
problems = {"movies": bai.movielens(64, 100, seed=1), "distinct": bai.movielens(16, 20, seed=2, repeats=False)}
problems |= {name: family.make(60, 1) for name, family in leaderboard.FAMILIES.items()}
for name, bandits in problems.items():
    for array in ("means", "variances"):
        digest.update(getattr(bandits, array).tobytes())
print("problems", digest.hexdigest())
for policy in (bai.SHVar(), bai.SHAdaVar(reuse=True), bai.GapEV(), bai.TopTwo()):
    for bandits in (problems["MovieLens, 64"].select(slice(20)), problems["heavy tails"], problems["rare successes"]):
        out = bai.simulate(policy, bandits, 600, seed=3)
        digest.update(out.pulls.tobytes() + out.recommended.tobytes())
print("plays", digest.hexdigest())
"""

SETTINGS = {
    "a processor without AVX": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "NUMBA_CPU_NAME": "generic",
    },
    "one with AVX2": {
        "OPENBLAS_CORETYPE": "Haswell",
        "OPENBLAS_NUM_THREADS": "2",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    },
    "one with AVX-512": {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "2"},
}


def hashes(tmp_path, **environment):
    if "NUMBA_CPU_NAME" in environment:
        environment["NUMBA_CACHE_DIR"] = str(tmp_path)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, env=os.environ | environment
    )
    if run.returncode < 0:  # a signal
        pytest.skip(f"this processor cannot run {environment}")
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return hashes(tmp_path_factory.mktemp("usual"))


@pytest.mark.parametrize("setting", SETTINGS)
def test_problems_and_plays_have_the_same_bits_on_another_processor(setting, usual, tmp_path):
    assert hashes(tmp_path, **SETTINGS[setting]) == usual
