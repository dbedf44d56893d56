"""Small parts of the chances of mistakes; `tests/test_large.py` has the large ones."""

import numpy as np
import pytest

import bai


def test_the_standard_error_of_chances_is_that_of_their_mean():
    chances = np.array([0.1, 0.2, 0.6])
    out = bai.Conditional(bai.SH(), 9, chances)
    assert out.standard_error == pytest.approx(np.sqrt(((chances - 0.3) ** 2).sum() / 2 / 3))
    factor = np.exp(1.96 * out.standard_error / 0.3)
    assert out.interval == pytest.approx((0.3 / factor, 0.3 * factor))
    assert out.largest_share == pytest.approx(0.6 / 0.9)


@pytest.mark.parametrize("means, variances, says", [
    ([1.0, 0.5], [0.0, 1.0], "positive variance"),
    ([1.0, 1.0], [1.0, 1.0], "one best arm"),
])  # fmt: skip
def test_arms_without_noise_and_two_best_arms_have_no_chances(means, variances, says):
    with pytest.raises(ValueError, match=says):
        bai.rao_blackwell(bai.SH(), bai.GaussianBandits(means, variances, runs=5), 20, seed=1)
