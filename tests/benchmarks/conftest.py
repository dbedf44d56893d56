"""What the benchmarks share."""

import pytest


@pytest.fixture
def say(capsys):
    """Print although pytest captures: the figures are what a benchmark is for."""

    def show(text):
        with capsys.disabled():
            print(text)

    return show
