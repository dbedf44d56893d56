"""Whatever is passed to a public function, the result is the documented one or an error that names an argument.

Every public callable stands in `CALLS` with arguments that it takes. The tests put other values in their place: equal
ones of other types, which must change nothing, and anything else, which must be refused with TypeError or ValueError
in one sentence, or give a result that obeys the documentation. The environment variable BAI_EXAMPLES sets how many
random examples there are per callable.
"""

import dataclasses
import datetime
import inspect
import numbers
import os
import re
import types
from decimal import Decimal
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_alike import without_compiling

import bai
from bai import plots, theory, variance_bounds

EXAMPLES = int(os.environ.get("BAI_EXAMPLES", "25"))
ARMS = {"means": [1.0, 0.5, 0.25], "variances": [1.0, 0.5, 2.0]}
BANDITS = bai.GaussianBandits(**ARMS, runs=4)
TABLE = without_compiling(lambda: bai.sweep([bai.SH(), bai.Unif()], BANDITS, [12, 24], seed=1))
FACTORS = [[1.0, 0.5], [2.0, 0.5], [0.5, 1.0], [1.0, 1.0]]


# --- what the results must obey --------------------------------------------------------------------------


def anything(result):
    return True


def finite(result):
    return bool(np.isfinite(np.asarray(result, float)).all())


def not_nan(result):
    return not np.isnan(np.asarray(result, float)).any()


def an_ensemble(bandits):
    return (
        bandits.n_arms >= 2 and finite(bandits.means) and finite(bandits.variances) and (bandits.variances >= 0).all()
    )


def a_policy(policy):
    out = bai.simulate(policy, bai.GaussianBandits([1.0, 0.5], [1.0, 1.0]), max(20, policy.least_budget(2)), seed=0)
    return an_outcome(out) if policy.least_budget(2) <= 1000 else True


def an_outcome(out):
    runs, n_arms = out.pulls.shape
    within = (out.pulls >= 0).all() and (out.pulls.sum(axis=1) <= out.budget).all()
    return within and (out.recommended >= 0).all() and (out.recommended < n_arms).all() and len(out.regret) == runs


def an_experiment(experiment):
    return experiment.pulls.sum() <= experiment.budget and (
        not experiment.done or 0 <= experiment.best < experiment.n_arms
    )


def an_interval(ends):
    return bool(np.all((ends[0] >= 0) & (ends[0] <= ends[1]) & (ends[1] <= 1)))


def a_table(table):
    return bool((table["mistakes"] <= table["runs"]).all()) and an_interval((table["low"], table["high"]))


def batches(policy, n_arms, budget, seed, labels, minimise, costs, earlier, n):
    """Use an experiment with all its options."""
    experiment = bai.Experiment(policy, n_arms, budget, seed, labels, minimise, costs, earlier)
    experiment.ask(n)
    return experiment


def a_report(arm, reward, confidence, m, epsilon):
    """Tell an experiment a batch, and ask for all that it knows."""
    experiment = bai.Experiment(bai.Unif(), 3, 30)
    experiment.ask(6)
    experiment.tell(arm, reward)
    assert an_interval((experiment.chances(m, epsilon), np.ones(3)))
    assert len(experiment.summary(confidence)) == 3
    return experiment


def any_score(candidate, example):
    return 1.0 if isinstance(candidate, numbers.Real) and candidate == example else 0.5


def summary_plot(table, ax):
    axes = plots.summary_plot(table, ax)
    plt.close("all")
    return axes.get_xlabel()


def curves(table, x, ax):
    axes = plots.mistake_curves(table, x, ax)
    plt.close("all")
    return [line.get_xdata().tolist() for line in axes.lines]


def parts(**arguments):
    axes = plots.panels(**arguments)
    plt.close("all")
    return len(axes)


# --- every public callable, with arguments that it takes ---------------------------------------------------


@dataclasses.dataclass
class Call:
    function: object
    arguments: dict
    holds: object = anything


SIMULATED = {"policy": bai.SHAdaVar(), "bandits": BANDITS, "budget": 60, "seed": 3, "executor": None}
STUDY = {"policies": bai.SH(), "problems": BANDITS, "budgets": [12, 24], "seed": 3, "executor": None, "progress": None}
COUNTS = {"mistakes": [0, 5], "runs": 100, "confidence": 0.5}
STAGE = {"variances": [1.0, 4.0], "stage_budget": [64, 100]}
PROBLEM = {**ARMS, "budget": [64, 100]}

CALLS = {
    "Bandits": Call(bai.Bandits, {**ARMS, "runs": 5}, an_ensemble),
    "GaussianBandits": Call(bai.GaussianBandits, {**ARMS, "runs": 5}, an_ensemble),
    "BernoulliBandits": Call(bai.BernoulliBandits, {"means": [1.0, 0.5, 0.0], "runs": 5}, an_ensemble),
    "TableBandits": Call(bai.TableBandits, {"table": FACTORS, "arms": [[0, 1], [2, 3]]}, an_ensemble),
    "LowRankBandits": Call(
        bai.LowRankBandits, {"items": FACTORS, "users": FACTORS, "arms": [[0, 1], [2, 3]]}, an_ensemble
    ),
    "ReplayBandits": Call(
        bai.ReplayBandits, {"stacks": [FACTORS], "means": [[1.0, 2.0, 3.0, 4.0]], "variances": [[1.0] * 4]}, an_ensemble
    ),
    "RescaledBandits": Call(
        bai.RescaledBandits, {"bandits": BANDITS, "units": [1.0, 2.0, 0.5, 4.0], "levels": 0.5}, an_ensemble
    ),
    "synthetic": Call(bai.synthetic, {"n_arms": 3, "runs": 5, "seed": 1, "best_arm": "quiet"}, an_ensemble),
    "movielens": Call(
        bai.movielens,
        {
            "n_arms": 3,
            "runs": 2,
            "seed": 1,
            "shift": 2.0,
            "best_arm": "quiet",
            "repeats": True,
            "factors": None,
        },
        an_ensemble,
    ),
    "simulate": Call(bai.simulate, {**SIMULATED, "plain": False}, an_outcome),
    "rao_blackwell": Call(bai.rao_blackwell, SIMULATED, lambda out: not_nan(out.chances)),
    "sweep": Call(bai.sweep, {**STUDY, "checkpoint": None, "runs": None}, a_table),
    "Until": Call(bai.Until, {"half_width": 0.25}, lambda until: 0 < until.half_width < 0.5),
    "SweepTable.run_mistakes": Call(TABLE.run_mistakes, {"policy": "SH", "problem": "problem", "budget": 24}),
    "SweepTable.paired": Call(TABLE.paired, {"first": "SH", "second": "Unif", "problem": "problem", "budget": 24}),
    "read_checkpoint": Call(bai.read_checkpoint, {"checkpoint": "no such file"}),
    "Experiment": Call(
        batches,
        {
            **{"policy": bai.TopTwo(), "n_arms": 3, "budget": 30, "seed": 3, "labels": ["a", "b", "c"]},
            **{"minimise": True, "costs": [1.0, 2.0, 1.0], "earlier": [(0, 1.0), (2, 0.5)], "n": 4},
        },
        an_experiment,
    ),
    "Experiment.tell": Call(
        a_report,
        {"arm": [0, 1, 2], "reward": [1.0, 0.5, 2.0], "confidence": 0.5, "m": 2, "epsilon": 0.5},
        an_experiment,
    ),
    "identify": Call(
        bai.identify,
        {
            **{"policy": bai.SR(), "pull": float, "n_arms": 3, "budget": 30, "seed": 3},
            **{"labels": ["a", "b", "c"], "minimise": True},
        },
        an_experiment,
    ),
    "select": Call(
        bai.select,
        {
            **{"candidates": [1.0, 2.0, 3.0], "evaluate": any_score, "examples": [1.0, 2.0, 3.0, 4.0], "budget": 10},
            **{"seed": 3, "minimise": True, "policy": "halving", "executor": None, "batch": 2, "retries": 0},
            **{"file": None, "progress": False},
        },
        lambda answer: answer.judged <= answer.budget and an_interval((answer.probability_best, 1.0)),
    ),
    "plan": Call(
        bai.plan,
        {
            **{"pilot": None, "means": [1.0, 0.5], "variances": [1.0, 0.5], "mistakes": 0.25, "regret": None},
            **{"policy": bai.SH(), "budgets": [12, 24], "seed": 3},
        },
        lambda plan: plan.budget is None or plan.budget in plan.curve["budget"].tolist(),
    ),
    "wilson": Call(bai.wilson, COUNTS, an_interval),
    "clopper_pearson": Call(bai.clopper_pearson, COUNTS, an_interval),
    "paired": Call(bai.paired, {"first": [True, False], "second": [False, False]}),
    # policies
    "Unif": Call(bai.Unif, {}, a_policy),
    "SH": Call(bai.SH, {"reuse": True}, a_policy),
    "SHVar": Call(bai.SHVar, {"variances": [1.0, 0.5], "reuse": True}),
    "SHAdaVar": Call(bai.SHAdaVar, {"delta": 0.25, "bound": variance_bounds.PlugIn(), "reuse": True}, a_policy),
    "SR": Call(bai.SR, {}, a_policy),
    "VBR": Call(bai.VBR, {"gamma": 2.0, "pull": "widest"}, a_policy),
    "GapE": Call(bai.GapE, {"complexity": 4.0, "bound": 2.0, "scaling": 0.5}, a_policy),
    "GapEV": Call(bai.GapEV, {"complexity": 4.0, "bound": 2.0, "scaling": 0.5}, a_policy),
    "AGapE": Call(bai.AGapE, {"bound": 2.0, "scaling": 0.5}, a_policy),
    "AGapEV": Call(bai.AGapEV, {"bound": 2.0, "scaling": 0.5}, a_policy),
    "OCBA": Call(bai.OCBA, {"first": 3}, a_policy),
    "TopTwo": Call(bai.TopTwo, {"first": 3, "shrinkage": 0.5}, a_policy),
    "HalveVar": Call(bai.HalveVar, {"variances": [1.0, 0.5], "reuse": True}),
    "KG": Call(bai.KG, {"first": 3}, a_policy),
    "LookAhead": Call(bai.LookAhead, {"share": 0.25, "shrinkage": 2.0}, a_policy),
    "EBTC": Call(bai.EBTC, {"variances": "estimated"}, a_policy),
    "EBTCI": Call(bai.EBTCI, {"first": 3}, a_policy),
    "EBTCEpsilon": Call(bai.EBTCEpsilon, {"variances": "estimated", "epsilon": 0.5}, a_policy),
    "TTUCB": Call(bai.TTUCB, {"variances": "estimated"}, a_policy),
    "T3C": Call(bai.T3C, {"variances": "estimated", "seed": 3}, a_policy),
    "TTTS": Call(bai.TTTS, {"variances": "estimated", "seed": 3, "draws": 20}, a_policy),
    "Neyman": Call(bai.Neyman, {"first": 3}, a_policy),
    "UCBE": Call(bai.UCBE, {"complexity": 4.0}, a_policy),
    "UGapEb": Call(bai.UGapEb, {"complexity": 4.0}, a_policy),
    "UGapEbV": Call(bai.UGapEbV, {"complexity": 4.0, "bound": 2.0}, a_policy),
    "CRA": Call(bai.CRA, {"scale": 2.0}, a_policy),
    "CRC": Call(bai.CRC, {"scale": 2.0}, a_policy),
    "AnytimeSH": Call(bai.AnytimeSH, {}, a_policy),
    "DSH": Call(bai.DSH, {}, a_policy),
    "BSH": Call(bai.BSH, {"seed": 3}, a_policy),
    "BayesElim": Call(
        bai.BayesElim, {"variances": [1.0, 0.5], "reuse": True, "prior_mean": 0.25, "prior_deviation": 2.0}
    ),
    # variance bounds
    "variance_bounds.Gaussian": Call(variance_bounds.Gaussian, {"guard_repeats": True}),
    "variance_bounds.ChiSquare": Call(variance_bounds.ChiSquare, {"guard_repeats": True}),
    "variance_bounds.PlugIn": Call(variance_bounds.PlugIn, {"guard_repeats": True}),
    "variance_bounds.Printed": Call(variance_bounds.Printed, {}),
    "variance_bounds.Bernstein": Call(variance_bounds.Bernstein, {"span": 2.0}),
    # figures
    "plots.use_style": Call(plots.use_style, {}),
    "plots.panels": Call(parts, {"columns": 2, "rows": 1, "height": 3.2, "sharex": False, "sharey": True}),
    "plots.policy_style": Call(plots.policy_style, {"policy": "SH"}),
    "plots.mistake_curves": Call(curves, {"table": TABLE, "x": "budget", "ax": None}),
    "plots.summary_plot": Call(summary_plot, {"table": bai.identify(bai.SR(), float, 3, 30).summary(), "ax": None}),
    # theory
    "theory.stages": Call(theory.stages, {"n_arms": 5}),
    "theory.stage_sizes": Call(theory.stage_sizes, {"n_arms": 5}),
    "theory.gaps": Call(theory.gaps, {"means": ARMS["means"]}, finite),
    "theory.warmup_pulls": Call(theory.warmup_pulls, {"delta": 0.25}, finite),
    "theory.reward_bound": Call(theory.reward_bound, PROBLEM, finite),
    "theory.gape_complexity": Call(theory.gape_complexity, {"means": ARMS["means"], "bound": 2.0}, not_nan),
    "theory.gapev_complexity": Call(theory.gapev_complexity, {**ARMS, "bound": 2.0}, not_nan),
    "theory.lemma_1_allocation": Call(
        theory.lemma_1_allocation, {"variances": [1.0, 4.0], "budget": [64, 100]}, finite
    ),
    "theory.neyman_allocation": Call(theory.neyman_allocation, {"variances": [1.0, 4.0], "budget": [64, 100]}, finite),
    "theory.greedy_allocation": Call(theory.greedy_allocation, {"variances": [1.0, 4.0], "budget": 64}, finite),
    "theory.shvar_gain": Call(theory.shvar_gain, {"variances": [1.0, 4.0, 2.0], "best": 1}, finite),
    "theory.lemma_4_pulls": Call(theory.lemma_4_pulls, STAGE, finite),
    "theory.lemma_b_rho": Call(theory.lemma_b_rho, STAGE, finite),
    "theory.greedy_rho": Call(theory.greedy_rho, STAGE, finite),
    "theory.lemma_2_thresholds": Call(theory.lemma_2_thresholds, {"degrees": [64, 100], "delta": 0.25}, finite),
    "theory.variance_ucb": Call(
        theory.variance_ucb, {"sample_variance": 0.5, "pulls": [64, 100], "delta": 0.25}, finite
    ),
    "theory.lemma_5_alpha": Call(theory.lemma_5_alpha, {"n_arms": 2, "stage_budget": [64, 100], "delta": 0.25}, finite),
    "theory.lemma_5_pulls": Call(theory.lemma_5_pulls, {**STAGE, "delta": 0.25}, finite),
    "theory.h2": Call(theory.h2, {"means": ARMS["means"]}, not_nan),
    "theory.sh_bound": Call(theory.sh_bound, {"means": ARMS["means"], "budget": [64, 100], "proxy": 0.5}, finite),
    "theory.lemma_3_bound": Call(theory.lemma_3_bound, {"gap": 0.5, **STAGE}, finite),
    "theory.theorem_1_bound": Call(theory.theorem_1_bound, {**PROBLEM, "printed": True}, finite),
    "theory.theorem_2_bound": Call(theory.theorem_2_bound, {**PROBLEM, "printed": True}, not_nan),
    "theory.theorem_3_bound": Call(theory.theorem_3_bound, {**PROBLEM, "delta": 0.25, "printed": False}, finite),
    "theory.theorem_3_condition": Call(theory.theorem_3_condition, {"n_arms": 3, "budget": [64, 100], "delta": 0.25}),
    "theory.theorem_3_least_budget": Call(theory.theorem_3_least_budget, {"n_arms": 3, "delta": 0.25}, finite),
    "theory.lemma_a_bound": Call(theory.lemma_a_bound, {"probabilities": [0.5, 0.25], "survivors": 1}, finite),
    "theory.shvar_bound": Call(theory.shvar_bound, {**PROBLEM, "gaussian": True}, finite),
    "theory.full_form_bound": Call(theory.full_form_bound, {**PROBLEM, "gaussian": True}, finite),
    "theory.sh_closed_bound": Call(theory.sh_closed_bound, {**PROBLEM, "gaussian": True}, finite),
    "theory.sh_gaussian_bound": Call(theory.sh_gaussian_bound, {**PROBLEM, "gaussian": True}, finite),
    "theory.elimination_probability": Call(theory.elimination_probability, {**ARMS, "pulls": [4, 5, 6]}, finite),
    "theory.keep_bound": Call(theory.keep_bound, {**PROBLEM, "gaussian": True}, finite),
    "theory.sh_keep_bound": Call(theory.sh_keep_bound, {**PROBLEM, "gaussian": True}, finite),
    "theory.shadavar_keep_bound": Call(theory.shadavar_keep_bound, {**PROBLEM, "delta": 0.25}, finite),
    "theory.shadavar_keep_closed_bound": Call(theory.shadavar_keep_closed_bound, {**PROBLEM, "delta": 0.25}, finite),
    "theory.bounded_bound": Call(theory.bounded_bound, {**PROBLEM, "delta": 0.25, "span": 9.0}, finite),
    "theory.bounded_closed_bound": Call(theory.bounded_closed_bound, {**PROBLEM, "delta": 0.25, "span": 9.0}, finite),
    "theory.transition_cost": Call(
        theory.transition_cost, {"means": [1.0, 0.0], "rates": [4.0, 2.0], "survivors": [False, True]}, finite
    ),
    "theory.cheapest_path": Call(theory.cheapest_path, {**ARMS, "policy": "SHVar", "budget": 64}),
    "theory.exponent": Call(theory.exponent, {**ARMS, "policy": "SH"}, finite),
    "theory.exponent_bracket": Call(theory.exponent_bracket, {**ARMS, "policy": "SH"}),
    "theory.path_bounds": Call(theory.path_bounds, {**ARMS, "policy": "SH", "budget": 64}),
    "theory.starvation_bound": Call(theory.starvation_bound, {"gap": 0.5, "budget": 100, "delta": 0.25}, finite),
    "theory.starvation_limit": Call(
        theory.starvation_limit, {"gap": 0.5, "variances": [1.0, 4.0], "delta": 0.25, "chi_square": True}
    ),
    "theory.starvation_bracket": Call(
        theory.starvation_bracket,
        {"gap": 0.5, "variances": [1.0, 4.0], "budget": 100, "delta": 0.25, "chi_square": True},
    ),
    "theory.best_floor": Call(theory.best_floor, {"z": 0.5}),
    "theory.tiny_delta_bound": Call(theory.tiny_delta_bound, {**PROBLEM, "delta": 0.25}, finite),
    "theory.floor_bound": Call(theory.floor_bound, {**ARMS, "budget": 64, "floor": 0.5}, finite),
    "theory.shadavar_failure": Call(
        theory.shadavar_failure,
        {"variances": [1.0, 4.0], "stage_budget": 100, "delta": 0.25, "rho": [2.0, 4.0]},
        finite,
    ),
    "theory.shadavar_bound": Call(theory.shadavar_bound, {**PROBLEM, "delta": 0.25}, finite),
    "theory.variance_price": Call(theory.variance_price, {"variances": [1.0, 4.0]}, finite),
    "theory.variance_stages": Call(theory.variance_stages, {"variances": [1.0, 4.0]}, finite),
    "theory.variance_complexity": Call(theory.variance_complexity, ARMS, not_nan),
    "theory.hard_problems": Call(theory.hard_problems, {"variances": [1.0, 4.0], "scale": 0.5}, not_nan),
    "theory.variance_lower_bound": Call(
        theory.variance_lower_bound, {"variances": [1.0, 4.0], "complexity": 2.0, "budget": [64, 100]}, finite
    ),
    "theory.halvevar_bound": Call(theory.halvevar_bound, PROBLEM, finite),
    "theory.halvevar_mistakes": Call(theory.halvevar_mistakes, PROBLEM, finite),
}
MADE_BY_THE_PACKAGE = {bai.Plan, bai.Selection, bai.Outcome, bai.Conditional, bai.Paired, bai.SweepTable}
FOR_SUBCLASSES = {bai.Policy, bai.Known, variance_bounds.VarianceBound}  # what these return is checked where it is used


def public_callables():
    """Return every function and class that the public names lead to."""
    for name in bai.__all__:
        thing = getattr(bai, name)
        if isinstance(thing, types.ModuleType):
            inside = getattr(thing, "__all__", [n for n in vars(thing) if not n.startswith("_")])
            for inner, value in ((inner, getattr(thing, inner)) for inner in inside):
                if callable(value) and (
                    hasattr(thing, "__all__") or getattr(value, "__module__", "") == thing.__name__
                ):
                    yield f"{name}.{inner}", value
        elif callable(thing):
            yield name, thing


PUBLIC = dict(public_callables())


def test_every_public_callable_is_called_here_with_all_its_arguments():
    tuples = {name for name, thing in PUBLIC.items() if isinstance(thing, type) and issubclass(thing, tuple)}
    others = {name for name, thing in PUBLIC.items() if thing in MADE_BY_THE_PACKAGE | FOR_SUBCLASSES}
    assert set(PUBLIC) - tuples - others == {name for name in CALLS if name in PUBLIC}
    for name, call in CALLS.items():
        for function in {call.function, PUBLIC.get(name, call.function)}:
            parameters = inspect.signature(function).parameters.values()
            assert {p.name for p in parameters if p.kind != p.VAR_KEYWORD} <= set(call.arguments), name


# --- values ------------------------------------------------------------------------------------------------

NUMPY_NUMBERS = [np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["Float"]]


class Odd:
    """Neither a number nor a sequence."""


HOSTILE = [
    *[None, True, False, np.True_, "", "abc", "5", b"ab", bytearray(b"ab"), memoryview(b"ab"), Odd(), Odd, int, len],
    *[-1, 0, 1, 2, 3, 100, 2**53, 2**63, 2**64, 10**400, 10**5000, -(10**400)],
    *[0.5, -0.5, 1.0, 2.5, 60.0, float("nan"), float("inf"), -float("inf"), 5e-324, 1e-320, 1e-160, 1e-100, 1e-17],
    *[1e17, 1e100, 1e155, 1e308, np.longdouble("1e400"), 1j, 2 + 0j, np.complex64(2)],
    *[Decimal(2), Decimal("NaN"), Decimal("0.5"), Fraction(1, 2), Fraction(2), Fraction(10**400, 3)],
    *[np.datetime64("2030-01-01"), np.timedelta64(3, "s"), datetime.timedelta(3), pd.Timestamp("2030-01-01"), pd.NA],
    *[[], (), {}, set(), [[]], [None], ["a", "b"], [[1.0, 2.0], [1.0]], [1.0, "a"], [1.0, [2.0]], {1: 2.0}, {1.0, 2.0}],
    *[[1.0, float("nan"), 0.5], [1.0, float("inf"), 0.0], [1e200, 0.0, 1.0], [1e-200, 0.0, 0.0], [1, 10**400, 2]],
    *[[2**53, 1], [-1, 5, 3], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [64.5, 100], [1j, 2, 3], [True, False, True], range(3)],
    *[
        np.array(60),
        np.array(0.5),
        np.empty(0),
        np.empty((0, 3)),
        np.empty((3, 0)),
        np.zeros((2, 2, 2, 2)),
        np.array("a"),
    ],
    *[
        np.array([1.0, None, 2.0], object),
        np.array(["1", "2", "3"]),
        np.array([1, 2, 3], "m8[s]"),
        np.array([1, 2, 3], "M8[s]"),
    ],
    *[np.ma.masked, np.ma.array([1.0, 0.5, 2.0], mask=[0, 1, 0]), [np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 1])]],
    *[np.array([2**64 - 1, 1, 2], np.uint64), np.array([60, 200, 1], np.uint8), np.rec.array([(1, 2.0)])],
    *[pd.Series([1.0, None, 2.0]), pd.Series(["a", "b"]), pd.Series([1, None, 2], dtype="Int64"), pd.Index([64, 100])],
    *[
        pd.DataFrame({64: [1.0], 100: [2.0]}),
        pd.Series([1.0, 0.5, 2.0], index=["a", "b", "c"]),
        {}.keys(),
        {1: 2}.values(),
    ],
    *[BANDITS, bai.SH(), bai.SH, bai.Until(0.4), TABLE, "../", "\0", "\ud800", "n" * 5000],
]
FRESH = [lambda: (x for x in (64, 100)), lambda: iter([1.0, 2.0, 3.0]), lambda: map(float, "123")]  # used up by a call


def hostile_values():
    numbers = st.one_of(
        st.floats(),
        st.integers(-5, 5),
        st.integers(2**53),
        st.floats(width=16).map(np.float16),
        st.booleans(),
        st.none(),
    )
    nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner), max_leaves=6)
    arrays = st.lists(st.floats(), min_size=2, max_size=4).map(np.array)
    fixed = st.integers(0, len(HOSTILE) - 1).map(HOSTILE.__getitem__)  # named by number: some cannot be shown
    return fixed | st.sampled_from(FRESH).map(lambda make: make()) | nested | arrays | arrays.map(pd.Series)


def call_with(name, changes):
    """Call a function with some arguments changed; check the result, or the error."""
    call = CALLS[name]
    try:
        with np.errstate(all="ignore"):
            result = call.function(**{**call.arguments, **changes})
            assert call.holds(result), (name, changes)
    except (TypeError, ValueError) as error:
        text = str(error)
        assert type(error) in (TypeError, ValueError), (name, changes, error)
        assert len(text) < 600, (name, changes, error)
        assert "\n" not in text, (name, changes, error)
        words = re.findall(r"\w+", text)
        named = [
            a for a in call.arguments if a in words or a.removesuffix("s") in words or a.replace("ies", "y") in words
        ]
        assert named, (name, changes, text)


RANDOM = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a string may be taken for the name of a file


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.arguments])
def test_whatever_stands_for_an_argument_is_used_as_documented_or_refused_in_a_sentence(name):
    for argument in CALLS[name].arguments:
        if argument in ("problems", "pull", "evaluate"):
            continue
        for value in [*HOSTILE, *(make() for make in FRESH)]:
            call_with(name, {argument: value})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.arguments])
def test_whatever_stands_for_all_arguments_is_used_as_documented_or_refused_in_a_sentence(name):
    free = sorted(set(CALLS[name].arguments) - {"problems", "pull", "evaluate"})

    @RANDOM
    @given(st.dictionaries(st.sampled_from(free), hostile_values(), min_size=1, max_size=3))
    def refused_or_right(changes):
        call_with(name, changes)

    refused_or_right()


# --- equal values -------------------------------------------------------------------------------------------


def equal_values(value):
    """Return values that are equal to a plain one, of other types."""
    if isinstance(value, bool):
        return [np.bool_(value)]
    if isinstance(value, (int, float)):
        fits = [kind for kind in NUMPY_NUMBERS if kind(value) == value]
        return [*(kind(value) for kind in fits), Fraction(value), *([float(value)] if isinstance(value, int) else [])]
    if isinstance(value, str):
        return [np.str_(value)]
    if isinstance(value, (list, tuple)) and value and all(np.isreal(x) for x in np.ravel(value)):
        array = np.array(value)
        others = [array, array.astype(object), np.ma.array(array), tuple(value), np.asfortranarray(array)]
        if array.dtype != bool:
            others += [array.astype(kind) for kind in NUMPY_NUMBERS if (array.astype(kind) == array).all()]
        if array.ndim == 1:
            others += [pd.Series(array, index=range(5, 5 + len(array))), pd.Index(array), [*array], array[::-1][::-1]]
        elif array.ndim == 2:
            others += [pd.DataFrame(array), [*array]]
        return others
    return []


def plain(result):
    """Return a result as something that can be compared."""
    if isinstance(result, bai.Bandits):
        return type(result).__name__, result.fingerprint()
    if isinstance(result, bai.Selection):
        return result.index, result.counts.tolist(), np.nan_to_num(result.scores).tolist()
    if isinstance(result, bai.Plan):
        return result.curve.to_dict()
    if isinstance(result, bai.Experiment):
        return repr(result), result.history, result.pulls.tolist()
    if isinstance(result, pd.DataFrame):
        return result.drop(columns="seconds").to_dict()
    if isinstance(result, (bai.Outcome, bai.Conditional)):
        return {name: plain(value) for name, value in vars(result).items()}
    if isinstance(result, (np.ndarray, np.generic)):
        return type(result).__name__, str(result.dtype), result.tolist()
    if isinstance(result, tuple):
        return [plain(part) for part in result]
    return type(result).__name__, repr(result)


@pytest.mark.parametrize("name", [name for name in CALLS if name != "read_checkpoint"])
def test_an_equal_value_of_another_type_gives_the_same_result(name):
    call = CALLS[name]
    expected = plain(call.function(**call.arguments))
    for argument, value in call.arguments.items():
        for other in equal_values(value):
            given = plain(call.function(**{**call.arguments, argument: other}))
            assert given == expected, (argument, other)
