"""Bad input raises an error that names the argument, the value and what would be right.

A wrong type raises TypeError, a wrong value ValueError.
"""

import itertools
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from problems import POLICIES, informed

import bai
from bai import schedules, theory, variance_bounds

GOOD = bai.GaussianBandits([1.0, 0.5, 0.0], [1.0, 1.0, 1.0], runs=5)
NAN = float("nan")


def simulate(policy=None, bandits=GOOD, budget=30, seed=0, **more):
    return bai.simulate(bai.SH() if policy is None else policy, bandits, budget, seed, **more)


def sweep(policies=None, problems=GOOD, budgets=30, seed=0, **more):
    return bai.sweep([bai.SH()] if policies is None else policies, problems, budgets, seed, **more)


def chances(policy=None, bandits=GOOD, budget=30, seed=0, **more):
    return bai.rao_blackwell(bai.SH() if policy is None else policy, bandits, budget, seed, **more)


def experiment(policy=None, n_arms=3, budget=30, seed=0):
    return bai.Experiment(bai.SH() if policy is None else policy, n_arms, budget, seed)


def maker(runs, seed):
    return bai.synthetic(3, runs, seed)


def masked(*values, at=0):
    return np.ma.array(values, mask=np.arange(len(values)) == at)


REPLAYED = bai.ReplayBandits(np.zeros((1, 2, 30)), [[0, 1]], [[0, 0]])

WRONG_VALUES = [
    # problems
    (lambda: bai.GaussianBandits([1.0], [1.0]), "means has shape (1, 1)", "2 arms"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0]), "variances has shape (1, 1)", "agree"),
    (lambda: bai.GaussianBandits([1.0, NAN], [1.0, 1.0]), "means[1] is nan", "finite"),
    (lambda: bai.GaussianBandits([1.0, 10**400], [1.0, 1.0]), "means[1] is 1000", "finite"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0, -0.5]), "variances[1] is -0.5", "at least 0"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0, np.inf]), "variances[1] is inf", "finite"),
    (lambda: bai.GaussianBandits([[1.0, 2.0], [1.0]], [1.0, 1.0]), "means cannot be read", "equally long"),
    (lambda: bai.GaussianBandits(np.zeros((2, 2, 2)), np.zeros((2, 2, 2))), "means has shape (2, 2, 2)", "1 or 2 axes"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0, 1.0], runs=0), "runs is 0", "at least 1"),
    (lambda: bai.SHVar(variances=[1.0]), "variances has shape (1,)", "at least 2 arms"),
    (lambda: bai.GaussianBandits([[1.0, 2.0]] * 2, [[1.0, 1.0]] * 2, runs=3), "runs is 3", "one or the other"),
    (lambda: bai.GaussianBandits(masked(1.0, 2.0), [1.0, 1.0]), "means has masked entries", "leave their arms out"),
    (lambda: bai.GaussianBandits([1.0, 2.0], masked(1.0, 1.0)), "variances has masked entries", "fill them"),
    (lambda: bai.BernoulliBandits([0.5, 1.5]), "means contains 1.5", "at most 1"),
    (lambda: bai.BernoulliBandits([0.5, -0.1]), "means[1] is -0.1", "at least 0"),
    (lambda: bai.BernoulliBandits([0.5, NAN]), "means[1] is nan", "finite"),
    (lambda: bai.BernoulliBandits([0.5]), "means has shape (1, 1)", "2 arms"),
    (lambda: bai.BernoulliBandits(masked(0.5, 0.1)), "means has masked entries", "fill them"),
    (lambda: bai.TableBandits([[1.0, 2.0]], [[0, 1]]), "arms contains 1", "rows 0 to 0"),
    (lambda: bai.TableBandits([[1.0, 2.0]], [[0, -1]]), "arms is -1", "at least 0"),
    (lambda: bai.TableBandits([[1.0, NAN]], [[0, 0]]), "table[0, 1] is nan", "finite"),
    (lambda: bai.TableBandits(np.ma.array([[1.0, 2.0]], mask=[[0, 1]]), [[0, 0]]), "table has masked", "fill them"),
    (lambda: bai.TableBandits(np.empty((2, 0)), [[0, 1]]), "table has shape (2, 0)", "at least one reward"),
    (lambda: bai.TableBandits([[1.0]], [[0]]), "arms has shape (1, 1)", "2 arms"),
    (lambda: bai.TableBandits([[1.0]], [[[0, 0]]]), "arms has shape (1, 1, 2)", "at most 2 axes"),
    (lambda: bai.ReplayBandits(np.zeros((1, 2, 9)), [[0, 0, 0]], [[0, 0]]), "stacks has shape (1, 2, 9)", "agree"),
    (lambda: bai.synthetic(1, 10, 0), "n_arms is 1", "at least 2"),
    (lambda: bai.synthetic(8, 0, 0), "runs is 0", "at least 1"),
    (lambda: bai.synthetic(8, 10, -1), "seed is -1", "at least 0"),
    (lambda: bai.synthetic(8, 10, 0.5), "seed is 0.5", "whole number"),
    (lambda: bai.synthetic(8, 10, 0, best_arm="loud"), "best_arm is 'loud'", "'noisy' or 'quiet'"),
    (lambda: bai.TableBandits([[1.0, 2.0]] * 2, np.ma.array([[0, 1]], mask=[[0, 1]])), "arms has masked", "fill them"),
    (lambda: bai.TableBandits([[1.0, 2.0]] * 2, [[0, 1], [0]]), "arms cannot be read", "equally long"),
    (lambda: bai.GaussianBandits([masked(1.0, 2.0)], [[1.0, 1.0]]), "means has masked entries", "fill them"),
    (
        lambda: bai.LowRankBandits([[1e99, 1e99]], [[1e99, 0]] * 2, [[0, 0]]),
        "items @ users has an entry",
        "another unit",
    ),
    (lambda: bai.ReplayBandits(np.zeros((1, 2, 0)), [[0, 0]], [[0, 0]]), "stacks has shape (1, 2, 0)", "one reward"),
    (
        lambda: bai.movielens(4, 2, 0, factors=(np.ones((9, 3)), np.ones((5, 2)))),
        "factors.movies has shape",
        "same number",
    ),
    # policies
    (lambda: bai.SHAdaVar(delta=1e-300), "delta is 1e-300", "above 1e-100"),
    (lambda: bai.SHVar(variances=[1e-300, 1.0]), "variances has an entry of size 1e-300", "another unit"),
    (lambda: bai.SHAdaVar(delta=0), "delta is 0", "above 1e-100 and below 1"),
    (lambda: bai.SHAdaVar(delta=1.0), "delta is 1.0", "above 1e-100 and below 1"),
    (lambda: bai.SHAdaVar(delta=NAN), "delta is nan", "finite"),
    (lambda: bai.SHAdaVar(delta=10**400), "delta is 1000", "below 1"),
    (lambda: variance_bounds.Bernstein(span=0), "span is 0", "above 0"),
    (lambda: bai.OCBA(first=1), "first is 1", "at least 2"),
    (lambda: bai.TopTwo(first=2.5), "first is 2.5", "whole number"),
    (lambda: bai.TopTwo(shrinkage=0), "shrinkage is 0", "above 0"),
    (lambda: bai.SHVar(variances=[1.0, -1.0]), "variances[1] is -1.0", "at least 0"),
    (lambda: bai.SHVar(variances=masked(1.0, 1.0)), "variances has masked entries", "fill them"),
    (lambda: bai.VBR(gamma=-1), "gamma is -1", "above 0"),
    (lambda: bai.VBR(pull="lowest"), "pull is 'lowest'", "'upper' or 'widest'"),
    (lambda: bai.GapE(scaling="published"), "scaling is 'published'", "must be 'paper'"),
    (lambda: bai.GapE(scaling=0), "scaling is 0", "finite number above 0"),
    (lambda: bai.GapE(complexity=0), "complexity is 0", "above 0"),
    (lambda: bai.AGapE(bound=-2), "bound is -2", "above 0"),
    (lambda: bai.AGapE(bound=1e-160), "bound is 1e-160", "another unit"),
    (lambda: bai.TopTwo(shrinkage=1e200), "shrinkage is 1e+200", "between 1e-50 and 1e+50"),
    (lambda: bai.GaussianBandits([1e-162, 0.0], [0.0, 0.0]), "means has an entry of size 1e-162", "another unit"),
    (lambda: bai.GaussianBandits([1.0, 0.0], [1.0, 1e-300]), "variances has an entry of size 1e-300", "another unit"),
    (
        lambda: bai.TableBandits([[1e150, 0.0], [1.0, 2.0]], [[0, 1]]),
        "table has an entry of size 1e+150",
        "another unit",
    ),
    # play
    (lambda: simulate(budget=5), "budget is 5", "at least 6 pulls for 3 arms"),
    (lambda: simulate(budget=30.5), "budget is 30.5", "whole number"),
    (lambda: simulate(budget=NAN), "budget is nan", "whole number"),
    (lambda: simulate(budget=10**400), "budget is 1000000", "must be below"),
    (lambda: simulate(budget=10**5000), "budget is int of 16610 bits", "must be below"),
    (lambda: simulate(budget=2**63), "budget is 9223372036854775808", "must be below"),
    (lambda: simulate(budget=2**53), "budget is 9007199254740992", "must be below"),
    (lambda: simulate(budget=Fraction(10**400, 3)), "budget is Fraction(1000", "whole number"),
    (lambda: simulate(seed=-(10**400)), "seed is -100000", "at least 0"),
    (lambda: simulate(policy=bai.GapEV(), budget=5), "budget is 5", "at least 6 pulls"),
    (lambda: simulate(policy=bai.SHVar(variances=[1, 2])), "variances has 2 entries for 3 arms", "one per arm"),
    (lambda: simulate(bandits=bai.ReplayBandits(np.zeros((1, 2, 9)), [[0, 0]], [[0, 0]])), "budget is 30", "hold 9"),
    (lambda: simulate(policy=bai.GapE(), bandits=bai.GaussianBandits([-9, -8], [1, 1])), "b = -6.15", "bound=..."),
    (lambda: simulate(policy=bai.OCBA(), budget=14), "budget is 14", "at least 15 pulls for 3 arms (5 pulls per arm)"),
    (lambda: sweep(policies=[]), "policies is empty", "at least one"),
    (lambda: sweep(policies={}), "policies is empty", "at least one"),
    (lambda: sweep(problems={}), "problems is empty", "at least one"),
    (lambda: sweep(budgets=[]), "budgets is empty", "at least one"),
    (lambda: sweep(budgets=(n for n in ())), "budgets is empty", "at least one"),
    (lambda: sweep(budgets=[30, 30.0]), "budgets are [30, 30", "only once"),
    (lambda: sweep(budgets=itertools.count(30)), "budgets has more than 1000000 entries", "give fewer"),
    (lambda: sweep(policies=[bai.SH(), bai.SH()]), "policies are SH, SH", "a mapping"),
    (lambda: sweep(budgets=[30, 2]), "budget is 2", "at least 6"),
    (lambda: sweep(budgets=[30, 10**400]), "budget is 1000000", "must be below"),
    (lambda: sweep(problems=maker), "problem 'problem' is a function", "runs=bai.Until(0.01)"),
    (lambda: sweep(problems=maker, runs=0), "runs is 0", "at least 1"),
    (lambda: sweep(problems=lambda runs, seed: GOOD, runs=9), "gave GaussianBandits(runs=5", "ensemble of 500 runs"),
    (lambda: sweep(problems=lambda runs, seed: 7, runs=bai.Until(0.1)), "gave 7", "ensemble of 500 runs"),
    (lambda: sweep(runs=9), "runs is 9", "leave runs out"),
    (lambda: bai.Until(0), "half_width is 0", "above 0 and below 0.5"),
    (lambda: bai.Until(0.5), "half_width is 0.5", "above 0 and below 0.5"),
    (lambda: sweep(runs=bai.Until(0.1), problems=REPLAYED), "runs is Until(half_width=0.1)", "leave runs out"),
    (lambda: sweep(checkpoint="nowhere/study.db"), "checkpoint is 'nowhere", "folder that exists"),
    (lambda: sweep(checkpoint="study\0.db"), "checkpoint is 'study", "folder that exists"),
    (lambda: sweep(checkpoint="s" * 3000), "checkpoint is 'sss", "folder that exists"),
    (lambda: bai.read_checkpoint("nothing.db"), "checkpoint is 'nothing.db'", "start the study"),
    (lambda: sweep().run_mistakes("SHVar"), "('SHVar', None, None)", "which name 0 rows; they must name one"),
    (
        lambda: sweep(budgets=[30, 60]).run_mistakes(bai.SH()),
        "('SH', None, None)",
        "which name 2 rows",
    ),
    (lambda: chances(policy=bai.GapE()), "policy is GapE", "count mistakes"),
    (lambda: chances(policy=bai.SH(reuse=True)), "policy is SH(reuse=True)", "without reuse"),
    (lambda: chances(bandits=bai.TableBandits([[0, 1], [1, 2]], [[0, 1]])), "TableBandits(runs=1", "GaussianBandits"),
    (lambda: chances(bandits=bai.GaussianBandits([1, 0], [1, 1])), "bandits has 1 run", "at least 2"),
    (lambda: chances(bandits=bai.GaussianBandits([1, 0], [1, 0], runs=2)), "variances has an entry 0", "positive"),
    (lambda: chances(bandits=bai.GaussianBandits([1, 1], [1, 1], runs=2)), "several best arms", "one best arm"),
    (lambda: chances(budget=3), "budget is 3", "at least 6"),
    # experiments
    (lambda: experiment(bai.SHVar()), "SHVar has variances=None", "SHVar(variances=[...])"),
    (lambda: experiment(bai.SHVar(variances=[1, 2])), "variances has 2 entries for 3 arms", "one per arm"),
    (lambda: experiment(bai.GapE(bound=1)), "GapE has complexity=None", "complexity=..."),
    (lambda: experiment(bai.AGapE()), "A-GapE has bound=None", "bound=..."),
    (lambda: experiment(bai.SHAdaVar(bound=variance_bounds.Bernstein())), "SHAdaVar has span=None", "span=..."),
    (lambda: experiment(budget=5), "budget is 5", "at least 6"),
    (lambda: experiment(n_arms=1), "n_arms is 1", "at least 2"),
    (lambda: experiment().tell(99, 1.0), "arm is 99", "was asked for"),
    (lambda: experiment().best, "0 rewards of a budget of 30", "until done"),
    (lambda: experiment().ask(0), "n is 0", "at least 1"),
    # statistics
    (lambda: bai.wilson(5, 3), "mistakes is 5 in 3 runs", "at most one mistake per run"),
    (lambda: bai.wilson(1, 3, confidence=2), "confidence is 2", "below 1"),
    (lambda: bai.clopper_pearson(-1, 3), "mistakes is -1", "at least 0"),
    (lambda: bai.wilson(NAN, 3), "mistakes is nan", "whole number"),
    (lambda: bai.wilson([1, 2], [5, 6, 7]), "mistakes has shape (2,) and runs has shape (3,)", "one entry for each"),
    (lambda: bai.paired(masked(True, False), [True, False]), "first has masked entries", "fill them"),
    (lambda: bai.paired([True], [True, False]), "first has shape (1,)", "one flag per run"),
    # theory
    (lambda: theory.variance_ucb(1.0, 12, 0.05), "pulls", "12"),
    (lambda: theory.theorem_1_bound([1.0, 1.0], [1.0, 1.0], 100), "means", "best"),
    (lambda: theory.greedy_allocation([1.0, 1.0, 1.0], 2), "budget is 2", "3"),
    (lambda: theory.sh_bound([1.0, 0.0], np.uint64(2**64 - 1)), "budget is 18446744073709551615", "must be below"),
    (lambda: theory.sh_bound([1.0, 0.0], masked(100, 200)), "budget has masked entries", "fill them"),
    (lambda: theory.lemma_1_allocation([1e308, 1e308], 10), "variances has an entry of size 1e+308", "another unit"),
    (lambda: theory.theorem_1_bound([1e200, 0.0], [1.0, 1.0], 10), "means has an entry of size 1e+200", "another unit"),
    (lambda: theory.lemma_3_bound(1e200, [1.0, 1.0], 10), "gap is 1e+200", "another unit"),
    (
        lambda: theory.variance_ucb([1.0, 2.0], [50, 60, 70], 0.05),
        "sample_variance has shape (2,)",
        "one entry for each",
    ),
    (lambda: theory.gape_complexity([[1.0, 0.0]] * 2, [1.0] * 3), "bound has shape (3,)", "one entry for each"),
    (lambda: theory.greedy_allocation(masked(1.0, 1.0), 20), "variances has masked entries", "fill them"),
]

A_POLICY, AN_ENSEMBLE = "a subclass of bai.Policy", "a subclass of bai.Bandits"
AN_EXECUTOR = "a concurrent.futures.Executor such as ThreadPoolExecutor(2)"

WRONG_TYPES = [
    # problems
    (lambda: bai.GaussianBandits("abc", [1.0, 1.0]), "means is 'abc', of type str", "array of numbers"),
    (lambda: bai.GaussianBandits(None, [1.0, 1.0]), "means is None, of type NoneType", "array of numbers"),
    (lambda: bai.GaussianBandits({1.0, 2.0}, [1.0, 1.0]), "of type set", "array of numbers"),
    (lambda: bai.GaussianBandits({0: 1.0, 1: 2.0}, [1.0, 1.0]), "of type dict", "array of numbers"),
    (lambda: bai.GaussianBandits(["a", "b"], [1.0, 1.0]), "means has entries of type str", "give numbers only"),
    (lambda: bai.GaussianBandits([1.0, None], [1.0, 1.0]), "means[1] is None, of type NoneType", "finite number"),
    (lambda: bai.GaussianBandits([1.0, 1j], [1.0, 1.0]), "means has entries of type complex128", "give numbers only"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0, 1.0], runs="5"), "runs is '5', of type str", "whole number"),
    (lambda: bai.BernoulliBandits("half"), "means is 'half', of type str", "array of numbers"),
    (lambda: bai.TableBandits([[1.0, 2.0]], [["0", "0"]]), "arms has entries of type str", "give numbers only"),
    (lambda: bai.TableBandits([[1.0, 2.0]], [[True, False]]), "arms is np.True_, of type bool", "whole number"),
    (lambda: bai.synthetic("8", 10, 0), "n_arms is '8', of type str", "whole number of at least 2"),
    (lambda: bai.synthetic(8, 10, 0, best_arm=1), "best_arm is 1, of type int", "'noisy' or 'quiet'"),
    # policies
    (lambda: bai.SHAdaVar(delta="small"), "delta is 'small', of type str", "finite number"),
    (lambda: bai.SHAdaVar(delta=True), "delta is True, of type bool", "finite number"),
    (lambda: bai.SHAdaVar(bound="chi-square"), "bound is 'chi-square', of type str", "bai.variance_bounds.ChiSquare()"),
    (lambda: bai.SHAdaVar(bound=variance_bounds.PlugIn), "bound is <class", "bai.variance_bounds.ChiSquare()"),
    (lambda: bai.SHAdaVar(reuse=None), "reuse is None, of type NoneType", "True or False"),
    (lambda: variance_bounds.PlugIn(guard_repeats="yes"), "guard_repeats is 'yes', of type str", "True or False"),
    (lambda: variance_bounds.Bernstein(span="wide"), "span is 'wide', of type str", "finite number above 0"),
    (lambda: bai.OCBA(first="5"), "first is '5', of type str", "whole number of at least 2"),
    (lambda: bai.SH(reuse="yes"), "reuse is 'yes', of type str", "True or False"),
    (lambda: bai.SH(reuse=1), "reuse is 1, of type int", "True or False"),
    (lambda: bai.SHVar(variances="11"), "variances is '11', of type str", "array of numbers"),
    (lambda: bai.VBR(gamma=None), "gamma is None, of type NoneType", "finite number above 0"),
    (lambda: bai.VBR(pull=3), "pull is 3, of type int", "'upper' or 'widest'"),
    (lambda: bai.GapE(scaling=None), "scaling is None, of type NoneType", "finite number above 0"),
    (lambda: bai.AGapE(bound="1"), "bound is '1', of type str", "finite number above 0"),
    # play
    (lambda: simulate(policy=bai.SH), "policy is the class SH", "write SH()"),
    (lambda: simulate(policy="SH"), "policy is 'SH', of type str", A_POLICY),
    (lambda: simulate(policy=int), "policy is <class 'int'>", A_POLICY),
    (lambda: simulate(bandits=[[1.0, 2.0]]), "bandits is [[1.0, 2.0]], of type list", AN_ENSEMBLE),
    (lambda: simulate(bandits=bai.GaussianBandits), "of type type", AN_ENSEMBLE),
    (lambda: simulate(budget=True), "budget is True, of type bool", "whole number"),
    (lambda: simulate(budget="30"), "budget is '30', of type str", "whole number"),
    (lambda: simulate(budget=[10**5000]), "budget is list, too long to show, of type list", "whole number"),
    (lambda: simulate(budget=np.timedelta64(30, "D")), "of type timedelta64", "whole number"),
    (lambda: simulate(budget=Decimal(30)), "budget is Decimal('30'), of type Decimal", "whole number"),
    (lambda: simulate(budget=[30]), "budget is [30], of type list", "whole number"),
    (lambda: simulate(seed=None), "seed is None, of type NoneType", "whole number"),
    (lambda: simulate(plain="yes"), "plain is 'yes', of type str", "True or False"),
    (lambda: simulate(executor="threads"), "executor is 'threads', of type str", AN_EXECUTOR),
    (lambda: sweep(policies=bai.SH), "policy is the class SH", "write SH()"),
    (lambda: sweep(policies=[bai.SHVar(), bai.SH]), "policy is the class SH", "write SH()"),
    (lambda: sweep(policies={"mine": bai.SH}), "policy is the class SH", "write SH()"),
    (lambda: sweep(policies="SH"), "policy is 'SH', of type str", A_POLICY),
    (lambda: sweep(policies=["SH", "SR"]), "policy is 'SH', of type str", A_POLICY),
    (lambda: sweep(policies={1: bai.SH()}), "policies has the name 1", "text"),
    (lambda: sweep(policies=7), "policy is 7, of type int", A_POLICY),
    (lambda: sweep(budgets="30"), "budget is '30', of type str", "whole number"),
    (lambda: sweep(budgets=None), "budget is None, of type NoneType", "whole number"),
    (lambda: sweep(budgets=masked(30, 60)), "budget is masked, of type MaskedConstant", "whole number"),
    (lambda: sweep(budgets={30: 60}), "budgets is {30: 60}, of type dict", "several in a list"),
    (lambda: sweep(budgets=bytearray(b"az")), "budget is bytearray(b'az')", "whole number"),
    (lambda: sweep(budgets=pd.DataFrame({30: [1], 60: [2]})), "of type DataFrame", "several in a list"),
    (lambda: sweep().run_mistakes("SH", budget=np.array([30, 60])), "budget is array([30, 60])", "whole number"),
    (lambda: sweep().run_mistakes(7), "policy is 7, of type int", "its name"),
    (lambda: sweep(budgets=[[30, 60]]), "budget is [30, 60], of type list", "whole number"),
    (lambda: sweep(progress="yes"), "progress is 'yes', of type str", "True, False or None"),
    (lambda: sweep(problems={3: GOOD}), "problems has the name 3", "text"),
    (lambda: sweep(problems={"x": [1, 2]}), "problem 'x' is [1, 2], of type list", "function of runs and seed"),
    (lambda: sweep(problems=maker, runs="many"), "runs is 'many', of type str", "whole number"),
    (lambda: bai.Until("0.1"), "half_width is '0.1', of type str", "finite number"),
    (lambda: sweep(checkpoint=7), "checkpoint is 7, of type int", "name of a file"),
    (lambda: bai.read_checkpoint(None), "checkpoint is None, of type NoneType", "name of a file"),
    (lambda: sweep(executor="threads"), "executor is 'threads', of type str", AN_EXECUTOR),
    (lambda: sweep(executor=2), "executor is 2, of type int", AN_EXECUTOR),
    (lambda: chances(executor="threads"), "executor is 'threads', of type str", AN_EXECUTOR),
    (lambda: chances(policy="SH"), "policy is 'SH', of type str", A_POLICY),
    # experiments
    (lambda: experiment("SH"), "policy is 'SH', of type str", A_POLICY),
    (lambda: experiment(bai.SH), "policy is the class SH", "write SH()"),
    (lambda: experiment(n_arms=None), "n_arms is None, of type NoneType", "whole number"),
    (lambda: experiment().tell({0: 1.0}, [1.0]), "arm is {0: 1.0}, of type dict", "a sequence of arms"),
    (lambda: experiment().tell([0], {0: 1.0}), "reward is {0: 1.0}, of type dict", "one reward per arm"),
    (lambda: experiment().tell({0, 1}, [1.0, 1.0]), "arm is {0, 1}, of type set", "a sequence of arms"),
    (lambda: experiment().tell([0, 1], {1.0, 2.0}), "of type set", "one reward per arm"),
    (lambda: experiment().tell("01", [1.0, 1.0]), "arm is '01', of type str", "whole number"),
    (lambda: experiment().tell([0, 1], b"ab"), "reward is b'ab', of type bytes", "one reward per arm"),
    (
        lambda: experiment().tell([0, 1], pd.DataFrame({0: [5.0], 1: [7.0]})),
        "of type DataFrame",
        "one reward per arm",
    ),
    (lambda: experiment().tell([0, 1], (r for r in (1.0, 2.0))), "of type generator", "one reward per arm"),
    (lambda: experiment().tell(None, [1.0]), "arm is None, of type NoneType", "whole number"),
    (lambda: experiment().tell(True, 1.0), "arm is True, of type bool", "whole number"),
    (lambda: experiment().tell(["0"], [1.0]), "arm is '0', of type str", "whole number"),
    (lambda: experiment().ask("3"), "n is '3', of type str", "whole number"),
    (lambda: bai.identify(bai.SH(), "coin", 3, 30), "pull is 'coin', of type str", "function"),
    # statistics
    (lambda: bai.wilson(1, 3, confidence="high"), "confidence is 'high', of type str", "finite number"),
    (lambda: bai.wilson("5", 3), "mistakes is '5', of type str", "array of numbers"),
    (lambda: bai.paired([0.5], [0.1]), "first has entries of type float64", "True or False"),
    # theory
    (lambda: theory.warmup_pulls("0.05"), "delta is '0.05', of type str", "finite number"),
    (
        lambda: theory.sh_bound([1.0, 0.0], np.array(["2030-01-01"], "M8[ns]")),
        "budget has entries of type datetime64",
        "numbers",
    ),
    (
        lambda: theory.greedy_allocation(np.array(["1.5", 2.0], object), 20),
        "variances[0] is '1.5', of type str",
        "number",
    ),
    (lambda: bai.plots.mistake_curves(7), "table is 7, of type int", "bai.sweep"),
    (lambda: theory.greedy_allocation("abc", 20), "variances is 'abc', of type str", "array of numbers"),
]


@pytest.mark.parametrize(
    "error, call, names, remedy",
    [(ValueError, *bad) for bad in WRONG_VALUES] + [(TypeError, *bad) for bad in WRONG_TYPES],
)
def test_bad_calls_name_the_argument_the_value_and_the_remedy(error, call, names, remedy):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert names in str(caught.value)
    assert remedy in str(caught.value)
    assert len(str(caught.value)) < 400


# --- budgets ---------------------------------------------------------------------------------------------


def least_budget_in_words(rule, n_arms):
    """Return the least budget that a rule states, or None for a rule in other words."""
    rest = " and one more| in the first of the equally long stages|"
    found = re.fullmatch(rf"(one|two|\d+) pulls? per arm({rest})", rule)
    if found is None:
        return None
    pulls = {"one": 1, "two": 2}.get(found[1]) or int(found[1])
    return pulls * n_arms * (schedules.stages(n_arms) if "stages" in found[2] else 1) + ("more" in found[2])


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("n_arms", [2, 3, 5, 8, 9])
def test_the_least_budget_works_and_one_less_is_refused_with_the_rule_of_the_policy(policy, n_arms):
    bandits = bai.synthetic(n_arms, 3, seed=0)
    least = policy.least_budget(n_arms)
    assert least_budget_in_words(policy.budget_rule, n_arms) in (None, least)
    assert (bai.simulate(policy, bandits, least, seed=1).pulls.sum(axis=1) <= least).all()
    assert bai.sweep(policy, bandits, least, seed=1)["runs"][0] == 3
    told = informed(policy, variances=[1.0] * n_arms, complexity=1.0, bound=1.0, span=1.0)
    assert bai.identify(told, float, n_arms, least).pulls.sum() <= least
    for player, call in (
        (policy, lambda: bai.simulate(policy, bandits, least - 1, seed=1)),
        (policy, lambda: bai.sweep(policy, bandits, least - 1, seed=1)),
        (told, lambda: bai.Experiment(told, n_arms, least - 1)),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value) == (
            f"budget is {least - 1}; {player} needs at least {least} pulls for {n_arms} arms ({policy.budget_rule})"
        )


@pytest.mark.parametrize(
    "policy, rule",
    [
        (bai.Unif(), "at least 3 pulls for 3 arms (one pull per arm)"),
        (bai.SH(), "at least 6 pulls for 3 arms (one pull per arm in the first of the equally long stages)"),
        (bai.SHAdaVar(), "at least 6 pulls for 3 arms (one pull per arm in the first of the equally long stages)"),
        (bai.SR(), "at least 4 pulls for 3 arms (one pull per arm and one more)"),
        (bai.GapE(), "at least 3 pulls for 3 arms (one pull per arm)"),
        (bai.GapEV(), "at least 6 pulls for 3 arms (two pulls per arm)"),
        (bai.OCBA(), "at least 15 pulls for 3 arms (5 pulls per arm)"),
        (bai.OCBA(first=2), "at least 6 pulls for 3 arms (2 pulls per arm)"),
        (bai.TopTwo(), "at least 9 pulls for 3 arms (3 pulls per arm)"),
    ],
    ids=str,
)
def test_a_budget_that_is_too_small_meets_the_true_rule_of_the_policy(policy, rule):
    with pytest.raises(ValueError, match=re.escape(rule)):
        simulate(policy=policy, budget=2)


@pytest.mark.parametrize("budget", [30.0, np.int16(30), np.uint8(30), np.float32(30), np.int64(30)])
def test_a_whole_number_of_any_kind_is_a_budget(budget):
    expected = simulate(policy=bai.SHAdaVar())
    out = simulate(policy=bai.SHAdaVar(), budget=budget)
    np.testing.assert_array_equal(out.pulls, expected.pulls)
    assert type(out.budget) is int
    assert sweep(budgets=budget)["budget"].tolist() == [30]
    assert sweep(budgets=[budget])["budget"].tolist() == [30]
    assert experiment(budget=budget).budget == 30


def test_a_small_integer_type_does_not_overflow():
    out = simulate(policy=bai.SHAdaVar(), budget=np.int16(30_000))
    np.testing.assert_array_equal(out.pulls, simulate(policy=bai.SHAdaVar(), budget=30_000).pulls)


def test_a_large_seed_is_a_seed():
    assert simulate(seed=10**400).pulls.sum() == 5 * 30
    assert not np.array_equal(bai.synthetic(3, 2, seed=2**70).means, bai.synthetic(3, 2, seed=2**70 + 1).means)


def test_arguments_of_policies_may_be_numbers_of_any_kind():
    assert bai.OCBA(first=3.0) == bai.OCBA(first=3) == bai.OCBA(first=np.int16(3))
    assert str(bai.OCBA(first=3.0)) == "OCBA(first=3)"
    assert bai.SHVar(variances=np.array([1, 2], np.int16)) == bai.SHVar(variances=[1.0, 2.0])
    bandits = bai.synthetic(4, 20, seed=0)
    np.testing.assert_array_equal(
        *(bai.simulate(bai.OCBA(first=first), bandits, 60, seed=1).pulls for first in (3.0, 3))
    )


def test_a_policy_computes_with_plain_numbers_whatever_it_is_given():
    # 1 / delta in single precision would have other digits, and its logarithm too.
    single = bai.SHAdaVar(delta=np.float32(0.05), reuse=np.False_)
    assert repr(single) == repr(bai.SHAdaVar(delta=float(np.float32(0.05))))
    assert repr(bai.VBR(gamma=np.float32(2), pull=np.str_("upper"))) == "VBR(gamma=2.0, pull='upper')"
    chi_square = bai.SHAdaVar(delta=Fraction(1, 20), bound=variance_bounds.ChiSquare())
    np.testing.assert_array_equal(
        simulate(policy=chi_square).pulls, simulate(policy=bai.SHAdaVar(bound=variance_bounds.ChiSquare())).pulls
    )
    assert bai.Until(np.float32(0.25)).half_width == 0.25
    assert str(bai.AGapE(bound=1)) == "A-GapE(bound=1)"  # shown as it was written


@pytest.mark.parametrize("interval", [bai.wilson, bai.clopper_pearson])
@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.float16, object])
def test_intervals_do_not_depend_on_the_type_of_the_counts(interval, kind):
    np.testing.assert_array_equal(interval(np.array([0, 100], kind), np.array(120, kind)), interval([0, 100], 120))
    low, high = interval(2**40, 2**41)
    assert 0.499999 < low < 0.5 < high < 0.500001


def test_unmasked_arrays_and_frames_are_arrays():
    means = np.ma.array([1.0, 0.5, 0.0], mask=False)
    np.testing.assert_array_equal(bai.GaussianBandits(means, [1.0] * 3, runs=5).means, GOOD.means)
    frame = pd.DataFrame([[1.0, 0.5, 0.0]] * 5)
    np.testing.assert_array_equal(bai.GaussianBandits(frame, frame * 0 + 1).means, GOOD.means)


# --- studies ---------------------------------------------------------------------------------------------


def test_a_problem_function_whose_number_of_arms_changes_is_refused():
    seeds = []

    def moody(runs, seed):
        seeds.append(seed)
        return bai.synthetic(3 if seed == seeds[0] else 4, runs, seed)

    with pytest.raises(RuntimeError) as caught:
        sweep(problems=moody, runs=1000)
    assert "ValueError: problem 'problem' gave 4 arms in block 1 and 3 in block 0" in str(caught.value)
    assert "the number of arms must stay the same" in str(caught.value)
    assert caught.value.table["runs"].tolist() == [500]


def test_a_checkpoint_called_memory_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = sweep(checkpoint=":memory:")
    assert (tmp_path / ":memory:").stat().st_size > 0
    again = bai.read_checkpoint(":memory:")
    assert again["runs"].tolist() == table["runs"].tolist() == [5]
    pd.testing.assert_frame_equal(sweep(checkpoint=":memory:"), table)  # even the times: nothing was played again


def test_a_checkpoint_refuses_the_same_study_in_another_order(tmp_path):
    # Blocks are known by the number of their row: in another order they would count for another policy.
    one, two = bai.synthetic(3, 5, seed=1), bai.synthetic(3, 5, seed=2)
    sweep(policies=[bai.SH(), bai.Unif()], problems={"a": one, "b": two}, checkpoint=tmp_path / "study.db")
    with pytest.raises(ValueError, match="belongs to another study: policies there"):
        sweep(policies=[bai.Unif(), bai.SH()], problems={"a": one, "b": two}, checkpoint=tmp_path / "study.db")
    with pytest.raises(ValueError, match="belongs to another study: problems there"):
        sweep(policies=[bai.SH(), bai.Unif()], problems={"b": two, "a": one}, checkpoint=tmp_path / "study.db")


class Own(bai.Bandits):
    def draw(self, run, arm, rng):
        return rng.normal(self.means[run, arm])


def test_an_own_problem_that_repeats_one_instance_travels_as_one_row():
    own = Own([1.0, 0.0], [1.0, 1.0], runs=10_000)
    assert len(pickle.dumps(own)) < 1000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(own)).means, own.means)
    part = own.select(slice(500))
    assert len(pickle.dumps(part)) < 500 * 8 + 2000  # the numbers of its runs
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(part)).means, own.means[:500])


class ToldOnce(bai.GapE):
    def known(self, n_arms, budget, problem=None):
        return bai.Known(bound=np.ones(1), complexity=np.ones(1))


def test_a_policy_that_is_told_of_too_few_runs_is_refused_before_a_compiled_loop_reads_beyond():
    with pytest.raises(ValueError, match=re.escape("told bound of shape (1,)")) as caught:
        simulate(policy=ToldOnce())
    assert "so shape (5,) here" in str(caught.value)


def test_chances_are_computed_even_if_noise_is_too_small_to_be_seen():
    # Sample means of equal arms then tie exactly.
    bandits = bai.GaussianBandits([1e8, *[1e8 - 1] * 4, 0.0], [1e-30] * 6, runs=4)
    assert chances(bandits=bandits, budget=60).mistake_rate == 0


# --- rewards ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reward, error",
    [
        (NAN, ValueError),
        (float("inf"), ValueError),
        (10**400, ValueError),
        ("much", TypeError),
        ([1.0], TypeError),
        (1j, TypeError),
        (np.ma.masked, TypeError),
        (1e200, ValueError),
        (Fraction(10**400, 3), ValueError),
        (np.timedelta64(1, "s"), TypeError),
    ],
)
def test_a_bad_reward_is_refused_and_changes_nothing(reward, error):
    experiment = bai.Experiment(bai.SHAdaVar(), 3, 120)
    arm = experiment.ask()
    with pytest.raises(error, match="reward is"):
        experiment.tell(arm, reward)
    assert experiment.ask() == arm
    assert experiment.history == []
    experiment.tell(arm, 1.0)
    assert experiment.history == [(arm, 1.0)]


@pytest.mark.parametrize("yes", [True, np.True_, 1, np.float32(1), np.int8(1)])
def test_successes_may_be_told_as_truth_values(yes):
    experiment = bai.Experiment(bai.SH(), 3, 30)
    arm = experiment.ask()
    experiment.tell(arm, yes)
    assert experiment.history == [(arm, 1.0)]
    assert type(experiment.history[0][1]) is float


# --- experiments that are interrupted --------------------------------------------------------------------


def noisy_pull(seed):
    rng = np.random.default_rng(seed)
    return lambda arm: float(rng.normal(arm, 1 + arm))


def test_a_pull_that_raises_leaves_the_experiment_usable_and_loses_nothing():
    straight = bai.identify(bai.SHAdaVar(), noisy_pull(1), 4, 300)
    pull, calls = noisy_pull(1), 0

    def flaky(arm):
        nonlocal calls
        calls += 1
        if calls % 50 == 0:
            raise ConnectionError("the server is down")
        return pull(arm)

    with pytest.raises(ConnectionError) as caught:
        bai.identify(bai.SHAdaVar(), flaky, 4, 300)
    experiment = caught.value.experiment
    assert len(experiment.history) == 49
    assert "49 rewards are kept" in caught.value.__notes__[0]
    for _ in range(100):
        try:
            experiment.run(flaky)
            break
        except ConnectionError:
            continue
    assert experiment.history == straight.history
    assert experiment.best == straight.best


class Touchy(bai.Policy):
    """Pulls arms in turn, and cannot stand a reward of 13 while `angry`."""

    name = "Touchy"
    angry = True

    def steps(self, n_arms, budget):
        total = [0.0] * n_arms
        for t in range(budget):
            reward = yield t % n_arms
            if reward == 13 and self.angry:
                raise ArithmeticError("not 13")
            total[t % n_arms] += reward
        return max(range(n_arms), key=lambda arm: total[arm])


class Resumable(Touchy):
    def resume(self, n_arms, budget, progress, **known):
        steps = Touchy.steps(self, n_arms, budget)
        return steps if sum(progress.tally.count) == 0 else None


@pytest.mark.parametrize("policy", [Touchy, Resumable])
def test_a_policy_that_raises_loses_no_reward_and_counts_none_twice(policy, monkeypatch):
    rewards = [1.0, 2.0, 13.0, 4.0, 5.0, 6.0]
    straight = bai.Experiment(policy(), 2, 6)
    monkeypatch.setattr(Touchy, "angry", False)
    for reward in rewards:
        straight.tell(straight.ask(), reward)
    monkeypatch.setattr(Touchy, "angry", True)
    experiment = bai.Experiment(policy(), 2, 6)
    for reward in rewards[:2]:
        experiment.tell(experiment.ask(), reward)
    arm = experiment.ask()
    with pytest.raises(ArithmeticError, match="not 13"):
        experiment.tell(arm, 13.0)
    for _ in range(2):  # however often it is asked
        assert experiment.history == straight.history[:3]
        assert experiment.pulls.sum() == 3
        assert experiment.spare[arm] == experiment.spare.sum() == 1
        with pytest.raises(ArithmeticError, match="not 13"):
            experiment.ask()
        experiment = pickle.loads(pickle.dumps(experiment))
    monkeypatch.setattr(Touchy, "angry", False)  # the policy is mended
    for reward in rewards[3:]:
        experiment.tell(experiment.ask(), reward)
    assert experiment.history == straight.history
    assert experiment.best == straight.best
    assert experiment.pulls.tolist() == straight.pulls.tolist()


def test_a_reward_on_which_the_policy_raises_is_not_pulled_again():
    pulled = []

    def pull(arm):
        pulled.append(arm)
        return 13.0

    with pytest.raises(ArithmeticError) as caught:
        bai.identify(Touchy(), pull, 2, 6)
    with pytest.raises(ArithmeticError):
        caught.value.experiment.run(pull)
    assert len(pulled) == len(caught.value.experiment.history) == 1


PICKLED = [bai.SH(), bai.SHAdaVar(reuse=True), bai.SHVar(variances=[1, 2, 3]), bai.AGapEV(bound=3.0), bai.VBR()]


@pytest.mark.parametrize("policy", PICKLED, ids=str)
def test_an_experiment_can_be_pickled_between_any_two_calls(policy):
    straight = bai.identify(policy, noisy_pull(2), 3, 90)
    pull = noisy_pull(2)
    experiment = bai.Experiment(policy, 3, 90)
    while not experiment.done:
        experiment = pickle.loads(pickle.dumps(experiment))
        arm = experiment.ask()
        experiment = pickle.loads(pickle.dumps(experiment))
        experiment.tell(arm, pull(arm))
    assert pickle.loads(pickle.dumps(experiment)).best == straight.best
    assert experiment.history == straight.history
    assert experiment.ask.__self__.done
    with pytest.raises(ValueError, match="nothing left to ask"):
        experiment.ask()
    with pytest.raises(ValueError, match="done"):
        experiment.tell(0, 1.0)


def test_an_experiment_tells_what_its_answer_rests_on():
    answer = bai.identify(bai.SH(), noisy_pull(3), 4, 80)
    for arm in range(4):
        rewards = np.array([reward for told, reward in answer.history if told == arm])
        assert answer.pulls[arm] == rewards.size
        assert answer.means[arm] == pytest.approx(rewards.mean())
        assert answer.deviations[arm] == pytest.approx(rewards.std(ddof=1))
    fresh = bai.Experiment(bai.SH(), 4, 80)
    assert np.isnan(fresh.means).all()
    assert np.isnan(fresh.deviations).all()
    assert "0/80 rewards" in repr(fresh)
    assert f"best={answer.best}" in repr(answer)


def test_unknown_attributes_are_missing():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bai.nothing  # noqa: B018
