"""Experiments as plain JSON files, to be read in ten years. Reading one looks names up and runs nothing."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import checks
from .policies import FIELD, REGISTRY, Policy, variance_bounds
from .policies.variance_bounds import VarianceBound

FORMAT = {"file": "bai experiment", "version": 1}
OPTIONS = ("labels", "minimise", "costs", "earlier")
KEYS = ("policy", "n_arms", "budget", "seed", *OPTIONS, "history", "outstanding")
MOST_ARMS, LARGEST_BUDGET = 10**5, 10**7  # of a file, which might want to fill the memory
CLASSES: dict[str, type] = {cls.__name__: cls for cls in REGISTRY + FIELD} | {
    name: cls
    for name, cls in vars(variance_bounds).items()
    if isinstance(cls, type) and issubclass(cls, VarianceBound) and dataclasses.is_dataclass(cls)
}


def described(thing: Any) -> Any:
    """Return a policy, or an argument of one, as JSON has it."""
    if CLASSES.get(type(thing).__name__) is type(thing):
        fields = {field.name: described(getattr(thing, field.name)) for field in dataclasses.fields(thing)}
        return {"name": type(thing).__name__, **fields}
    if isinstance(thing, (tuple, list)):
        return [described(entry) for entry in thing]
    return thing if thing is None or isinstance(thing, (bool, int, float, str)) else {"shown": repr(thing)}


def policy_of(entry: Any) -> Policy:
    """Return the policy that `described` has written down.

    Examples
    --------
    >>> import bai
    >>> policy_of(described(bai.SHAdaVar(delta=0.1, reuse=True)))
    SHAdaVar(delta=0.1, bound=Gaussian(), reuse=True)
    """
    if not isinstance(entry, dict) or entry.get("name") not in CLASSES:
        raise ValueError(
            f"it has the policy {checks.shown(entry)}, which this version of bai does not know; give policy"
        )
    found = _object(entry)
    if not isinstance(found, Policy):
        raise ValueError(f"it has {checks.shown(entry)} for a policy")
    return found


def _object(entry: Any) -> Any:
    if isinstance(entry, list):
        return tuple(_object(inner) for inner in entry)
    if not isinstance(entry, dict):
        return entry
    arguments = {key: _object(value) for key, value in entry.items() if key not in ("name", "shown")}
    if entry.get("name") not in CLASSES:
        raise ValueError(f"it has {checks.shown(entry)}, which this version of bai does not know")
    return CLASSES[entry["name"]](**arguments)


def describe(experiment: Any) -> dict[str, Any]:
    """Return what a file says about an experiment."""
    found = {key: getattr(experiment, key) for key in KEYS}
    named = described(experiment.policy)
    return {**FORMAT, **found, "policy": {"shown": repr(experiment.policy)} | (named if "name" in named else {})}


def write(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write JSON to a new file and put it in place of the old."""
    target, _ = checks.file("path", path)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")
    os.replace(beside, target)


@contextmanager
def explained(path: Any) -> Iterator[None]:
    """Turn whatever is wrong with the content of a file into a ValueError that names it."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"path is {checks.shown(path)}, but the file is damaged or no experiment: {reason}") from None


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a file says, or raise ValueError unless it is one of ours."""
    target, size = checks.file("path", path)
    if size is None:
        raise ValueError(f"path is {checks.shown(path)}, but there is no such file; save an experiment first")
    with explained(path):
        found = json.loads(target.read_text(encoding="utf-8"), parse_constant=_no_number)
        if not isinstance(found, dict) or {key: found.get(key) for key in FORMAT} != FORMAT:
            raise ValueError("it does not say that it is an experiment of version 1")
        missing = [key for key in KEYS if key not in found]
        if missing:
            raise ValueError(f"it has no {missing[0]}")
        checks.integer("n_arms", found["n_arms"], 2, below=MOST_ARMS + 1)
        checks.number("budget", found["budget"], above=0, below=LARGEST_BUDGET + 1)
        if not isinstance(found["policy"], dict) or not isinstance(found["history"], list):
            raise ValueError("its policy or its history is of the wrong kind")
        cheapest = min(found["costs"] or [1])
        checks.number("budget / costs", found["budget"] / cheapest, above=0, below=LARGEST_BUDGET + 1)
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"it has {name} for a number")
