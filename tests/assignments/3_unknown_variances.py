"""Assignment 3: what students hand in. Solution cells that differ from the reference, and the tests they fail."""

RIGHT = {
    "loops instead of numpy": {
        "bound": """
def variance_bound(rewards, delta):
    N = len(rewards)
    L = -math.log(delta)
    denominator = 1 - 2 * (L / (N - 1)) ** 0.5
    if denominator <= 1e-12:
        return float("inf")
    average = sum(rewards) / N
    squares = 0.0
    for y in rewards:
        squares += (y - average) ** 2
    return squares / (N - 1) / denominator
""",
        "warmup": """
def warmup(delta):
    n = 2
    while n - 1 <= 4 * math.log(1 / delta):
        n += 1
    return n
""",
        "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    failures = 0
    for _ in range(runs):
        if variance_bound(draw(rng, pulls), delta) <= variance:
            failures += 1
    return failures / runs
""",
        "stage": """
def play_stage(stacks, budget, delta):
    K = len(stacks)
    seen = [[] for _ in range(K)]
    for t in range(budget):
        arm, best = t % K, -1
        if t >= K * warmup(delta):
            for i in range(K):
                index = variance_bound(seen[i], delta) / len(seen[i])
                if index > best:
                    arm, best = i, index
        seen[arm].append(stacks[arm][len(seen[arm])])
    return [len(s) for s in seen]
""",
        "halving": """
def halving(play, stacks, budget):
    used = {i: 0 for i in range(len(stacks))}
    alive = list(used)
    m = 0
    while 2**m < len(stacks):
        m += 1
    while len(alive) > 1:
        counts = play([stacks[i][used[i]:] for i in alive], budget // m)
        scored = []
        for i, c in zip(alive, counts):
            scored.append((sum(stacks[i][used[i] : used[i] + c]) / c, i))
            used[i] += c
        scored.sort()
        alive = [i for _, i in scored[len(scored) // 2 :]]
    return list(used.values()), alive[0]
""",
    },
    "formulas and arrays": {
        "small": """
def too_small(pulls, share):
    return 1 - chi2.sf(share * (pulls - 1), df=pulls - 1)
""",
        "sharp": """
def sharp_bound(rewards, delta):
    y = np.asarray(rewards)
    return ((y - y.mean()) ** 2).sum() / chi2.isf(1 - delta, y.size - 1)
""",
        "saving": """
def pulls_for(factor, delta):
    usual = 1 + math.ceil(4 * math.log(1 / delta) / (1 - 1 / factor) ** 2)
    n = np.arange(2, 1000)
    sharp = n[np.argmax((n - 1) / chi2.ppf(delta, n - 1) <= factor)]
    return [usual, sharp]
""",
        "stage": """
def play_stage(stacks, budget, delta):
    stacks = np.array([list(s)[:budget] for s in stacks])
    k, count = len(stacks), np.arange(1, budget + 1)
    squares = np.cumsum(stacks**2, axis=1) - np.cumsum(stacks, axis=1) ** 2 / count
    w = warmup(delta)
    N = np.array([min(w, len(range(i, budget, k))) for i in range(k)])
    for _ in range(budget - k * w):
        lower = (N - 1) - 2 * np.sqrt((N - 1) * np.log(1 / delta))
        N[np.argmax(squares[np.arange(k), N - 1] / lower / N)] += 1
    return N
""",
        "halving": """
def halving(play, stacks, budget):
    K = len(stacks)
    rest = {i: np.array(stacks[i]) for i in range(K)}
    pulls = np.zeros(K, dtype=int)
    m = int(np.ceil(np.log2(K)))
    for s in range(m):
        names = np.array(list(rest))
        n = np.array(play([rest[i] for i in names], int(budget / m)))
        mean = np.array([rest[i][:c].mean() for i, c in zip(names, n)])
        pulls[names] += n
        keep = np.argsort(-mean)[: (len(names) + 1) // 2]
        rest = {names[j]: rest[names[j]][n[j]:] for j in keep}
    return pulls, list(rest)[0]
""",
    },
    "another trap": {
        "trap": """
trap_rewards = np.array([[0.02, 0.05] * 25, [1.0, 1.0, 1.0] + [0.0] * 47])
""",
    },
}

WRONG = {
    "N degrees of freedom": (
        {"small": "def too_small(pulls, share):\n    return chi2.cdf(pulls * share, pulls)"},
        {"small"},
    ),
    "formula for two pulls only": (
        {
            "small": """
def too_small(pulls, share):
    return chi2.cdf(share, 1) if pulls == 2 else chi2.cdf(share, 1) ** (pulls - 1)
"""
        },
        {"small"},
    ),
    "the other tail": (
        {"small": "def too_small(pulls, share):\n    return chi2.sf((pulls - 1) * share, pulls - 1)"},
        {"small"},
    ),
    "biased variance": (
        {
            "bound": """
def variance_bound(rewards, delta):
    degrees, level = len(rewards) - 1, math.log(1 / delta)
    if degrees <= 4 * level:
        return math.inf
    return np.var(rewards) / (1 - 2 * math.sqrt(level / degrees))
"""
        },
        {"bound"},
    ),
    "N for N - 1": (
        {
            "bound": """
def variance_bound(rewards, delta):
    N, level = len(rewards), math.log(1 / delta)
    if N <= 4 * level:
        return math.inf
    return np.var(rewards, ddof=1) / (1 - 2 * math.sqrt(level / N))
"""
        },
        {"bound"},
    ),
    "one reward too few is accepted": (
        {
            "bound": """
def variance_bound(rewards, delta):
    N, level = len(rewards), math.log(1 / delta)
    if N <= 4 * level:
        return math.inf
    return np.var(rewards, ddof=1) / (1 - 2 * math.sqrt(level / (N - 1)))
"""
        },
        {"bound"},
    ),
    "negative bounds": (
        {
            "bound": """
def variance_bound(rewards, delta):
    return np.var(rewards, ddof=1) / (1 - 2 * math.sqrt(math.log(1 / delta) / (len(rewards) - 1)))
"""
        },
        {"bound"},
    ),
    "log2 for the natural logarithm": (
        {
            "bound": """
def variance_bound(rewards, delta):
    degrees, level = len(rewards) - 1, math.log2(1 / delta)
    if degrees <= 4 * level:
        return math.inf
    return np.var(rewards, ddof=1) / (1 - 2 * math.sqrt(level / degrees))
""",
            "warmup": "def warmup(delta):\n    return math.floor(4 * math.log2(1 / delta)) + 2",
        },
        {"bound", "warmup"},
    ),
    "variance of the mean": (
        {
            "bound": """
def variance_bound(rewards, delta):
    degrees, level = len(rewards) - 1, math.log(1 / delta)
    if degrees <= 4 * level:
        return math.inf
    return np.var(rewards, ddof=1) / len(rewards) / (1 - 2 * math.sqrt(level / degrees))
"""
        },
        {"bound"},
    ),
    "warm-up rounded up as printed": (
        {"warmup": "def warmup(delta):\n    return math.ceil(4 * math.log(1 / delta) + 1)"},
        {"warmup"},
    ),
    "warm-up rounded down": (
        {"warmup": "def warmup(delta):\n    return int(4 * math.log(1 / delta) + 1)"},
        {"warmup"},
    ),
    "answers of the visible test": (
        {
            "warmup": "def warmup(delta):\n    return {0.05: 13, 0.01: 20}[delta]",
            "saving": "def pulls_for(factor, delta):\n    return 49, 18",
        },
        {"saving", "warmup"},
    ),
    "successes counted": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    return np.mean([variance_bound(draw(rng, pulls), delta) > variance for _ in range(runs)])
"""
        },
        {"failure"},
    ),
    "seed fixed inside": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    rng = np.random.default_rng(0)
    return np.mean([variance_bound(draw(rng, pulls), delta) <= variance for _ in range(runs)])
"""
        },
        {"failure"},
    ),
    "one sample for all runs": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    sample = draw(rng, pulls)
    return np.mean([variance_bound(sample, delta) <= variance for _ in range(runs)])
"""
        },
        {"failure"},
    ),
    "biased variance in the simulation": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    samples = np.array([draw(rng, pulls) for _ in range(runs)])
    factor = 1 / (1 - 2 * math.sqrt(math.log(1 / delta) / (pulls - 1)))
    return np.mean(samples.var(axis=1) * factor <= variance)
"""
        },
        {"failure"},
    ),
    "plain estimate instead of the bound": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    return np.mean([np.var(draw(rng, pulls), ddof=1) <= variance for _ in range(runs)])
"""
        },
        {"failure"},
    ),
    "two-sided quantile": (
        {
            "sharp": """
def sharp_bound(rewards, delta):
    degrees = len(rewards) - 1
    return degrees * np.var(rewards, ddof=1) / chi2.ppf(delta / 2, degrees)
"""
        },
        {"sharp"},
    ),
    "quantile of the wrong end": (
        {
            "sharp": """
def sharp_bound(rewards, delta):
    degrees = len(rewards) - 1
    return degrees * np.var(rewards, ddof=1) / chi2.ppf(1 - delta, degrees)
"""
        },
        {"sharp"},
    ),
    "quantile with N degrees of freedom": (
        {
            "sharp": """
def sharp_bound(rewards, delta):
    return len(rewards) * np.var(rewards, ddof=1) / chi2.ppf(delta, len(rewards))
"""
        },
        {"sharp"},
    ),
    "degrees of freedom returned for pulls": (
        {
            "saving": """
def pulls_for(factor, delta):
    usual = math.ceil(4 * math.log(1 / delta) / (1 - 1 / factor) ** 2)
    sharp = 1
    while sharp / chi2.ppf(delta, sharp) > factor:
        sharp += 1
    return usual, sharp
"""
        },
        {"saving"},
    ),
    "sharper bound only after the warm-up": (
        {
            "saving": """
def pulls_for(factor, delta):
    usual = 1 + math.ceil(4 * math.log(1 / delta) / (1 - 1 / factor) ** 2)
    sharp = bai.theory.warmup_pulls(delta)
    while (sharp - 1) / chi2.ppf(delta, sharp - 1) > factor:
        sharp += 1
    return usual, sharp
"""
        },
        {"saving"},
    ),
    "plug-in rule after two pulls": (
        {
            "stage": """
def play_stage(stacks, budget, delta):
    pulls = [2] * len(stacks)
    for _ in range(budget - 2 * len(stacks)):
        index = [np.var(s[:n], ddof=1) / n for s, n in zip(stacks, pulls)]
        pulls[int(np.argmax(index))] += 1
    return pulls
"""
        },
        {"stage"},
    ),
    "warm-up as printed": (
        {
            "stage": """
def play_stage(stacks, budget, delta):
    k, level, pulls = len(stacks), math.log(1 / delta), [0] * len(stacks)
    for t in range(budget):
        arm = t % k
        if t + 1 > k * (4 * level + 1):
            U = [np.var(s[:n], ddof=1) / (1 - 2 * math.sqrt(level / (n - 1))) for s, n in zip(stacks, pulls)]
            arm = int(np.argmax(np.array(U) / pulls))
        pulls[arm] += 1
    return pulls
"""
        },
        {"stage"},
    ),
    "highest bound, not divided by the pulls": (
        {
            "stage": """
def play_stage(stacks, budget, delta):
    k, pulls = len(stacks), [0] * len(stacks)
    for t in range(budget):
        arm = t % k
        if t >= k * warmup(delta):
            arm = int(np.argmax([variance_bound(s[:n], delta) for s, n in zip(stacks, pulls)]))
        pulls[arm] += 1
    return pulls
"""
        },
        {"stage"},
    ),
    "lowest index": (
        {
            "stage": """
def play_stage(stacks, budget, delta):
    k, pulls = len(stacks), [0] * len(stacks)
    for t in range(budget):
        arm = t % k
        if t >= k * warmup(delta):
            arm = int(np.argmin([variance_bound(s[:n], delta) / n for s, n in zip(stacks, pulls)]))
        pulls[arm] += 1
    return pulls
"""
        },
        {"stage"},
    ),
    "rewards of the future": (
        {
            "stage": """
def play_stage(stacks, budget, delta):
    k, pulls = len(stacks), [0] * len(stacks)
    for t in range(budget):
        arm = t % k
        if t >= k * warmup(delta):
            factor = [bai.theory.variance_ucb(1.0, n, delta) for n in pulls]
            arm = int(np.argmax([np.var(s, ddof=1) * f / n for s, f, n in zip(stacks, factor, pulls)]))
        pulls[arm] += 1
    return pulls
"""
        },
        {"stage"},
    ),
    "warm-up arm by arm": (
        {
            "stage": """
def play_stage(stacks, budget, delta):
    k, w, pulls = len(stacks), warmup(delta), [0] * len(stacks)
    for t in range(budget):
        if t < k * w:
            arm = t // w
        else:
            arm = int(np.argmax([variance_bound(s[:n], delta) / n for s, n in zip(stacks, pulls)]))
        pulls[arm] += 1
    return pulls
"""
        },
        {"stage"},
    ),
    "warm-up not stopped by the budget": (
        {
            "stage": """
def play_stage(stacks, budget, delta):
    k, w = len(stacks), warmup(delta)
    if budget < k * w:
        return [budget // k] * k
    pulls = [w] * k
    for t in range(k * w, budget):
        pulls[int(np.argmax([variance_bound(s[:n], delta) / n for s, n in zip(stacks, pulls)]))] += 1
    return pulls
"""
        },
        {"stage"},
    ),
    "every stage sees the same rewards": (
        {
            "halving": """
def halving(play, stacks, budget):
    arms, total = list(range(len(stacks))), [0] * len(stacks)
    stages = math.ceil(math.log2(len(stacks)))
    for _ in range(stages):
        pulls = play([stacks[i] for i in arms], budget // stages)
        means = {i: np.mean(stacks[i][:n]) for i, n in zip(arms, pulls)}
        for i, n in zip(arms, pulls):
            total[i] += n
        arms = sorted(arms, key=means.get, reverse=True)[: math.ceil(len(arms) / 2)]
    return total, arms[0]
"""
        },
        {"halving"},
    ),
    "samples of earlier stages kept": (
        {
            "halving": """
def halving(play, stacks, budget):
    arms, total = list(range(len(stacks))), [0] * len(stacks)
    stages = math.ceil(math.log2(len(stacks)))
    for _ in range(stages):
        pulls = play([stacks[i][total[i]:] for i in arms], budget // stages)
        for i, n in zip(arms, pulls):
            total[i] += n
        arms = sorted(arms, key=lambda i: -np.mean(stacks[i][: total[i]]))[: math.ceil(len(arms) / 2)]
    return total, arms[0]
"""
        },
        {"halving"},
    ),
    "half rounded down": (
        {
            "halving": """
def halving(play, stacks, budget):
    arms, total = list(range(len(stacks))), [0] * len(stacks)
    stages = math.ceil(math.log2(len(stacks)))
    while len(arms) > 1:
        unused = [stacks[i][total[i]:] for i in arms]
        pulls = play(unused, budget // stages)
        means = {i: np.mean(u[:n]) for i, u, n in zip(arms, unused, pulls)}
        for i, n in zip(arms, pulls):
            total[i] += n
        arms = sorted(arms, key=means.get, reverse=True)[: len(arms) // 2]
    return total, arms[0]
"""
        },
        {"halving"},
    ),
    "answer counted among the finalists": (
        {
            "halving": """
def halving(play, stacks, budget):
    arms, total = list(range(len(stacks))), [0] * len(stacks)
    stages = math.ceil(math.log2(len(stacks)))
    for _ in range(stages):
        unused = [stacks[i][total[i]:] for i in arms]
        pulls = play(unused, budget // stages)
        means = [np.mean(u[:n]) for u, n in zip(unused, pulls)]
        for i, n in zip(arms, pulls):
            total[i] += n
        order = np.argsort(means)[::-1][: math.ceil(len(arms) / 2)]
        arms = [arms[j] for j in order]
    return total, order[0]
"""
        },
        {"halving"},
    ),
    "trap of the chapter": (
        {"trap": "trap_rewards = [[1] + [0] * 9, [0.04, 0.06] * 5]"},
        {"trap"},
    ),
    "trap that SH cannot solve either": (
        {"trap": "trap_rewards = [[1] + [0] * 49, [0.018, 0.02] * 25]"},
        {"trap"},
    ),
}
