"""Tables that several pages show."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from ..policies import Policy
from ..study import SweepTable

Pair = tuple[Policy | str, Policy | str]


def compare(table: SweepTable, *pairs: Pair, budgets: Iterable[int] | None = None) -> pd.DataFrame:
    """Return the paired comparisons of a study: a row for each problem, pair of policies A and B, and budget.

    "A errs" and "B errs" are the mistake rates, "A − B" is their difference with a 95 % interval, and p belongs to the
    exact McNemar test on the runs in which only one of the two errs. The problem is shown where there are several.

    Parameters
    ----------
    table : SweepTable
        As `bai.sweep` returns it.
    *pairs : pair of Policy or str
        Policies of the table, or their names in it.
    budgets : iterable of int, optional
        By default all budgets of the table.

    Examples
    --------
    >>> import bai
    >>> table = bai.sweep([bai.Unif(), bai.SH()], bai.synthetic(16, 500, seed=0), [100, 200], seed=1)
    >>> compare(table, ("Unif", "SH"), budgets=[200]).reset_index()
          A   B  budget  A errs  B errs             A − B       p
    0  Unif  SH     200   0.246   0.346  -0.1000 ± 0.0556  0.0006
    """
    if not pairs:
        raise ValueError("pairs is empty; name two policies of the table, as in compare(table, ('Unif', 'SH'))")
    budgets = list(table["budget"].unique() if budgets is None else budgets)
    problems = list(table["problem"].unique())
    rows = [
        [problem, str(first), str(second), budget, *_row(table, first, second, problem, budget)]
        for problem in problems
        for first, second in pairs
        for budget in budgets
    ]
    columns = ["problem", "A", "B", "budget", "A errs", "B errs", "A − B", "p"]
    compared = pd.DataFrame(rows, columns=columns).set_index(columns[:4])
    return compared if len(problems) > 1 else compared.droplevel("problem")


def _row(table: SweepTable, first: Policy | str, second: Policy | str, problem: str, budget: int) -> list[str | float]:
    rates = [round(float(table.run_mistakes(name, problem, budget).mean()), 4) for name in (first, second)]
    pair = table.paired(first, second, problem, budget)
    difference = f"{pair.difference:+.4f} ± {1.96 * pair.standard_error:.4f}"
    p = f"{pair.p_value:.1g}" if pair.p_value > 1e-9 else "< 1e-9"
    return [*rates, difference, p]
