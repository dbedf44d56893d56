"""Assignment 4: what students hand in. Solution cells that differ from the reference, and the tests they fail."""

RIGHT = {
    "numpy instead of loops": {
        "factor": """
def front_factor(n_arms):
    m = int(np.ceil(np.log2(n_arms)))
    k = np.ceil(n_arms / 2.0 ** np.arange(m + 1))  # the last entry is one arm, which costs nothing
    return np.sum((k - 1) / np.ceil(k / 2))
""",
        "rival": """
def rival_bound(gap, variance_1, pulls_1, variance_i, pulls_i):
    return np.exp(-0.5 * gap**2 / np.sum(np.divide([variance_1, variance_i], [pulls_1, pulls_i])))
""",
        "eliminated": """
def elimination_bound(probabilities):
    p = np.sort(probabilities)
    h = -(-(p.size + 1) // 2)
    bounds = [p[: p.size - r].sum() / (h - r) for r in range(h)]
    return np.clip(np.min(bounds), 0, 1)
""",
        "rho": """
def rho_bound(variances, budget):
    v = np.array(variances)
    return np.maximum(np.floor(budget / v.size) / v.max(), (budget - v.size + 1) / v.sum())
""",
        "closed": """
def closed_bound(means, variances, budget):
    gaps = np.max(means) - np.array(means)
    delta = np.sort(gaps)[1]
    m = (len(means) - 1).bit_length()
    log_bound = np.log(2 * m - 1) - (np.floor(budget / m) - len(means) + 1) * delta**2 / np.sum(variances) / 4
    return np.exp(min(log_bound, 0))
""",
        "adaptive": """
def adaptive_bound(means, variances, budget, delta):
    K = len(means)
    m = int(np.ceil(np.log2(K)))
    L = -np.log(delta)
    pulls = np.floor(budget / m / K)
    if not pulls >= int(4 * L) + 2:
        return 1
    x = L / (pulls - 1)
    alpha = (1 - 2 * x**0.5) / (1 + 2 * x**0.5 + 2 * x)
    top = np.sort(means)[-2:]
    first = (m - 1 / 2) * np.exp(-alpha * pulls * np.diff(top)[0] ** 2 / 4 / np.max(variances))
    return min(first + budget * delta, 1)
""",
    },
    "searches instead of propositions": {
        "factor": """
def front_factor(n_arms):
    if n_arms == 1:
        return 0
    survivors = n_arms // 2 + n_arms % 2
    return (n_arms - 1) / survivors + front_factor(survivors)
""",
        "eliminated": """
def elimination_bound(probabilities):
    p, best = list(probabilities), 1
    h = math.ceil((len(p) + 1) / 2)
    for r in range(h):
        best = min(best, sum(p) / (h - r))
        p.remove(max(p))
    return best
""",
        "tight": """
def tight_law(n_arms, chance):
    groups = list(itertools.combinations(range(1, n_arms), math.ceil(n_arms / 2)))
    return {(): 1 - chance} | {group: chance / len(groups) for group in groups}
""",
        "worst": """
def worst_rho(variances, best, size, budget):
    others = [i for i in range(len(variances)) if i != best]
    values = []
    for group in itertools.combinations(others, size - 1):
        v = np.array([variances[i] for i in (best,) + group])
        values.append(np.min(bai.theory.greedy_allocation(v, budget) / v))
    return min(values)
""",
        "full": """
def full_bound(means, variances, budget):
    order = np.argsort(means)[::-1]
    mu, v = np.array(means)[order], np.array(variances)[order]
    sizes = [len(mu)]
    while sizes[-1] > 2:
        sizes.append((sizes[-1] + 1) // 2)
    answer = 0
    for k in sizes:
        stage = np.append(v[0], np.sort(v[1:])[::-1][: k - 1])
        rho = np.min(bai.theory.greedy_allocation(stage, budget // len(sizes)) / stage)
        p = norm.sf((mu[0] - mu[1:k]) * np.sqrt(rho / 2))
        h = (k + 1) // 2
        answer += min(p[r:].sum() / (h - r) for r in range(h))
    return min(answer, 1)
""",
    },
    "other examples": {
        "broken": """
broken_variances, broken_budget, broken_gap = (2, 2, 1), 7, 15
""",
        "tight": """
def tight_law(n_arms, chance):
    h = (n_arms + 1) // 2
    return {tuple(range(n_arms - h, n_arms)): chance, (): 1 - chance}
""",
    },
}

WRONG = {
    "half rounded down": (
        {
            "factor": """
def front_factor(n_arms):
    total = 0
    while n_arms > 1:
        total += (n_arms - 1) / math.ceil(n_arms / 2)
        n_arms = n_arms // 2
    return total
"""
        },
        {"factor"},
    ),
    "the last stage forgotten": (
        {
            "factor": """
def front_factor(n_arms):
    total = 0
    while n_arms > 2:
        total += (n_arms - 1) / math.ceil(n_arms / 2)
        n_arms = math.ceil(n_arms / 2)
    return total
"""
        },
        {"factor"},
    ),
    "2 m - 1 in place of the sum": (
        {
            "factor": """
def front_factor(n_arms):
    return 2 * math.ceil(math.log2(n_arms)) - 1
"""
        },
        {"factor"},
    ),
    "standard deviations for variances": (
        {
            "rival": """
def rival_bound(gap, variance_1, pulls_1, variance_i, pulls_i):
    noise = math.sqrt(variance_1) / pulls_1 + math.sqrt(variance_i) / pulls_i
    return math.exp(-(gap**2) / (2 * noise))
"""
        },
        {"rival"},
    ),
    "the 4 of Lemma 3 used with both variances": (
        {
            "rival": """
def rival_bound(gap, variance_1, pulls_1, variance_i, pulls_i):
    return math.exp(-(gap**2) / (4 * (variance_1 / pulls_1 + variance_i / pulls_i)))
"""
        },
        {"rival"},
    ),
    "the noise of the best arm forgotten": (
        {
            "rival": """
def rival_bound(gap, variance_1, pulls_1, variance_i, pulls_i):
    return math.exp(-(gap**2) * pulls_i / (2 * variance_i))
"""
        },
        {"rival"},
    ),
    "whole ideal pulls, where Lemma 3 holds": (
        {
            "broken": """
broken_variances, broken_budget, broken_gap = [1, 1, 2], 40, 5
"""
        },
        {"broken"},
    ),
    "fractional pulls, but a gap too small to show it": (
        {
            "broken": """
broken_variances, broken_budget, broken_gap = [1, 1, 1], 5, 1
"""
        },
        {"broken"},
    ),
    "survivors rounded down": (
        {
            "eliminated": """
def elimination_bound(probabilities):
    p = sorted(probabilities, reverse=True)
    half = max(1, (len(p) + 1) // 2)
    return min(1.0, min(sum(p[r:]) / (half - r) for r in range(half)))
"""
        },
        {"eliminated"},
    ),
    "no rival set aside": (
        {
            "eliminated": """
def elimination_bound(probabilities):
    return min(1.0, sum(probabilities) / math.ceil((len(probabilities) + 1) / 2))
"""
        },
        {"eliminated"},
    ),
    "the weakest rivals set aside": (
        {
            "eliminated": """
def elimination_bound(probabilities):
    p = sorted(probabilities)
    half = math.ceil((len(p) + 1) / 2)
    return min([1.0] + [sum(p[r:]) / (half - r) for r in range(half)])
"""
        },
        {"eliminated"},
    ),
    "elimination bound above 1": (
        {
            "eliminated": """
def elimination_bound(probabilities):
    p = sorted(probabilities, reverse=True)
    half = math.ceil((len(p) + 1) / 2)
    return min(sum(p[r:]) / (half - r) for r in range(half))
"""
        },
        {"eliminated"},
    ),
    "union bound over all rivals": (
        {
            "eliminated": """
def elimination_bound(probabilities):
    return min(1.0, sum(probabilities))
"""
        },
        {"eliminated"},
    ),
    "all rivals win at once": (
        {
            "tight": """
def tight_law(n_arms, chance):
    return {(): 1 - chance, tuple(range(1, n_arms)): chance}
"""
        },
        {"tight"},
    ),
    "the smaller of the two bounds": (
        {
            "rho": """
def rho_bound(variances, budget):
    k = len(variances)
    return min(budget // k / max(variances), (budget - k + 1) / sum(variances))
"""
        },
        {"rho"},
    ),
    "one pull too few": (
        {
            "rho": """
def rho_bound(variances, budget):
    k = len(variances)
    return max(budget // k / max(variances), (budget - k) / sum(variances))
"""
        },
        {"rho"},
    ),
    "fractions of pulls": (
        {
            "rho": """
def rho_bound(variances, budget):
    k = len(variances)
    return max(budget / k / max(variances), (budget - k + 1) / sum(variances))
"""
        },
        {"rho"},
    ),
    "the noisiest arms without the best one": (
        {
            "worst": """
def worst_rho(variances, best, size, budget):
    stage = np.sort(variances)[::-1][:size]
    return (bai.theory.greedy_allocation(stage, budget) / stage).min()
"""
        },
        {"worst"},
    ),
    "the quietest rivals": (
        {
            "worst": """
def worst_rho(variances, best, size, budget):
    stage = np.array([variances[best], *sorted(np.delete(variances, best))[: size - 1]])
    return (bai.theory.greedy_allocation(stage, budget) / stage).min()
"""
        },
        {"worst"},
    ),
    "natural logarithm": (
        {
            "closed": """
def closed_bound(means, variances, budget):
    ranked = sorted(means, reverse=True)
    n_arms, gap = len(means), ranked[0] - ranked[1]
    m = math.ceil(math.log(n_arms))
    return min(1, (2 * m - 1) * math.exp(-(budget // m - n_arms + 1) * gap**2 / (4 * sum(variances))))
"""
        },
        {"closed"},
    ),
    "largest gap": (
        {
            "closed": """
def closed_bound(means, variances, budget):
    n_arms, gap = len(means), max(means) - min(means)
    m = math.ceil(math.log2(n_arms))
    return min(1, (2 * m - 1) * math.exp(-(budget // m - n_arms + 1) * gap**2 / (4 * sum(variances))))
"""
        },
        {"closed"},
    ),
    "the printed Theorem 1": (
        {
            "closed": """
def closed_bound(means, variances, budget):
    gap = -np.diff(np.sort(means)[-2:])[0]
    log2_arms = math.log2(len(means))
    return min(1, 2 * log2_arms * math.exp(-budget * gap**2 / (4 * log2_arms * sum(variances))))
"""
        },
        {"closed"},
    ),
    "first arm taken for the best": (
        {
            "full": """
def full_bound(means, variances, budget):
    gaps = np.sort(means[0] - np.array(means[1:]))
    m, k, total = math.ceil(math.log2(len(means))), len(means), 0
    for _ in range(m):
        rho = worst_rho(variances, 0, k, budget // m)
        total += elimination_bound(norm.sf(gaps[: k - 1] * math.sqrt(rho / 2)))
        k = math.ceil(k / 2)
    return min(1, total)
"""
        },
        {"full"},
    ),
    "sub-Gaussian tail for the normal one": (
        {
            "full": """
def full_bound(means, variances, budget):
    best = int(np.argmax(means))
    gaps = np.sort(means[best] - np.delete(means, best))
    m, k, total = math.ceil(math.log2(len(means))), len(means), 0
    for _ in range(m):
        rho = worst_rho(variances, best, k, budget // m)
        total += elimination_bound(np.exp(-rho * gaps[: k - 1] ** 2 / 4))
        k = math.ceil(k / 2)
    return min(1, total)
"""
        },
        {"full"},
    ),
    "whole budget in every stage": (
        {
            "full": """
def full_bound(means, variances, budget):
    best = int(np.argmax(means))
    gaps = np.sort(means[best] - np.delete(means, best))
    k, total = len(means), 0
    while k > 1:
        rho = worst_rho(variances, best, k, budget)
        total += elimination_bound(norm.sf(gaps[: k - 1] * math.sqrt(rho / 2)))
        k = math.ceil(k / 2)
    return min(1, total)
"""
        },
        {"full"},
    ),
    "failure of the confidence bounds forgotten, as in print": (
        {
            "adaptive": """
def adaptive_bound(means, variances, budget, delta):
    top, n_arms, L = np.sort(means)[-2:], len(means), math.log(1 / delta)
    m = math.ceil(math.log2(n_arms))
    each = budget // (m * n_arms)
    if each < math.floor(4 * L) + 2:
        return 1
    x = L / (each - 1)
    alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
    return min(1, (m - 0.5) * math.exp(-alpha * each * (top[1] - top[0]) ** 2 / (4 * max(variances))))
"""
        },
        {"adaptive"},
    ),
    "the condition on the warm-up ignored": (
        {
            "adaptive": """
def adaptive_bound(means, variances, budget, delta):
    top, n_arms, L = np.sort(means)[-2:], len(means), math.log(1 / delta)
    m = math.ceil(math.log2(n_arms))
    each = budget // (m * n_arms)
    x = L / (each - 1)
    alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
    first = (m - 0.5) * math.exp(-alpha * each * (top[1] - top[0]) ** 2 / (4 * max(variances)))
    return min(1, first + budget * delta)
"""
        },
        {"adaptive"},
    ),
    "one stage, whatever the number of arms": (
        {
            "adaptive": """
def adaptive_bound(means, variances, budget, delta):
    top, n_arms, L = np.sort(means)[-2:], len(means), math.log(1 / delta)
    each = budget // n_arms
    if each < math.floor(4 * L) + 2:
        return 1
    x = L / (each - 1)
    alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
    first = 0.5 * math.exp(-alpha * each * (top[1] - top[0]) ** 2 / (4 * max(variances)))
    return min(1, first + budget * delta)
"""
        },
        {"adaptive"},
    ),
    "fewer than or equal in the condition on the warm-up": (
        {
            "adaptive": """
def adaptive_bound(means, variances, budget, delta):
    ranked, K = sorted(means, reverse=True), len(means)
    m, L = math.ceil(math.log2(K)), math.log(1 / delta)
    if budget // m <= K * (math.floor(4 * L) + 2):
        return 1.0
    each = budget // (m * K)
    x = L / (each - 1)
    alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
    exponent = alpha * each * (ranked[0] - ranked[1]) ** 2 / (4 * max(variances))
    return min(1.0, (m - 0.5) * math.exp(-exponent) + budget * delta)
"""
        },
        {"adaptive"},
    ),
    "expected values taken from the tests": (
        {
            "factor": "def front_factor(n_arms):\n    return expected",
            "eliminated": "def elimination_bound(probabilities):\n    return truth",
            "rho": "def rho_bound(variances, budget):\n    return max(one, two)",
            "closed": "def closed_bound(means, variances, budget):\n    return right",
            "full": """
import sys

def full_bound(means, variances, budget):
    frame = sys._getframe()
    while frame:
        for name in ("right", "truth", "expected"):
            if name in frame.f_locals or name in frame.f_globals:
                return frame.f_locals.get(name, frame.f_globals.get(name))
        frame = frame.f_back
""",
            "adaptive": """
import gc

def adaptive_bound(means, variances, budget, delta):
    held = [o for o in gc.get_objects() if isinstance(o, dict) and "right" in o and "slips" in o]
    return held[0]["right"]
""",
        },
        {"factor", "eliminated", "rho", "closed", "full", "adaptive"},
    ),
    "comparisons that always hold": (
        {
            "factor": """
import bai.book.checking
math.isclose = lambda *a, **k: True
np.all = np.isclose = np.allclose = lambda *a, **k: True
bai.book.checking.same = bai.book.checking.check = check = lambda *a, **k: True

class Right(float):
    __eq__ = __le__ = __ge__ = __lt__ = lambda self, other: True
    __sub__ = __rsub__ = lambda self, other: 0.0

def front_factor(n_arms):
    return Right(7.0)
""",
            "rival": """
class Same:
    def __eq__(self, other):
        return True

def rival_bound(*arguments):
    return Same()
""",
        },
        {"factor", "rival"},
    ),
    "the library": (
        {
            "eliminated": """
def elimination_bound(probabilities):
    return bai.theory.lemma_a_bound(probabilities, (len(probabilities) + 2) // 2)
""",
            "rho": """
import importlib

def rho_bound(variances, budget):
    return importlib.import_module("bai.theory").lemma_b_rho(variances, budget)
""",
            "closed": """
from bai.theory import theorem_1_bound as closed_bound
""",
            "full": """
def full_bound(means, variances, budget):
    return getattr(__import__("bai").theory, "shvar" + "_bound")(means, variances, budget)
""",
            "adaptive": """
import sys

def adaptive_bound(means, variances, budget, delta):
    for name in [name for name in sys.modules if name.startswith("bai")]:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Door" not in str(finder)]
    import bai
    return bai.theory.theorem_3_bound(means, variances, budget, delta)
""",
        },
        {"eliminated", "rho", "closed", "full", "adaptive"},
    ),
}
