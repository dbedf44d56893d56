"""A few policies, played when this is imported: the compiled loops that most pages need are then loaded."""

import bai

arms = bai.GaussianBandits([1.0, 0.0, 0.0], [1.0, 0.5, 0.5], runs=1)
for policy in (bai.Unif(), bai.SH(), bai.SR(), bai.SHVar(), bai.SHAdaVar()):
    _ = bai.simulate(policy, arms, 200, seed=0)
