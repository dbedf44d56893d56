"""Kernels that start at once: forks of a process that has imported what nearly every page imports.

These imports take a kernel three seconds, which is more than most pages compute. A fork has the names and the memory of
a new kernel, but for modules that are loaded and not yet imported by a cell, and for loops that are compiled. It draws
every figure, so that an error in one is found, but writes no picture: nobody compares it, and writing takes longer than
drawing.
"""

import gc
import multiprocessing
import os
import runpy
import sys
import time
from pathlib import Path
from unittest import mock

import matplotlib
import pandas
from IPython.core import pylabtools
from jupyter_client.provisioning import local_provisioner

ROOT = Path(__file__).resolve().parent.parent
LOADED = ["bai", "ipykernel.kernelapp", "ipykernel.debugger", "matplotlib.pyplot", "scipy.stats"]
LOADED += ["IPython.core.completerlib", "pandas.io.formats.html", "psutil", "first_figure", "first_play"]
usual_launch = local_provisioner.launch_kernel
servers = multiprocessing.get_context("forkserver")


def draw(figure, *_, **options) -> str:
    """Draw a figure; return a picture without anything."""
    figure.draw_without_rendering()
    return "<svg/>"


def run(command: list[str], env: dict[str, str], cwd: str) -> None:
    """Be the kernel that a command would start."""
    missing = [name for name in LOADED if name not in sys.modules]
    assert not missing, f"the server of forks could not import {missing}"
    gc.freeze()  # what was loaded stays, and need not be looked at, nor its memory copied
    gc.set_threshold(100_000, 20, 100)
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"  # its processes import Dask once
    sys.path[:] = [entry for entry in sys.path if Path(entry).parent != ROOT]  # not tests, tools and _ext
    pandas.set_option("display.max_columns", 20)  # as pandas has it when a kernel imports it
    matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"  # as kernels have it
    pylabtools.print_figure = draw
    sys.argv = [*command[command.index("ipykernel_launcher") :], f"--IPKernelApp.parent_handle={os.getppid()}"]
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)


class Fork:
    """A kernel, with what Jupyter asks of a subprocess.Popen."""

    stdin = stdout = stderr = None

    def __init__(self, *job):
        self.process = servers.Process(target=run, args=job)
        with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):  # where the server finds what it loads
            self.process.start()
        self.pid = self.process.pid
        while os.getpgid(self.pid) != self.pid:  # Jupyter signals its group, which must not be ours
            time.sleep(0.001)

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


def launch(command, env=None, cwd=None, **more):
    """Start a kernel: a fork if it is one of this Python."""
    if command[0] != sys.executable or "ipykernel_launcher" not in command:
        return usual_launch(command, env=env, cwd=cwd, **more)
    return Fork(command, dict(os.environ if env is None else env), os.getcwd() if cwd is None else str(cwd))


def use() -> None:
    """Let Jupyter start forks in this process."""
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # the debugger is not used and need not warn
    servers.set_forkserver_preload(LOADED)
    local_provisioner.launch_kernel = launch
