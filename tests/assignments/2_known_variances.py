"""Assignment 2: what students hand in. Solution cells that differ from the reference, and the tests they fail."""

RIGHT = {
    "numpy instead of loops": {
        "greedy": """
def greedy_pulls(variances, start, budget):
    sigma2 = np.array(variances, float)
    N = np.array(start, float)
    for t in range(budget):
        with np.errstate(divide="ignore", invalid="ignore"):
            priority = np.where(N == 0, np.inf, sigma2 / N)
        N[np.argmax(priority)] += 1
    return N
""",
        "certificate": """
def is_greedy(variances, start, pulls):
    v, s, n = np.array(variances, float), np.array(start), np.array(pulls)
    if (n < s).any():
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        now = np.where(n == 0, np.inf, v / n)
        before = np.where(n == s, np.inf, np.where(n < 2, np.inf, v / (n - 1)))
    return np.max(now) <= np.min(before) or bool(np.all(n == s))
""",
        "search": """
def compositions(total, parts):
    if parts == 1:
        yield (total,)
        return
    for first in range(1, total - parts + 2):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)

def smallest_noise(variances, budget):
    return min(np.max(np.array(variances) / np.array(c)) for c in compositions(budget, len(variances)))
""",
        "split": """
def best_split(variance_1, variance_2, budget):
    a, b = math.sqrt(variance_1), math.sqrt(variance_2)
    ideal = a / (a + b) * budget
    candidates = [min(max(c, 1), budget - 1) for c in (math.floor(ideal), math.ceil(ideal))]
    values = [variance_1 / c + variance_2 / (budget - c) for c in candidates]
    n = candidates[int(np.argmin(values))]
    return [n, budget - n]
""",
    },
    "loops instead of numpy": {
        "ideal": """
def ideal_pulls(variances, budget):
    total = 0
    for v in variances:
        total += v
    return [v / total * budget for v in variances]
""",
        "certificate": """
def is_greedy(variances, start, pulls):
    for i in range(len(pulls)):
        if pulls[i] < start[i]:
            return False
        for j in range(len(pulls)):
            # the last pull of arm i was made although arm j waited with at most pulls[j]
            if i != j and pulls[i] > start[i] and pulls[i] > 1:
                if pulls[j] == 0 or variances[i] / (pulls[i] - 1) < variances[j] / pulls[j]:
                    return False
    return True
""",
        "gain": """
def gain(variances, best):
    k, S = len(variances), sum(variances)
    equal, ideal = 1 / k, [v / S for v in variances]
    first = second = 0.0
    for i in range(k):
        if i == best:
            continue
        first += variances[best] / equal + variances[i] / equal
        second += variances[best] / ideal[best] + variances[i] / ideal[i]
    return first / second
""",
    },
    "other examples": {
        "example": """
example_variances = (9.7, 1.4, 9.0, 3.1)
example_budget = 28
""",
        "hurts": """
hurt_means = np.array([0, 0, 0, 0.5, 0, 0, 0, 0])
hurt_variances = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 4])
hurt_budget = 100
""",
    },
}

WRONG = {
    "standard deviations for variances": (
        {
            "ideal": """
def ideal_pulls(variances, budget):
    return budget * np.sqrt(variances) / np.sqrt(variances).sum()
"""
        },
        {"ideal"},
    ),
    "rounded to whole numbers": (
        {
            "ideal": """
def ideal_pulls(variances, budget):
    return np.round(budget * np.array(variances) / np.sum(variances))
"""
        },
        {"ideal"},
    ),
    "index with standard deviations": (
        {
            "greedy": """
def greedy_pulls(variances, start, budget):
    pulls = list(start)
    for _ in range(budget):
        index = [v**0.5 / n if n else math.inf for v, n in zip(variances, pulls)]
        pulls[index.index(max(index))] += 1
    return pulls
"""
        },
        {"greedy"},
    ),
    "ties to the last arm": (
        {
            "greedy": """
def greedy_pulls(variances, start, budget):
    pulls = list(start)
    for _ in range(budget):
        index = [v / n if n else math.inf for v, n in zip(variances, pulls)]
        pulls[max(range(len(pulls)), key=lambda i: (index[i], i))] += 1
    return pulls
"""
        },
        {"greedy"},
    ),
    "first pulls are not counted": (
        {
            "greedy": """
def greedy_pulls(variances, start, budget):
    pulls = np.maximum(start, 1)
    for _ in range(budget):
        pulls[np.argmax(np.array(variances) / pulls)] += 1
    return pulls
"""
        },
        {"greedy"},
    ),
    "one pull added to avoid dividing by zero": (
        {
            "greedy": """
def greedy_pulls(variances, start, budget):
    pulls = np.array(start, int)
    for _ in range(budget):
        pulls[np.argmax(np.array(variances) / (pulls + 1))] += 1
    return pulls
"""
        },
        {"greedy"},
    ),
    "the quietest estimate is pulled": (
        {
            "greedy": """
def greedy_pulls(variances, start, budget):
    pulls = np.maximum(start, 1)
    for _ in range(budget - int(np.sum(np.array(start) == 0))):
        pulls[np.argmin(np.array(variances) / pulls)] += 1
    return pulls
"""
        },
        {"greedy"},
    ),
    "rounding for the greedy rule": (
        {
            "greedy": """
def greedy_pulls(variances, start, budget):
    return np.maximum(1, np.round(ideal_pulls(variances, budget)).astype(int))
"""
        },
        {"greedy"},
    ),
    "compares with one way to break ties": (
        {
            "certificate": """
def is_greedy(variances, start, pulls):
    return list(greedy_pulls(variances, start, sum(pulls) - sum(start))) == list(pulls)
"""
        },
        {"certificate"},
    ),
    "strict inequality forgets ties": (
        {
            "certificate": """
def is_greedy(variances, start, pulls):
    if min(pulls) < 1:
        return False
    least = max(v / n for v, n in zip(variances, pulls))
    most = min((v / (n - 1) for v, n in zip(variances, pulls) if n > 1), default=math.inf)
    return least < most
"""
        },
        {"certificate"},
    ),
    "within one pull of the ideal": (
        {
            "certificate": """
def is_greedy(variances, start, pulls):
    return min(pulls) >= 1 and np.all(np.abs(np.array(pulls) - ideal_pulls(variances, sum(pulls))) < 1)
"""
        },
        {"certificate"},
    ),
    "all counts are accepted": (
        {
            "certificate": """
def is_greedy(variances, start, pulls):
    return True
"""
        },
        {"certificate"},
    ),
    "search over at most the budget, last arm forgotten": (
        {
            "search": """
def smallest_noise(variances, budget):
    every = itertools.product(range(1, budget + 1), repeat=len(variances))
    return min(max(v / n for v, n in zip(variances, c)) for c in every if sum(c[:-1]) <= budget)
"""
        },
        {"search"},
    ),
    "off by one in the range": (
        {
            "search": """
def smallest_noise(variances, budget):
    every = itertools.product(range(2, budget + 1), repeat=len(variances))
    noise = [max(v / n for v, n in zip(variances, c)) for c in every if sum(c) == budget]
    return min(noise)
"""
        },
        {"search"},
    ),
    "the divisible optimum instead of a search": (
        {
            "search": """
def smallest_noise(variances, budget):
    return sum(variances) / budget
"""
        },
        {"search"},
    ),
    "noise of the colleague's rounding": (
        {
            "search": """
def smallest_noise(variances, budget):
    ideal = np.array(variances) / np.sum(variances) * budget
    pulls = np.maximum(np.floor(ideal), 1)
    while pulls.sum() < budget:
        pulls[np.argmax(ideal - pulls)] += 1
    return np.max(np.array(variances) / pulls)
"""
        },
        {"search"},
    ),
    "example of the chapter, with three arms": (
        {
            "example": """
example_variances = [6, 5, 2]
example_budget = 10
"""
        },
        {"example"},
    ),
    "example where rounding is right": (
        {
            "example": """
example_variances = [1, 2, 3, 4]
example_budget = 20
"""
        },
        {"example"},
    ),
    "split in proportion to the variances": (
        {
            "split": """
def best_split(variance_1, variance_2, budget):
    first = min(max(round(budget * variance_1 / (variance_1 + variance_2)), 1), budget - 1)
    return first, budget - first
"""
        },
        {"split"},
    ),
    "Neyman's split rounded, without a look at its neighbours": (
        {
            "split": """
def best_split(variance_1, variance_2, budget):
    ratio = math.sqrt(variance_1) / (math.sqrt(variance_1) + math.sqrt(variance_2))
    first = min(max(int(budget * ratio), 1), budget - 1)
    return first, budget - first
"""
        },
        {"split"},
    ),
    "split may leave an arm without a pull": (
        {
            "split": """
def best_split(variance_1, variance_2, budget):
    first = round(budget * math.sqrt(variance_1) / (math.sqrt(variance_1) + math.sqrt(variance_2)))
    return first, budget - first
"""
        },
        {"split"},
    ),
    "gain upside down": (
        {
            "gain": """
def gain(variances, best):
    variances = np.array(variances)
    return 2 * variances.sum() / (len(variances) * np.mean(variances[best] + np.delete(variances, best)))
"""
        },
        {"gain"},
    ),
    "the best arm counted among its rivals": (
        {
            "gain": """
def gain(variances, best):
    variances = np.array(variances)
    return len(variances) * np.mean(variances[best] + variances) / (2 * variances.sum())
"""
        },
        {"gain"},
    ),
    "arm 0 taken for the best": (
        {
            "gain": """
def gain(variances, best):
    variances = np.array(variances)
    return len(variances) * np.mean(variances[0] + variances[1:]) / (2 * variances.sum())
"""
        },
        {"gain"},
    ),
    "a noisy best arm, on which SHVar helps": (
        {
            "hurts": """
hurt_means = [0.5] + [0.0] * 7
hurt_variances = [2.0] + [0.1] * 7
hurt_budget = 100
"""
        },
        {"hurts"},
    ),
    "too few mistakes for a difference": (
        {
            "hurts": """
hurt_means = [5.0] + [0.0] * 7
hurt_variances = [0.1] + [2.0] * 7
hurt_budget = 1000
"""
        },
        {"hurts"},
    ),
    "decided by G-optimality": (
        {
            "certificate": """
def is_greedy(variances, start, pulls):
    if any(n < s for s, n in zip(start, pulls)):
        return False
    noise = lambda counts: max(v / n if n else math.inf for v, n in zip(variances, counts))
    return math.isclose(noise(pulls), noise(greedy_pulls(variances, start, sum(pulls) - sum(start))))
"""
        },
        {"certificate"},
    ),
    "one pull each to begin with, however few rounds there are": (
        {
            "greedy": """
def greedy_pulls(variances, start, budget):
    pulls = [max(n, 1) for n in start]
    for _ in range(budget - sum(pulls) + sum(start)):
        index = [v / n for v, n in zip(variances, pulls)]
        pulls[index.index(max(index))] += 1
    return pulls
"""
        },
        {"greedy"},
    ),
    "Adams' method of the chapter, the start forgotten": (
        {
            "certificate": """
def is_greedy(variances, start, pulls):
    if min(pulls) < 1:
        return False
    least = max(v / n for v, n in zip(variances, pulls))
    return least <= min((v / (n - 1) for v, n in zip(variances, pulls) if n > 1), default=math.inf)
"""
        },
        {"certificate"},
    ),
    "the library": (
        {
            "ideal": "def ideal_pulls(variances, budget):\n    return bai.theory.lemma_1_allocation(variances, budget)",
            "search": """
def smallest_noise(variances, budget):
    import importlib
    theory = importlib.import_module("bai.theory")
    return max(variances / theory.greedy_allocation(variances, budget))
""",
            "gain": """
from bai.theory import shvar_gain as gain
""",
        },
        {"ideal", "search", "gain"},
    ),
}
