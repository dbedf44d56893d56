"""Assignment 5: what students hand in. Solution cells that differ from the reference, and the tests they fail."""

WITH_OWN_FUNCTIONS = """
report = {"differences": {}, "decisions": {}}
p_values = []
for reading in READINGS:
    report["differences"][reading] = []
    for n in BUDGETS:
        one, two = play_pair(*CLAIMS[my_claim], N_ARMS, n, my_runs, my_seed, reading)
        report["differences"][reading].append(one.mean() - two.mean())
        p_values.append(mcnemar(one, two)[2])
flat = [d for r in READINGS for d in report["differences"][r]]
decisions = decide(flat, p_values)
report["decisions"] = {"noisy": decisions[:3], "quiet": decisions[3:]}
report["verdict"] = verdict(report["decisions"])
"""

RIGHT = {
    "loops and other formulas": {
        "interval": """
def interval(mistakes, runs, confidence=0.95):
    z = norm.isf((1 - confidence) / 2)
    p = mistakes / runs
    center = (p + z**2 / (2 * runs)) / (1 + z**2 / runs)
    half = z / (1 + z**2 / runs) * np.sqrt(p * (1 - p) / runs + z**2 / (4 * runs**2))
    return [center - half, center + half]
""",
        "width": """
def runs_for_width(rate, half_width, confidence=0.95):
    z = norm.ppf(1 - (1 - confidence) / 2)
    n = 1
    while z * math.sqrt(rate * (1 - rate) / n) > half_width:
        n += 1
    return n
""",
        "power": """
def runs_for_difference(only_first, only_second, level, power):
    gap = abs(only_first - only_second)
    need = norm.isf(level / 2) + norm.isf(1 - power)
    sd = math.sqrt(only_first + only_second - gap**2)
    return int(np.ceil((need * sd / gap) ** 2))
""",
        "pair": """
def play_pair(first, second, n_arms, budget, runs, seed, best_arm="noisy"):
    one = bai.simulate(first, bai.synthetic(n_arms, runs, seed, best_arm=best_arm), budget, seed)
    two = bai.simulate(second, bai.synthetic(n_arms, runs, seed, best_arm=best_arm), budget, seed)
    return [one.mistakes, two.mistakes]
""",
        "mcnemar": """
def mcnemar(first, second):
    b = c = 0
    for x, y in zip(first, second):
        if x and not y:
            b += 1
        elif y and not x:
            c += 1
    n = b + c
    total = 0
    for k in range(min(b, c) + 1):
        total += math.comb(n, k)
    return b, c, 1.0 if b == c else 2 * total / 2**n
""",
        "decide": """
def decide(differences, p_values, level=0.05):
    winners = []
    for i in range(len(p_values)):
        if p_values[i] * len(p_values) < level:
            winners.append("second" if differences[i] > 0 else "first")
        else:
            winners.append("none")
    return winners
""",
        "verdict": """
def verdict(decisions):
    good = []
    for name in decisions:
        won = sum(d == "first" for d in decisions[name])
        lost = sum(d == "second" for d in decisions[name])
        if lost == 0 and 2 * won >= len(decisions[name]):
            good.append(name)
    if good == list(decisions):
        return "reproduced"
    if not good:
        return "not reproduced"
    return f"reproduced only under {' and '.join(good)}"
""",
        "report": WITH_OWN_FUNCTIONS,
    },
    "another claim": {
        "plan": "my_claim = 'rejects'\nmy_runs = 2000\nmy_seed = 1",
        "report": WITH_OWN_FUNCTIONS,
    },
    "the fewest runs, and a library for the test": {
        "plan": "my_claim, my_runs, my_seed = 'unknown', 1426, 0",
        "mcnemar": """
def mcnemar(first, second):
    from scipy.stats import binomtest

    b, c = np.sum(first > second), np.sum(second > first)
    return b, c, binomtest(b, b + c).pvalue if b + c else 1.0
""",
        "report": WITH_OWN_FUNCTIONS,
    },
}


def report(claim, change):
    """A report with one thing done differently: `change` is what is right and what the student writes."""
    assert change[0] in WITH_OWN_FUNCTIONS
    return {"plan": f"my_claim, my_runs, my_seed = '{claim}', 1500, 2", "report": WITH_OWN_FUNCTIONS.replace(*change)}


WRONG = {
    "luck is not considered": (
        {
            "choice": """
choice = {"outperforms": "a", "slightly": "c", "approaches": "a", "nobody": "c", "matched": "b"}
"""
        },
        {"choice"},
    ),
    "no difference seen, so there is none": (
        {
            "choice": """
choice = {"outperforms": "b", "slightly": "a", "approaches": "c", "nobody": "a", "matched": "a"}
"""
        },
        {"choice"},
    ),
    "one line forgotten": (
        {"choice": 'choice = {"outperforms": "b", "slightly": "c", "approaches": "a", "matched": "b"}'},
        {"choice"},
    ),
    "Wald's interval": (
        {
            "interval": """
def interval(mistakes, runs, confidence=0.95):
    p, z = mistakes / runs, norm.ppf((1 + confidence) / 2)
    half = z * math.sqrt(p * (1 - p) / runs)
    return p - half, p + half
"""
        },
        {"interval"},
    ),
    "one-sided quantile": (
        {
            "interval": """
def interval(mistakes, runs, confidence=0.95):
    z2, p = norm.ppf(confidence) ** 2 / runs, mistakes / runs
    root = math.sqrt(z2 * (4 * p * (1 - p) + z2))
    return (2 * p + z2 - root) / (2 + 2 * z2), (2 * p + z2 + root) / (2 + 2 * z2)
""",
            "width": """
def runs_for_width(rate, half_width, confidence=0.95):
    return math.ceil(rate * (1 - rate) * (norm.ppf(confidence) / half_width) ** 2)
""",
        },
        {"interval", "width"},
    ),
    "1.96 for every confidence": (
        {
            "interval": """
def interval(mistakes, runs, confidence=0.95):
    z2, p = norm.ppf(0.975) ** 2 / runs, mistakes / runs
    root = math.sqrt(z2 * (4 * p * (1 - p) + z2))
    return (2 * p + z2 - root) / (2 + 2 * z2), (2 * p + z2 + root) / (2 + 2 * z2)
""",
            "width": """
def runs_for_width(rate, half_width, confidence=0.95):
    return math.ceil(rate * (1 - rate) * (norm.ppf(0.975) / half_width) ** 2)
""",
        },
        {"interval", "width"},
    ),
    "interval for one run fewer": (
        {
            "interval": """
def interval(mistakes, runs, confidence=0.95):
    z2, p = norm.ppf((1 + confidence) / 2) ** 2 / (runs - 1), mistakes / runs
    root = math.sqrt(z2 * (4 * p * (1 - p) + z2))
    return (2 * p + z2 - root) / (2 + 2 * z2), (2 * p + z2 + root) / (2 + 2 * z2)
"""
        },
        {"interval"},
    ),
    "rounded to the nearest, not up": (
        {
            "width": """
def runs_for_width(rate, half_width, confidence=0.95):
    return round(rate * (1 - rate) * (norm.ppf((1 + confidence) / 2) / half_width) ** 2)
""",
            "power": """
def runs_for_difference(only_first, only_second, level, power):
    d = only_first - only_second
    z = norm.ppf(1 - level / 2) + norm.ppf(power)
    return round(z**2 * (only_first + only_second - d**2) / d**2)
""",
        },
        {"power", "width"},
    ),
    "half-width for the whole width": (
        {
            "width": """
def runs_for_width(rate, half_width, confidence=0.95):
    return math.ceil(rate * (1 - rate) * (2 * norm.ppf((1 + confidence) / 2) / half_width) ** 2)
"""
        },
        {"width"},
    ),
    "one-sided level": (
        {
            "power": """
def runs_for_difference(only_first, only_second, level, power):
    d = only_first - only_second
    z = norm.ppf(1 - level) + norm.ppf(power)
    return math.ceil(z**2 * (only_first + only_second - d**2) / d**2)
"""
        },
        {"power"},
    ),
    "power forgotten": (
        {
            "power": """
def runs_for_difference(only_first, only_second, level, power):
    d = only_first - only_second
    return math.ceil(norm.ppf(1 - level / 2) ** 2 * (only_first + only_second - d**2) / d**2)
"""
        },
        {"power"},
    ),
    "unpaired standard error": (
        {
            "power": """
def runs_for_difference(only_first, only_second, level, power):
    a, b = only_first, only_second
    z = norm.ppf(1 - level / 2) + norm.ppf(power)
    return math.ceil(z**2 * (a * (1 - a) + b * (1 - b)) / (a - b) ** 2)
"""
        },
        {"power"},
    ),
    "answer of the visible test": (
        {"power": "def runs_for_difference(only_first, only_second, level, power):\n    return 620"},
        {"power"},
    ),
    "new instances for the second policy": (
        {
            "pair": """
def play_pair(first, second, n_arms, budget, runs, seed, best_arm="noisy"):
    one = bai.simulate(first, bai.synthetic(n_arms, runs, seed, best_arm=best_arm), budget, seed)
    two = bai.simulate(second, bai.synthetic(n_arms, runs, seed + 1, best_arm=best_arm), budget, seed + 1)
    return one.mistakes, two.mistakes
"""
        },
        {"pair"},
    ),
    "seed fixed inside": (
        {
            "pair": """
def play_pair(first, second, n_arms, budget, runs, seed, best_arm="noisy"):
    problems = bai.synthetic(n_arms, runs, 1, best_arm=best_arm)
    return tuple(bai.simulate(policy, problems, budget, 1).mistakes for policy in (first, second))
"""
        },
        {"pair"},
    ),
    "reading ignored": (
        {
            "pair": """
def play_pair(first, second, n_arms, budget, runs, seed, best_arm="noisy"):
    problems = bai.synthetic(n_arms, runs, seed)
    return tuple(bai.simulate(policy, problems, budget, seed).mistakes for policy in (first, second))
"""
        },
        {"pair"},
    ),
    "rates for mistakes": (
        {
            "pair": """
def play_pair(first, second, n_arms, budget, runs, seed, best_arm="noisy"):
    problems = bai.synthetic(n_arms, runs, seed, best_arm=best_arm)
    return tuple(bai.simulate(policy, problems, budget, seed).mistake_rate for policy in (first, second))
"""
        },
        {"pair"},
    ),
    "unpaired test of two rates": (
        {
            "mcnemar": """
def mcnemar(first, second):
    n, a, b = len(first), np.sum(first), np.sum(second)
    p = (a + b) / (2 * n)
    z = (a - b) / n / math.sqrt(2 * p * (1 - p) / n)
    return np.sum(first & ~second), np.sum(second & ~first), 2 * norm.sf(abs(z))
"""
        },
        {"mcnemar"},
    ),
    "one-sided p-value": (
        {
            "mcnemar": """
def mcnemar(first, second):
    a, b = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return a, b, binom.cdf(min(a, b), a + b, 0.5)
"""
        },
        {"mcnemar"},
    ),
    "p-value above 1": (
        {
            "mcnemar": """
def mcnemar(first, second):
    a, b = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return a, b, 2 * binom.cdf(min(a, b), a + b, 0.5) if a + b else 1.0
"""
        },
        {"mcnemar"},
    ),
    "all mistakes counted, not those made alone": (
        {
            "mcnemar": """
def mcnemar(first, second):
    a, b = int(np.sum(first)), int(np.sum(second))
    return a, b, min(1.0, 2 * binom.cdf(min(a, b), a + b, 0.5))
"""
        },
        {"mcnemar"},
    ),
    "all runs counted as tosses": (
        {
            "mcnemar": """
def mcnemar(first, second):
    a, b = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return a, b, min(1.0, 2 * binom.cdf(min(a, b), len(first), 0.5))
"""
        },
        {"mcnemar"},
    ),
    "chi-square approximation": (
        {
            "mcnemar": """
def mcnemar(first, second):
    a, b = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return a, b, 2 * norm.sf(abs(a - b) / math.sqrt(a + b)) if a + b else 1.0
"""
        },
        {"mcnemar"},
    ),
    "no correction for many tests": (
        {
            "decide": """
def decide(differences, p_values, level=0.05):
    return ["none" if p >= level else "first" if d < 0 else "second" for d, p in zip(differences, p_values)]
"""
        },
        {"decide"},
    ),
    "corrected for the four tests of the example": (
        {
            "decide": """
def decide(differences, p_values, level=0.05):
    return ["none" if p >= 0.0125 else "first" if d < 0 else "second" for d, p in zip(differences, p_values)]
"""
        },
        {"decide"},
    ),
    "more mistakes win": (
        {
            "decide": """
def decide(differences, p_values, level=0.05):
    m = len(p_values)
    return ["none" if p >= level / m else "first" if d > 0 else "second" for d, p in zip(differences, p_values)]
"""
        },
        {"decide"},
    ),
    "at the level counts as below": (
        {
            "decide": """
def decide(differences, p_values, level=0.05):
    m = len(p_values)
    return ["none" if p > level / m else "first" if d < 0 else "second" for d, p in zip(differences, p_values)]
"""
        },
        {"decide"},
    ),
    "more than half required": (
        {
            "verdict": """
def verdict(decisions):
    good = [r for r, d in decisions.items() if "second" not in d and d.count("first") > len(d) / 2]
    if len(good) == len(decisions):
        return "reproduced"
    return "reproduced only under " + " and ".join(good) if good else "not reproduced"
"""
        },
        {"verdict"},
    ),
    "losses overlooked": (
        {
            "verdict": """
def verdict(decisions):
    good = [r for r, d in decisions.items() if d.count("first") >= len(d) / 2]
    if len(good) == len(decisions):
        return "reproduced"
    return "reproduced only under " + " and ".join(good) if good else "not reproduced"
"""
        },
        {"verdict"},
    ),
    "one reading is enough": (
        {
            "verdict": """
def verdict(decisions):
    good = [r for r, d in decisions.items() if "second" not in d and d.count("first") >= len(d) / 2]
    return "reproduced" if good else "not reproduced"
"""
        },
        {"verdict"},
    ),
    "too few runs": ({"plan": "my_claim, my_runs, my_seed = 'known', 500, 7"}, {"plan"}),
    "runs for a single test": ({"plan": "my_claim, my_runs, my_seed = 'known', 980, 7"}, {"plan"}),
    "a claim of one's own": (
        {"plan": "my_claim, my_runs, my_seed = 'GapE', 1500, 7"},
        {"plan", "report"},
    ),
    "report without correction for many tests": (
        report("rejects", ("decide(flat, p_values)", "decide(flat, p_values, level=0.3)")),
        {"report"},
    ),
    "report with one level for each reading": (
        report(
            "unknown", ("decide(flat, p_values)", "decide(flat[:3], p_values[:3]) + decide(flat[3:], p_values[3:])")
        ),
        {"report"},
    ),
    "report in which both readings are the same": (
        report("known", ("my_seed, reading)", "my_seed)")),
        {"report"},
    ),
    "report under one reading only": (
        report("known", (', "quiet": decisions[3:]', "")),
        {"report"},
    ),
    "seed chosen after looking at the results": (
        report("unknown", ("my_runs, my_seed, reading", "my_runs, my_seed + 1, reading")),
        {"report"},
    ),
    "differences the wrong way round": (
        report("known", ("one.mean() - two.mean()", "two.mean() - one.mean()")),
        {"report"},
    ),
    "verdict by hope": (
        report("known", ('verdict(report["decisions"])', '"reproduced"')),
        {"report"},
    ),
    "names sorted alphabetically": (
        {
            "verdict": """
def verdict(decisions):
    holds = sorted(n for n, d in decisions.items() if "second" not in d and d.count("first") >= len(d) / 2)
    if len(holds) == len(decisions):
        return "reproduced"
    return "reproduced only under " + " and ".join(holds) if holds else "not reproduced"
"""
        },
        {"verdict"},
    ),
    "the library": (
        {
            "interval": "def interval(mistakes, runs, confidence):\n    return bai.wilson(mistakes, runs, confidence)",
            "mcnemar": """
def mcnemar(first, second):
    test = bai.paired(first, second)
    return test.only_first, test.only_second, test.p_value
""",
        },
        {"interval", "mcnemar"},
    ),
}
