"""Assignment 3: what students hand in. Cells that differ from the reference, and the tasks that lose points."""

RIGHT = {
    "loops instead of numpy": {
        "bound": """
def variance_bound(rewards, delta):
    N = len(rewards)
    L = -math.log(delta)
    if N < 2:
        return float("inf")
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
def least(delta):
    n = 2
    while n - 1 <= 4 * math.log(1 / delta):
        n += 1
    return n

def warmup_cost(K, n, delta, stages=None):
    if stages is None:
        stages = 0
        while 2**stages < K:
            stages += 1
    if K == 1:
        return 0
    return min(K * least(delta), n // stages) + warmup_cost(-(-K // 2), n, delta, stages)
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
def play_stage(stacks, budget, delta, block):
    K = len(stacks)
    seen = [[] for _ in range(K)]
    t, last, chosen = 0, 0, None
    w = 2
    while variance_bound([0.0, 1.0] * (w // 2) + [0.5] * (w % 2), delta) == float("inf"):
        w += 1
    for t in range(budget):
        arm = t % K
        if t >= K * w:
            if (t - K * w) % block == 0:
                indices = [variance_bound(s, delta) / len(s) for s in seen]
                chosen = indices.index(max(indices))
            arm = chosen
        seen[arm].append(stacks[arm][len(seen[arm])])
    return [len(s) for s in seen]
""",
        "halving": """
def halving(play, stacks, budget, parts):
    used = {i: 0 for i in range(len(stacks))}
    alive, k, m = list(used), len(stacks), 0
    while k > 1:
        m += 1
        k = (k + parts - 1) // parts
    while len(alive) > 1:
        counts = play([stacks[i][used[i]:] for i in alive], budget // m)
        scored = []
        for i, c in zip(alive, counts):
            scored.append((sum(stacks[i][used[i] : used[i] + c]) / c, -i))
            used[i] += c
        scored.sort(reverse=True)
        alive = sorted(-i for _, i in scored[: (len(scored) + parts - 1) // parts])
    return list(used.values()), alive[0]
""",
    },
    "formulas and arrays": {
        "small": """
def too_small(N, x):
    return 1 - chi2.sf(x * (N - 1), df=N - 1)
""",
        "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    samples = draw(rng, pulls * runs).reshape(runs, pulls)
    factor = 1 / (1 - 2 * np.sqrt(np.log(1 / delta) / (pulls - 1)))
    return (samples.var(axis=1, ddof=1) * factor <= variance).mean()
""",
        "sharp": """
def variance_interval(y, delta):
    y = np.asarray(y)
    return ((y - y.mean()) ** 2).sum() / chi2.isf([delta / 2, 1 - delta / 2], y.size - 1)
""",
        "saving": """
def pulls_for(factor, delta):
    usual = 1 + math.ceil(4 * math.log(1 / delta) / (1 - 1 / factor) ** 2)
    n = np.arange(2, 5000)
    sharp = n[np.argmax(chi2.ppf(1 - delta / 2, n - 1) / chi2.ppf(delta / 2, n - 1) <= factor)]
    return [usual, sharp]
""",
        "stage": """
def play_stage(stacks, budget, delta, block):
    stacks = np.array([list(s)[:budget] for s in stacks])
    k, count = len(stacks), np.arange(1, budget + 1)
    squares = np.cumsum(stacks**2, axis=1) - np.cumsum(stacks, axis=1) ** 2 / count
    w = int(4 * np.log(1 / delta)) + 2
    N = np.array([min(w, len(range(i, budget, k))) for i in range(k)])
    while N.sum() < budget:
        lower = (N - 1) - 2 * np.sqrt((N - 1) * np.log(1 / delta))
        N[np.argmax(squares[np.arange(k), N - 1] / lower / N)] += min(block, budget - N.sum())
    return N
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
        {
            "small": """
def too_small(pulls, share):
    return chi2.cdf(pulls * share, pulls)
""",
        },
        {"small"},
    ),
    "formula for two pulls only": (
        {
            "small": """
def too_small(pulls, share):
    return chi2.cdf(share, 1) if pulls == 2 else chi2.cdf(share, 1) ** (pulls - 1)
""",
        },
        {"small"},
    ),
    "the other tail": (
        {
            "small": """
def too_small(pulls, share):
    return chi2.sf((pulls - 1) * share, pulls - 1)
""",
        },
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
""",
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
""",
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
""",
        },
        {"bound"},
    ),
    "negative bounds": (
        {
            "bound": """
def variance_bound(rewards, delta):
    return np.var(rewards, ddof=1) / (1 - 2 * math.sqrt(math.log(1 / delta) / (len(rewards) - 1)))
""",
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
        },
        {"bound"},
    ),
    "variance of the mean": (
        {
            "bound": """
def variance_bound(rewards, delta):
    degrees, level = len(rewards) - 1, math.log(1 / delta)
    if degrees <= 4 * level:
        return math.inf
    return np.var(rewards, ddof=1) / len(rewards) / (1 - 2 * math.sqrt(level / degrees))
""",
        },
        {"bound"},
    ),
    "successes counted": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    return np.mean([variance_bound(draw(rng, pulls), delta) > variance for _ in range(runs)])
""",
        },
        {"failure"},
    ),
    "seed fixed inside": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    rng = np.random.default_rng(0)
    return np.mean([variance_bound(draw(rng, pulls), delta) <= variance for _ in range(runs)])
""",
        },
        {"failure"},
    ),
    "one sample for all runs": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    sample = draw(rng, pulls)
    return np.mean([variance_bound(sample, delta) <= variance for _ in range(runs)])
""",
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
""",
        },
        {"failure"},
    ),
    "plain estimate instead of the bound": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    return np.mean([np.var(draw(rng, pulls), ddof=1) <= variance for _ in range(runs)])
""",
        },
        {"failure"},
    ),
    "trap of the chapter": (
        {
            "trap": """
trap_rewards = [[1] + [0] * 9, [0.04, 0.06] * 5]
""",
        },
        {"trap"},
    ),
    "trap that SH cannot solve either": (
        {
            "trap": """
trap_rewards = [[1] + [0] * 49, [0.018, 0.02] * 25]
""",
        },
        {"trap"},
    ),
    "warm-up rounded up as printed": (
        {
            "warmup": """
def warmup_cost(n_arms, budget, delta):
    w = math.ceil(4 * math.log(1 / delta) + 1)
    m = math.ceil(math.log2(n_arms))
    total, k = 0, n_arms
    for _ in range(m):
        total += min(k * w, budget // m)
        k = math.ceil(k / 2)
    return total
""",
        },
        {"warmup"},
    ),
    "warm-up rounded down": (
        {
            "warmup": """
def warmup_cost(n_arms, budget, delta):
    w = math.floor(4 * math.log(1 / delta)) + 1
    m = math.ceil(math.log2(n_arms))
    total, k = 0, n_arms
    for _ in range(m):
        total += min(k * w, budget // m)
        k = math.ceil(k / 2)
    return total
""",
        },
        {"warmup"},
    ),
    "warm-up with log2": (
        {
            "warmup": """
def warmup_cost(n_arms, budget, delta):
    w = math.floor(4 * math.log2(1 / delta)) + 2
    m = math.ceil(math.log2(n_arms))
    total, k = 0, n_arms
    for _ in range(m):
        total += min(k * w, budget // m)
        k = math.ceil(k / 2)
    return total
""",
        },
        {"warmup"},
    ),
    "warm-up beyond the end of the stage": (
        {
            "warmup": """
def warmup_cost(n_arms, budget, delta):
    w = math.floor(4 * math.log(1 / delta)) + 2
    m = math.ceil(math.log2(n_arms))
    total, k = 0, n_arms
    for _ in range(m):
        total += k * w
        k = math.ceil(k / 2)
    return total
""",
        },
        {"warmup"},
    ),
    "warm-up of the first stage only": (
        {
            "warmup": """
def warmup_cost(n_arms, budget, delta):
    w = math.floor(4 * math.log(1 / delta)) + 2
    m = math.ceil(math.log2(n_arms))
    total, k = 0, n_arms
    for _ in range(m):
        total += min(k * w, budget // m)
        k = math.ceil(k / 2)
    return min(n_arms * w, budget // m)
""",
        },
        {"warmup"},
    ),
    "half rounded down in the warm-up": (
        {
            "warmup": """
def warmup_cost(n_arms, budget, delta):
    w = math.floor(4 * math.log(1 / delta)) + 2
    m = math.ceil(math.log2(n_arms))
    total, k = 0, n_arms
    for _ in range(m):
        total += min(k * w, budget // m)
        k = k // 2
    return total
""",
        },
        {"warmup"},
    ),
    "answers of the visible tests": (
        {
            "warmup": """
def warmup_cost(n_arms, budget, delta):
    return {3000: 182, 210: 148}[budget]
""",
            "saving": """
def pulls_for(factor, delta):
    return 49, 66
""",
            "small": """
def too_small(pulls, share):
    return 0.07965567455405798
""",
        },
        {"saving", "small", "warmup"},
    ),
    "Monte Carlo where exact is asked": (
        {
            "small": """
def too_small(pulls, share):
    rng = np.random.default_rng(0)
    return np.mean(rng.normal(size=(20_000, pulls)).var(axis=1, ddof=1) < share)
""",
        },
        {"small"},
    ),
    "crashes on one reward": (
        {
            "bound": """
def variance_bound(rewards, delta):
    denominator = 1 - 2 * math.sqrt(math.log(1 / delta) / (len(rewards) - 1))
    return np.var(rewards, ddof=1) / denominator if denominator > 0 else math.inf
""",
        },
        {"bound"},
    ),
    "delta ignored in the simulation": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    samples = np.array([draw(rng, pulls) for _ in range(runs)])
    factor = 1 / (1 - 2 * math.sqrt(math.log(20) / (pulls - 1)))
    return np.mean(samples.var(axis=1, ddof=1) * factor <= variance)
""",
        },
        {"failure"},
    ),
    "generator of its own": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    rng = np.random.default_rng()
    factor = 1 / (1 - 2 * math.sqrt(math.log(1 / delta) / (pulls - 1)))
    return np.mean([np.var(draw(rng, pulls), ddof=1) * factor <= variance for _ in range(runs)])
""",
        },
        {"failure"},
    ),
    "a quarter of the runs": (
        {
            "failure": """
def failure_rate(draw, variance, pulls, delta, runs, rng):
    factor = 1 / (1 - 2 * math.sqrt(math.log(1 / delta) / (pulls - 1)))
    return np.mean([np.var(draw(rng, pulls), ddof=1) * factor <= variance for _ in range(runs // 4)])
""",
        },
        {"failure"},
    ),
    "delta on each side": (
        {
            "sharp": """
def variance_interval(rewards, delta):
    n = len(rewards) - 1
    s = n * np.var(rewards, ddof=1)
    return s / chi2.ppf(1 - delta, n), s / chi2.ppf(delta, n)
""",
        },
        {"sharp"},
    ),
    "ends swapped": (
        {
            "sharp": """
def variance_interval(rewards, delta):
    n = len(rewards) - 1
    s = n * np.var(rewards, ddof=1)
    return s / chi2.ppf(delta / 2, n), s / chi2.ppf(1 - delta / 2, n)
""",
        },
        {"sharp"},
    ),
    "interval with N degrees of freedom": (
        {
            "sharp": """
def variance_interval(rewards, delta):
    n = len(rewards)
    s = n * np.var(rewards)
    return s / chi2.ppf(1 - delta / 2, n), s / chi2.ppf(delta / 2, n)
""",
        },
        {"sharp"},
    ),
    "search starts at 3": (
        {
            "saving": """
def pulls_for(factor, delta):
    level = math.log(1 / delta)
    usual = math.floor(4 * level) + 2
    while 1 / (1 - 2 * math.sqrt(level / (usual - 1))) > factor:
        usual += 1
    sharp = 3
    while chi2.ppf(1 - delta / 2, sharp - 1) / chi2.ppf(delta / 2, sharp - 1) > factor:
        sharp += 1
    return usual, sharp
""",
        },
        {"saving"},
    ),
    "search capped at 200": (
        {
            "saving": """
def pulls_for(factor, delta):
    level = math.log(1 / delta)
    usual = math.floor(4 * level) + 2
    while 1 / (1 - 2 * math.sqrt(level / (usual - 1))) > factor and usual < 200:
        usual += 1
    sharp = 2
    while chi2.ppf(1 - delta / 2, sharp - 1) / chi2.ppf(delta / 2, sharp - 1) > factor and sharp < 200:
        sharp += 1
    return usual, sharp
""",
        },
        {"saving"},
    ),
    "degrees of freedom returned for pulls": (
        {
            "saving": """
def pulls_for(factor, delta):
    level = math.log(1 / delta)
    usual = math.floor(4 * level) + 2
    while 1 / (1 - 2 * math.sqrt(level / (usual - 1))) > factor:
        usual += 1
    sharp = 2
    while chi2.ppf(1 - delta / 2, sharp - 1) / chi2.ppf(delta / 2, sharp - 1) > factor:
        sharp += 1
    return usual - 1, sharp - 1
""",
        },
        {"saving"},
    ),
    "upper end against the estimate": (
        {
            "saving": """
def pulls_for(factor, delta):
    level = math.log(1 / delta)
    usual = math.floor(4 * level) + 2
    while 1 / (1 - 2 * math.sqrt(level / (usual - 1))) > factor:
        usual += 1
    sharp = 2
    while (sharp - 1) / chi2.ppf(delta / 2, sharp - 1) > factor:
        sharp += 1
    return usual, sharp
""",
        },
        {"saving"},
    ),
    "search only after the warm-up": (
        {
            "saving": """
def pulls_for(factor, delta):
    level = math.log(1 / delta)
    usual = math.floor(4 * level) + 2
    while 1 / (1 - 2 * math.sqrt(level / (usual - 1))) > factor:
        usual += 1
    sharp = math.floor(4 * level) + 2
    while chi2.ppf(1 - delta / 2, sharp - 1) / chi2.ppf(delta / 2, sharp - 1) > factor:
        sharp += 1
    return usual, sharp
""",
        },
        {"saving"},
    ),
    "biased variance in the stage": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=0) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "plug-in rule after two pulls": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w, L = 2, 0.0
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "warm-up as printed": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.ceil(4 * L + 1)
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "highest bound, not divided by the pulls": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "lowest index": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmin(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "rewards of the future": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "a decision after every pull": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = 1
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "last block not stopped by the budget": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = block
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "warm-up not stopped by the budget": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [w] * K, K * w
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "warm-up arm by arm": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t // w] += 1
            t += 1
            continue
        index = [np.var(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "bounds of the standard deviation": (
        {
            "stage": """
def play_stage(stacks, budget, delta, block):
    K, L = len(stacks), math.log(1 / delta)
    w = math.floor(4 * L) + 2
    n, t = [0] * K, 0
    while t < budget:
        if t < K * w:
            n[t % K] += 1
            t += 1
            continue
        index = [np.std(stacks[i][: n[i]], ddof=1) / (1 - 2 * math.sqrt(L / (n[i] - 1))) / n[i] for i in range(K)]
        arm = int(np.argmax(index))
        size = min(block, budget - t)
        n[arm] += size
        t += size
    return n
""",
        },
        {"stage"},
    ),
    "every stage sees the same rewards": (
        {
            "halving": """
def halving(play, stacks, budget, parts):
    k, m = len(stacks), 0
    while k > 1:
        k, m = math.ceil(k / parts), m + 1
    arms, used = list(range(len(stacks))), [0] * len(stacks)
    for _ in range(m):
        rest = [stacks[i] for i in arms]
        counts = play(rest, budget // m)
        means = [np.mean(r[:c]) for r, c in zip(rest, counts)]
        for i, c in zip(arms, counts):
            used[i] += c
        order = np.argsort(-np.array(means), kind="stable")[: math.ceil(len(arms) / parts)]
        arms = sorted(arms[j] for j in order)
    return used, arms[0]
""",
        },
        {"halving"},
    ),
    "samples of earlier stages kept": (
        {
            "halving": """
def halving(play, stacks, budget, parts):
    k, m = len(stacks), 0
    while k > 1:
        k, m = math.ceil(k / parts), m + 1
    arms, used = list(range(len(stacks))), [0] * len(stacks)
    for _ in range(m):
        rest = [stacks[i][used[i] :] for i in arms]
        counts = play(rest, budget // m)
        means = [np.mean(stacks[i][: used[i] + c]) for i, c in zip(arms, counts)]
        for i, c in zip(arms, counts):
            used[i] += c
        order = np.argsort(-np.array(means), kind="stable")[: math.ceil(len(arms) / parts)]
        arms = sorted(arms[j] for j in order)
    return used, arms[0]
""",
        },
        {"halving"},
    ),
    "part rounded down": (
        {
            "halving": """
def halving(play, stacks, budget, parts):
    k, m = len(stacks), 0
    while k > 1:
        k, m = math.ceil(k / parts), m + 1
    arms, used = list(range(len(stacks))), [0] * len(stacks)
    for _ in range(m):
        rest = [stacks[i][used[i] :] for i in arms]
        counts = play(rest, budget // m)
        means = [np.mean(r[:c]) for r, c in zip(rest, counts)]
        for i, c in zip(arms, counts):
            used[i] += c
        order = np.argsort(-np.array(means), kind="stable")[: max(1, len(arms) // parts)]
        arms = sorted(arms[j] for j in order)
    return used, arms[0]
""",
        },
        {"halving"},
    ),
    "always halves": (
        {
            "halving": """
def halving(play, stacks, budget, parts):
    k, m = len(stacks), 0
    while k > 1:
        k, m = math.ceil(k / parts), m + 1
    arms, used = list(range(len(stacks))), [0] * len(stacks)
    for _ in range(m):
        rest = [stacks[i][used[i] :] for i in arms]
        counts = play(rest, budget // m)
        means = [np.mean(r[:c]) for r, c in zip(rest, counts)]
        for i, c in zip(arms, counts):
            used[i] += c
        order = np.argsort(-np.array(means), kind="stable")[: math.ceil(len(arms) / 2)]
        arms = sorted(arms[j] for j in order)
    return used, arms[0]
""",
        },
        {"halving"},
    ),
    "answer counted among the finalists": (
        {
            "halving": """
def halving(play, stacks, budget, parts):
    k, m = len(stacks), 0
    while k > 1:
        k, m = math.ceil(k / parts), m + 1
    arms, used = list(range(len(stacks))), [0] * len(stacks)
    for _ in range(m):
        rest = [stacks[i][used[i] :] for i in arms]
        counts = play(rest, budget // m)
        means = [np.mean(r[:c]) for r, c in zip(rest, counts)]
        for i, c in zip(arms, counts):
            used[i] += c
        order = np.argsort(-np.array(means), kind="stable")[: math.ceil(len(arms) / parts)]
        arms = sorted(arms[j] for j in order)
    return used, int(order[0])
""",
        },
        {"halving"},
    ),
    "whole budget in every stage": (
        {
            "halving": """
def halving(play, stacks, budget, parts):
    k, m = len(stacks), 0
    while k > 1:
        k, m = math.ceil(k / parts), m + 1
    arms, used = list(range(len(stacks))), [0] * len(stacks)
    for _ in range(m):
        rest = [stacks[i][used[i] :] for i in arms]
        counts = play(rest, budget // 2)
        means = [np.mean(r[:c]) for r, c in zip(rest, counts)]
        for i, c in zip(arms, counts):
            used[i] += c
        order = np.argsort(-np.array(means), kind="stable")[: math.ceil(len(arms) / parts)]
        arms = sorted(arms[j] for j in order)
    return used, arms[0]
""",
        },
        {"halving"},
    ),
    "survivors in the order of their means": (
        {
            "halving": """
def halving(play, stacks, budget, parts):
    k, m = len(stacks), 0
    while k > 1:
        k, m = math.ceil(k / parts), m + 1
    arms, used = list(range(len(stacks))), [0] * len(stacks)
    for _ in range(m):
        rest = [stacks[i][used[i] :] for i in arms]
        counts = play(rest, budget // m)
        means = [np.mean(r[:c]) for r, c in zip(rest, counts)]
        for i, c in zip(arms, counts):
            used[i] += c
        order = np.argsort(-np.array(means), kind="stable")[: math.ceil(len(arms) / parts)]
        arms = [arms[j] for j in order]
    return used, arms[0]
""",
        },
        {"halving"},
    ),
    "the bound of the library": (
        {
            "bound": """
def variance_bound(rewards, delta):
    return bai.theory.variance_ucb(np.var(rewards, ddof=1), len(rewards), delta)
""",
        },
        {"bound"},
    ),
}
