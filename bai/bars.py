"""Progress bars, where a person is watching."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np

from . import checks

Item = TypeVar("Item")
PATIENCE = 5  # seconds before a bar appears in Jupyter


def bar(progress: bool | None, **options: Any) -> AbstractContextManager[Any]:
    """Return a bar of tqdm with these options, or a context that holds None.

    By default there is one in a terminal, and in Jupyter after a few seconds, but none where a program runs a notebook.

    Examples
    --------
    >>> with bar(False, total=3) as shown:
    ...     print(shown)
    None
    """
    if progress is None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        jupyter = "JPY_SESSION_NAME" in os.environ  # set by Jupyter's server, not by nbconvert or nbval
        progress = (terminal or jupyter) and importlib.util.find_spec("tqdm") is not None
        options |= {"delay": PATIENCE if jupyter else 0}
    elif not isinstance(progress, (bool, np.bool_)):
        checks.wrong_type("progress", progress, "True, False or None")
    if not progress:
        return nullcontext()
    try:
        from tqdm import TqdmWarning
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        raise checks.not_installed("progress=True", "tqdm", extra="progress") from None
    with warnings.catch_warnings():  # a notebook without widgets gets the bar as text, which needs no warning
        warnings.simplefilter("ignore", TqdmWarning)
        return tqdm(**options)


def watch(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, with a bar that says how many are done, by the same rule as `bar`.

    Examples
    --------
    >>> [2 * item for item in watch([1, 2])]
    [2, 4]
    """
    items = list(items)
    with bar(None, total=len(items)) as shown:
        for item in items:
            yield item
            if shown is not None:
                shown.update()
