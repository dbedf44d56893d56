"""Scores and votes that others have collected: real candidates, judged on many examples or by many people."""

from __future__ import annotations

import os
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd

CONTESTS, VOTES = (603, 610, 618), 300


@cache
def alpaca() -> pd.DataFrame:
    """Return the scores of 40 models on 803 instructions of AlpacaEval 2, a column per model.

    A score is the judge's probability that the model's answer is better than the baseline's.

    Examples
    --------
    >>> alpaca().shape
    (803, 40)
    """
    with resources.files("bai.book").joinpath("data/alpaca_eval.npz").open("rb") as file, np.load(file) as found:
        return pd.DataFrame(found["thousandths"].T / 1000, columns=[str(name) for name in found["models"]])


def captions(contest: int) -> np.ndarray | None:
    """Return 300 votes (1, 2 or 3) on each caption of a contest, a row per caption; None without the file of counts.

    The votes do not ship. The environment variable BAI_CAPTIONS names the file.
    """
    name = os.environ.get("BAI_CAPTIONS", "")
    return _votes(name, contest) if Path(name).is_file() else None


@cache
def _votes(file: str, contest: int) -> np.ndarray:
    table = pd.read_csv(file)
    counts = table[table["contest"] == contest].iloc[:, 1:].to_numpy()
    rng = np.random.default_rng(contest)
    drawn = [rng.multivariate_hypergeometric(row, VOTES) for row in counts]
    return np.array([rng.permutation(np.repeat([1.0, 2.0, 3.0], row)) for row in drawn])
