"""The paper's mathematics: one function per statement, as printed and as corrected.

Throughout, `means` and `variances` list the K arms in any order, the best arm is the one with the highest
mean, and Δ_i is how far arm i falls short of it. A budget n is shared by m = ⌈log₂ K⌉ stages of b = ⌊n/m⌋
pulls; stage s holds k_s = ⌈K/2^(s-1)⌉ arms. L stands for log(1/δ), Q for the upper tail of the standard
normal.

Budgets may be integers or arrays of integers: one integer gives a float, an array gives an array.
Formulas marked *printed* are returned as they stand, above 1 if so they come out. Corrected bounds are
probabilities and never exceed 1. A bound on mistakes needs a unique best arm; complexities of tied arms
are inf.
"""

from ..schedules import (
    gape_complexity,
    gapev_complexity,
    gaps,
    reward_bound,
    stage_sizes,
    stages,
    variance_price,
    variance_stages,
    warmup_pulls,
)
from .allocation import (
    greedy_allocation,
    greedy_rho,
    lemma_1_allocation,
    lemma_4_pulls,
    lemma_b_rho,
    neyman_allocation,
    shvar_gain,
)
from .bounded_bounds import bounded_bound, bounded_closed_bound
from .error_bounds import (
    full_form_bound,
    h2,
    lemma_3_bound,
    lemma_a_bound,
    sh_bound,
    theorem_1_bound,
    theorem_2_bound,
    theorem_3_bound,
    theorem_3_condition,
    theorem_3_least_budget,
)
from .exponents import cheapest_path, exponent, exponent_bracket, path_bounds, transition_cost
from .halving_bounds import sh_closed_bound, sh_gaussian_bound, shvar_bound
from .keep_bounds import keep_bound, sh_keep_bound, shadavar_keep_bound, shadavar_keep_closed_bound
from .rivals import elimination_probability
from .shadavar_bounds import shadavar_bound, shadavar_failure
from .starvation import (
    best_floor,
    floor_bound,
    starvation_bound,
    starvation_bracket,
    starvation_limit,
    tiny_delta_bound,
)
from .variance_bounds import lemma_2_thresholds, lemma_5_alpha, lemma_5_pulls, variance_ucb
from .variance_halving import (
    halvevar_bound,
    halvevar_mistakes,
    hard_problems,
    variance_complexity,
    variance_lower_bound,
)

__all__ = [  # noqa: RUF022  the order of the API page
    "stages", "stage_sizes", "gaps", "warmup_pulls", "reward_bound", "gape_complexity", "gapev_complexity",
    "lemma_1_allocation", "neyman_allocation", "greedy_allocation", "shvar_gain", "lemma_4_pulls", "lemma_b_rho",
    "greedy_rho",
    "lemma_2_thresholds", "variance_ucb", "lemma_5_alpha", "lemma_5_pulls",
    "h2", "sh_bound", "lemma_3_bound", "theorem_1_bound", "theorem_2_bound", "theorem_3_bound", "theorem_3_condition",
    "theorem_3_least_budget", "lemma_a_bound", "full_form_bound",
    "elimination_probability", "sh_closed_bound", "sh_gaussian_bound", "shvar_bound",
    "shadavar_failure", "shadavar_bound",
    "keep_bound", "sh_keep_bound", "shadavar_keep_bound", "shadavar_keep_closed_bound",
    "bounded_bound", "bounded_closed_bound",
    "transition_cost", "cheapest_path", "exponent", "exponent_bracket", "path_bounds",
    "starvation_bound", "starvation_limit", "starvation_bracket", "best_floor", "floor_bound", "tiny_delta_bound",
    "variance_price", "variance_stages", "variance_complexity", "hard_problems", "variance_lower_bound",
    "halvevar_bound", "halvevar_mistakes",
]  # fmt: skip
