"""The same bits on any processor: neither BLAS kernels nor vector instructions nor the compiler's target change any.

All pages as another processor prints them, in about five minutes of computing:

    python tests/test_processors.py Nehalem
"""

import json
import os
import platform
import subprocess
import sys

import pytest

if platform.machine() not in ("x86_64", "AMD64"):
    pytest.skip("only x86 processors can imitate each other", allow_module_level=True)

# Prints how the libraries compute. NumPy lists the instructions for which it has loops of their own.
METHODS = """
import gc
gc.disable()  # loops are compiled, and searches for garbage would take an eighth of that time
import json
import numpy.linalg, scipy.linalg
from numba.core.registry import cpu_target
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from threadpoolctl import threadpool_info

blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
print(json.dumps({
    "BLAS": sorted({library["architecture"] for library in blas}),
    "threads": sorted({library["num_threads"] for library in blas}),
    "NumPy": {name: __cpu_features__[name] for name in __cpu_dispatch__},
    "numba": cpu_target.target_context.codegen().magic_tuple()[1:],
}))
"""

# What passes through NumPy, SciPy and BLAS on its way into a problem, and plays of policies with square roots and logs.
PROGRAM = """
import hashlib
import bai
from bai.book import families

digest = hashlib.sha256()
problems = {"movies": bai.movielens(64, 100, seed=1), "distinct": bai.movielens(16, 20, seed=2, repeats=False)}
problems |= {name: family.make(60, 1) for name, family in families.at_hand().items()}
for name, bandits in problems.items():
    for array in ("means", "variances"):
        digest.update(getattr(bandits, array).tobytes())
print("problems", digest.hexdigest())
for policy, name in (
    (bai.SHVar(), "heavy tails"),
    (bai.SHAdaVar(reuse=True), "MovieLens, 64"),
    (bai.GapEV(), "rare successes"),
    (bai.TopTwo(), "MovieLens, 64"),
):
    out = bai.simulate(policy, problems[name].select(slice(20)), 600, seed=3)
    digest.update(out.pulls.tobytes() + out.recommended.tobytes())
print("plays", digest.hexdigest())
"""

PROCESSORS = ("Nehalem", "Haswell", "SkylakeX")  # SSE, AVX2, AVX-512; OpenBLAS calls its kernels by these names


def run(program, environment):
    """Return how the libraries compute in this environment, and what the program prints."""
    command = [sys.executable, "-W", "ignore", "-c", METHODS + program]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    methods, _, printed = done.stdout.partition("\n")
    return json.loads(methods), printed


def imitation(processor, usual):
    """Return the environment in which the libraries compute as on a processor, and what they must then say."""
    wide = [name for name in usual["NumPy"] if name == "X86_V4" or "512" in name]
    if processor == "SkylakeX" and not any(usual["NumPy"][name] for name in wide):
        pytest.skip("this processor has no AVX-512")
    off = {"Nehalem": list(usual["NumPy"]), "Haswell": wide, "SkylakeX": []}[processor]
    environment = {"OPENBLAS_CORETYPE": processor}
    expected = {**usual, "BLAS": [processor], "NumPy": usual["NumPy"] | dict.fromkeys(off, False)}
    if off:
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(off)
    if processor == "Nehalem":
        environment |= {"OPENBLAS_NUM_THREADS": "1", "NUMBA_CPU_NAME": "generic"}
        expected |= {"threads": [1], "numba": ["generic", ""]}
    return environment, expected


@pytest.fixture(scope="module")
def usual():
    return run(PROGRAM, {})


@pytest.mark.parametrize("processor", PROCESSORS)
def test_problems_and_plays_have_the_same_bits_on_another_processor(processor, usual):
    environment, expected = imitation(processor, usual[0])
    methods, printed = run(PROGRAM, environment)
    assert methods == expected, "a setting had no effect"
    assert printed == usual[1]


def main(processor):
    """Compare what all pages print with what is stored in them."""
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "--nbval", "chapters", "index.ipynb"]
    try:
        environment, expected = imitation(processor, run("", {})[0])
    except pytest.skip.Exception as reason:
        print(f"No page was compared: {reason}")
        return 0
    assert run("", environment)[0] == expected, "a setting had no effect"
    return subprocess.call(command, env=os.environ | environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
