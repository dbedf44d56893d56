"""Exercises whose solutions are published nowhere: numbers drawn from a seed, solutions computed by `bai`."""
# ruff: noqa: E501  tables of texts

import math

import numpy as np
from scipy.stats import norm

import bai


def setting(rng):
    gap, variances = rng.choice([0.2, 0.3, 0.4]), [float(v) for v in rng.choice([0.5, 1.0, 2.0, 4.0], 2, replace=False)]
    n = int(rng.choice([40, 60, 100]))
    risk = [norm.sf(gap / math.sqrt(variances[0] / a + variances[1] / (n - a))) for a in range(1, n)]
    best = 1 + int(np.argmin(risk))
    yield (
        f"Two arms have the gap {gap} and the variances {variances[0]} and {variances[1]}. Which split of {n} pulls makes a "
        "mistake least likely, and how likely is it then? How much worse is the equal split?",
        f"{best} and {n - best} pulls: {risk[best - 1]:.4f}. The equal split gives {risk[n // 2 - 1]:.4f}.",
    )
    means, p = (
        np.sort(rng.choice(np.arange(1, 10) / 10, 4, replace=False))[::-1],
        rng.dirichlet(np.ones(4) * 2).round(2),
    )
    p[0] = round(1 - p[1:].sum(), 2)
    yield (
        f"A policy names four arms with means {means.tolist()} with probabilities {p.tolist()}. Compute its mistake "
        "probability and its expected simple regret. Change one probability so that the first falls and the second rises.",
        f"Mistake probability {1 - p[0]:.2f}, regret {float((means[0] - means) @ p):.3f}. Move probability from a good second "
        "arm to the best one and to a poor one.",
    )


def halving(rng):
    arms, budget = int(rng.integers(9, 60)), int(rng.integers(300, 900))
    sizes = bai.theory.stage_sizes(arms)
    each = budget // len(sizes)
    yield (
        f"SH plays {arms} arms with {budget} pulls. Write down the arms and the pulls of each stage, and how many pulls are "
        "never made. By how much does the number of pulls of a finalist grow if rewards of all stages are kept?",
        f"Arms {list(sizes)}, {each} pulls in each stage; {budget - each * len(sizes)} are never made. A finalist has "
        f"{each // 2} in the last stage, and at least {sum(each // k for k in sizes)} if all are kept.",
    )


def known(rng):
    variances = [float(v) for v in rng.choice([0.5, 1.0, 1.5, 2.0, 3.0, 5.0], 4, replace=False)]
    budget = int(rng.integers(15, 30))
    pulls = [int(n) for n in bai.theory.greedy_allocation(variances, budget)]
    gains = [round(float(bai.theory.shvar_gain(variances, arm)), 3) for arm in range(4)]
    yield (
        f"A stage has the variances {variances} and {budget} pulls. Play SHVar by hand. Which estimate is noisiest at the end?",
        f"Pulls {pulls}; variances of the averages {np.round(np.array(variances) / pulls, 3).tolist()}.",
    )
    yield (
        f"For which best arm does SHVar compare the variances {variances} more precisely than SH, on average? Prove your rule.",
        f"Ratios by best arm: {gains}. Above 1 where the best arm's variance is above the mean of all of them.",
    )


def unknown(rng):
    delta, arms = float(rng.choice([0.1, 0.02, 0.01, 0.001])), int(rng.integers(6, 40))
    w, m = bai.theory.warmup_pulls(delta), bai.theory.stages(arms)
    yield (
        f"SHAdaVar plays {arms} arms with delta = {delta}. Which is the smallest budget for which every stage has a pull left "
        "after its warm-up? What part of this budget is warm-up?",
        f"w = {w}, m = {m} stages, first stage {arms * w + 1} pulls: n = {m * (arms * w + 1)}. Warm-up "
        f"{sum(k * w for k in bai.theory.stage_sizes(arms)) / (m * (arms * w + 1)):.2f} of it.",
    )


def analysis(rng):
    arms = int(rng.choice([4, 8, 16]))
    gap, variance = float(rng.choice([0.2, 0.3, 0.5])), float(rng.choice([0.25, 0.5, 1.0]))
    means, noise = [gap] + [0.0] * (arms - 1), [variance] * arms
    n = arms * bai.theory.stages(arms)
    while bai.theory.theorem_1_bound(means, noise, n) > 0.05:
        n += arms
    yield (
        f"All of {arms} arms have variance {variance}, and the best is better by {gap}. From which budget on (a multiple of "
        f"{arms}) does the corrected Theorem 1 promise a mistake probability of at most 0.05? Simulate: how large is it there?",
        f"n = {n}: the bound is {bai.theory.theorem_1_bound(means, noise, n):.4f}. Simulated: "
        f"{bai.simulate(bai.SHVar(), bai.GaussianBandits(means, noise, runs=2000), n, seed=0).mistake_rate:.4f} in 2,000 runs.",
    )


def experiments(rng):
    only = sorted(int(n) for n in rng.integers(5, 40, 2))
    p = bai.paired([True] * only[0] + [False] * (500 - only[0]), [False] * only[0] + [True] * only[1] + [False] * (500 - sum(only))).p_value  # fmt: skip
    yield (
        f"In 500 shared runs only policy A errs in {only[0]} and only policy B in {only[1]}. Which is better, and how sure are "
        "you? What changes if this is one of ten comparisons?",
        f"A, with p = {p:.2g} by McNemar's exact test; with ten comparisons the level is 0.005, so the answer is "
        f"{'still A' if p < 0.005 else 'that nothing was shown'}.",
    )


CHAPTERS = {  # by the page of the book that they belong to
    "setting": ("Setting", setting),
    "sequential_halving": ("Sequential halving", halving),
    "known_variances": ("Known variances", known),
    "unknown_variances": ("Unknown variances", unknown),
    "analysis": ("Analysis", analysis),
    "experiments": ("Experiments", experiments),
}


def exercises(seed):
    """Two texts in Markdown: the exercises, and the same with solutions."""
    tasks, solutions, number = ["# Exercises\n"], ["# Exercises with solutions\n"], 0
    for place, (chapter, draw) in enumerate(CHAPTERS.values()):
        tasks.append(f"## {chapter}\n")
        solutions.append(f"## {chapter}\n")
        for task, solution in draw(np.random.default_rng([seed, 100 + place])):
            number += 1
            tasks.append(f"{number}. {task}\n")
            solutions.append(f"{number}. {task}\n\n   **Solution.** {solution}\n")
    return "\n".join(tasks), "\n".join(solutions)
