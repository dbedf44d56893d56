"""Assignment 1: what students hand in. Solution cells that differ from the reference, and the tests they fail."""

RIGHT = {
    "recursive": {
        "plan": """
def stage_plan(k, n):
    def sizes(k):
        return [] if k == 1 else [k, *sizes(-(-k // 3))]

    return [(size, n // len(sizes(k))) for size in sizes(k)]
""",
        "halving": """
def sequential_thirds(pull, k, n):
    counts = np.zeros(k, dtype=np.int64)

    def stage(arms, plan):
        if not plan:
            return np.int64(arms[0])
        sums, times = np.zeros(k), np.zeros(k)
        for t in range(plan[0][1]):
            arm = arms[t % len(arms)]
            sums[arm] += pull(arm)
            times[arm] += 1
        counts[:] += times.astype(int)
        best = sorted(arms, key=lambda arm: (-sums[arm] / times[arm], arm))[: -(-len(arms) // 3)]
        return stage(sorted(best), plan[1:])

    return stage(list(range(k)), stage_plan(k, n)), counts
""",
    },
    "every reward drawn, loops": {
        "averages": """
def averages(means, variances, pulls, rng):
    result = []
    for mu, var, n in zip(means, variances, pulls):
        total = 0
        for _ in range(n):
            total += mu + var**0.5 * rng.standard_normal()
        result.append(total / n)
    return result
""",
        "needed": """
def risk(gap, variances, n):
    return 1 - norm.cdf(gap / np.sqrt(variances[0] / n + variances[1] / n))

def pulls_needed(gap, variances, delta):
    high = 1
    while risk(gap, variances, high) > delta:
        high *= 2
    return next(n for n in range(high // 2, high + 1) if n and risk(gap, variances, n) <= delta)
""",
        "score": """
def score(means, named):
    wrong = lost = 0
    for row, arm in zip(means, named):
        best = 0
        for i in range(len(row)):
            if row[i] > row[best]:
                best = i
        wrong += arm != best
        lost += row[best] - row[arm]
    return [wrong / len(named), lost / len(named)]
""",
    },
    "everything in one function, running sums": {
        "halving": """
def sequential_thirds(pull, n_arms, budget):
    m = 0
    while 3**m < n_arms:
        m += 1
    left, total_pulls = np.arange(n_arms), [0] * n_arms
    for s in range(m):
        n, sums = np.zeros(n_arms), np.zeros(n_arms)
        for t in range(budget // m):
            i = int(left[t % len(left)])
            sums[i] += pull(i)
            n[i] += 1
            total_pulls[i] += 1
        order = np.argsort(-(sums[left] / n[left]), kind="stable")
        left = np.sort(left[order[: -(-len(left) // 3)]])
    return left[0], total_pulls
""",
        "plan": """
def stage_plan(n_arms, budget):
    sizes = [n_arms]
    while sizes[-1] > 3:
        sizes.append(math.ceil(sizes[-1] / 3))
    return [[k, math.floor(budget / len(sizes))] for k in sizes]
""",
        "survivors": """
def survivors(arms, averages):
    order = np.argsort(-np.asarray(averages), kind="stable")[: math.ceil(len(arms) / 3)]
    return np.sort(np.asarray(arms)[order])
""",
    },
    "other names, numpy throughout": {
        "mistake": """
def mistake_probability(mu, sigma2, N):
    d = np.max(mu) - np.min(mu)
    return norm.cdf(0, loc=d, scale=np.sqrt(np.sum(np.array(sigma2) / np.array(N))))
""",
        "compare": """
def compare(n_arms, budget, runs, seed):
    mu = [1 - (i / n_arms) ** 0.4 for i in range(n_arms)]
    problems = bai.GaussianBandits([mu] * runs, [[0.3] * n_arms] * runs)
    a, b = [bai.simulate(p, problems, budget=budget, seed=seed) for p in [bai.Unif(), bai.SH()]]
    return np.array([a.mistakes.mean(), b.mistakes.mean(), bai.paired(b.mistakes, a.mistakes).p_value])
""",
    },
}

WRONG = {
    "variance for standard deviation": (
        {
            "averages": """
def averages(means, variances, pulls, rng):
    return rng.normal(means, np.asarray(variances) / np.asarray(pulls))
"""
        },
        {"averages"},
    ),
    "one reward instead of the average": (
        {
            "averages": """
def averages(means, variances, pulls, rng):
    return rng.normal(means, np.sqrt(variances))
"""
        },
        {"averages"},
    ),
    "seed fixed inside": (
        {
            "averages": """
def averages(means, variances, pulls, rng):
    rng = np.random.default_rng(0)
    return rng.normal(means, np.sqrt(np.asarray(variances) / np.asarray(pulls)))
"""
        },
        {"averages"},
    ),
    "generator of its own": (
        {
            "averages": """
def averages(means, variances, pulls, rng):
    rng = np.random.default_rng()
    return rng.normal(means, np.sqrt(np.asarray(variances) / np.asarray(pulls)))
"""
        },
        {"averages"},
    ),
    "same noise for all arms": (
        {
            "averages": """
def averages(means, variances, pulls, rng):
    return np.asarray(means) + rng.standard_normal() * np.sqrt(np.asarray(variances) / np.asarray(pulls))
"""
        },
        {"averages"},
    ),
    "first arm taken for the best": (
        {
            "mistake": """
def mistake_probability(means, variances, pulls):
    noise = math.sqrt(variances[0] / pulls[0] + variances[1] / pulls[1])
    return norm.sf((means[0] - means[1]) / noise)
"""
        },
        {"mistake"},
    ),
    "variance of the difference without the root": (
        {
            "mistake": """
def mistake_probability(means, variances, pulls):
    return norm.sf(abs(means[0] - means[1]) / (variances[0] / pulls[0] + variances[1] / pulls[1]))
"""
        },
        {"mistake"},
    ),
    "answers of the visible tests": (
        {
            "mistake": """
def mistake_probability(means, variances, pulls):
    return norm.sf(1)
""",
            "needed": """
def pulls_needed(gap, variances, delta):
    return {0.05: 22, 0.01: 55}[delta]
""",
            "plan": """
def stage_plan(n_arms, budget):
    return {9: [(9, 150), (3, 150)], 3: [(3, 31)]}[n_arms]
""",
        },
        {"mistake", "needed", "plan"},
    ),
    "rounded down, one pull short": (
        {
            "needed": """
def pulls_needed(gap, variances, delta):
    return int(sum(variances) * (norm.isf(delta) / gap) ** 2)
"""
        },
        {"needed"},
    ),
    "level split over two sides": (
        {
            "needed": """
def pulls_needed(gap, variances, delta):
    return math.ceil(sum(variances) * (norm.isf(delta / 2) / gap) ** 2)
"""
        },
        {"needed"},
    ),
    "argmin for argmax in the score": (
        {
            "score": """
def score(means, named):
    regret = means.max(axis=1) - means[np.arange(len(named)), named]
    return np.mean(named != means.argmin(axis=1)), regret.mean()
"""
        },
        {"score"},
    ),
    "one best arm for all runs": (
        {
            "score": """
def score(means, named):
    best = means.mean(axis=0).argmax()
    return np.mean(named != best), np.mean(means[:, best] - means[np.arange(len(named)), named])
"""
        },
        {"score"},
    ),
    "natural logarithm": (
        {
            "plan": """
def stage_plan(n_arms, budget):
    stages, plan = math.ceil(math.log(n_arms)), []
    for _ in range(stages):
        plan.append((n_arms, budget // stages))
        n_arms = (n_arms + 2) // 3
    return plan
"""
        },
        {"plan"},
    ),
    "one stage too many": (
        {
            "plan": """
def stage_plan(n_arms, budget):
    stages, plan = 1 + math.ceil(math.log(n_arms) / math.log(3) - 1e-9), []
    for _ in range(stages):
        plan.append((n_arms, budget // stages))
        n_arms = (n_arms + 2) // 3
    return plan
"""
        },
        {"plan"},
    ),
    "a third rounded down": (
        {
            "plan": """
def stage_plan(n_arms, budget):
    stages, plan = math.ceil(math.log(n_arms) / math.log(3) - 1e-9), []
    for _ in range(stages):
        plan.append((n_arms, budget // stages))
        n_arms = n_arms // 3
    return plan
""",
            "survivors": """
def survivors(arms, averages):
    ranked = sorted(zip(averages, arms), key=lambda pair: (-pair[0], pair[1]))
    return sorted(arm for _, arm in ranked[: len(arms) // 3])
""",
        },
        {"plan", "survivors"},
    ),
    "ties to the higher number": (
        {
            "survivors": """
def survivors(arms, averages):
    ranked = sorted(zip(averages, arms), reverse=True)
    return sorted(arm for _, arm in ranked[: (len(arms) + 2) // 3])
"""
        },
        {"survivors"},
    ),
    "the worse arms go on": (
        {
            "survivors": """
def survivors(arms, averages):
    ranked = sorted(zip(averages, arms))
    return sorted(arm for _, arm in ranked[: (len(arms) + 2) // 3])
"""
        },
        {"survivors"},
    ),
    "positions instead of arm numbers": (
        {
            "survivors": """
def survivors(arms, averages):
    return sorted(np.argsort(-np.array(averages), kind="stable")[: (len(arms) + 2) // 3].tolist())
"""
        },
        {"survivors"},
    ),
    "rewards of earlier stages reused": (
        {
            "halving": """
def sequential_thirds(pull, n_arms, budget):
    counts = np.zeros(n_arms, int)
    arms = list(range(n_arms))
    rewards = {arm: [] for arm in arms}
    for size, pulls in stage_plan(n_arms, budget):
        for t in range(pulls):
            arm = arms[t % size]
            rewards[arm].append(pull(arm))
            counts[arm] += 1
        arms = survivors(arms, [np.mean(rewards[arm]) for arm in arms])
    return arms[0], counts
"""
        },
        {"halving"},
    ),
    "pulls left over are not spent": (
        {
            "halving": """
def sequential_thirds(pull, n_arms, budget):
    counts = np.zeros(n_arms, int)
    arms = list(range(n_arms))
    for size, pulls in stage_plan(n_arms, budget):
        averages = []
        for arm in arms:
            averages.append(np.mean([pull(arm) for _ in range(pulls // size)]))
            counts[arm] += pulls // size
        arms = survivors(arms, averages)
    return arms[0], counts
"""
        },
        {"halving"},
    ),
    "standard deviation for variance in the comparison": (
        {
            "compare": """
def compare(n_arms, budget, runs, seed):
    means = 1 - (np.arange(n_arms) / n_arms) ** 0.4
    bandits = bai.GaussianBandits(means, np.full(n_arms, 0.3**0.5), runs=runs)
    unif, sh = (bai.simulate(p, bandits, budget, seed) for p in (bai.Unif(), bai.SH()))
    return unif.mistake_rate, sh.mistake_rate, bai.paired(unif.mistakes, sh.mistakes).p_value
"""
        },
        {"compare"},
    ),
    "two seeds, so that nothing is paired": (
        {
            "compare": """
def compare(n_arms, budget, runs, seed):
    means = 1 - (np.arange(n_arms) / n_arms) ** 0.4
    bandits = bai.GaussianBandits(means, np.full(n_arms, 0.3), runs=runs)
    unif, sh = bai.simulate(bai.Unif(), bandits, budget, seed), bai.simulate(bai.SH(), bandits, budget, seed + 1)
    return unif.mistake_rate, sh.mistake_rate, bai.paired(unif.mistakes, sh.mistakes).p_value
"""
        },
        {"compare"},
    ),
    "uniform noise": (
        {
            "averages": """
def averages(means, variances, pulls, rng):
    half = np.sqrt(3 * np.asarray(variances) / np.asarray(pulls))
    return rng.uniform(np.asarray(means) - half, np.asarray(means) + half)
"""
        },
        {"averages"},
    ),
    "uniform rewards, averaged": (
        {
            "averages": """
def averages(means, variances, pulls, rng):
    return [m + np.mean(rng.uniform(-1, 1, n)) * (3 * v) ** 0.5 for m, v, n in zip(means, variances, pulls)]
"""
        },
        {"averages"},
    ),
    "pulls in blocks instead of in turn": (
        {
            "halving": """
def sequential_thirds(pull, n_arms, budget):
    counts = [0] * n_arms
    arms = list(range(n_arms))
    for size, pulls in stage_plan(n_arms, budget):
        averages = []
        for place, arm in enumerate(arms):
            n = pulls // size + (place < pulls % size)
            averages.append(np.mean([pull(arm) for _ in range(n)]))
            counts[arm] += n
        arms = survivors(arms, averages)
    return arms[0], counts
"""
        },
        {"halving"},
    ),
    "search capped at 5,000": (
        {
            "needed": """
def pulls_needed(gap, variances, delta):
    for n in range(1, 5000):
        if norm.sf(gap / math.sqrt(sum(variances) / n)) <= delta:
            return n
    return 5000
"""
        },
        {"needed"},
    ),
    "halves as in the chapter": (
        {
            "halving": """
def sequential_thirds(pull, n_arms, budget):
    m = math.ceil(math.log2(n_arms))
    arms, counts = list(range(n_arms)), [0] * n_arms
    for _ in range(m):
        sums, seen = dict.fromkeys(arms, 0.0), dict.fromkeys(arms, 0)
        for t in range(budget // m):
            arm = arms[t % len(arms)]
            sums[arm] += pull(arm)
            seen[arm] += 1
            counts[arm] += 1
        arms = sorted(sorted(arms, key=lambda a: -sums[a] / seen[a])[: (len(arms) + 1) // 2])
    return arms[0], counts
"""
        },
        {"halving"},
    ),
    "the policy of bai": (
        {
            "halving": """
def sequential_thirds(pull, n_arms, budget):
    answer = bai.identify(bai.SH(), pull, n_arms, budget)
    return answer.best, answer.pulls
"""
        },
        {"halving"},
    ),
}
