"""The algorithms as the pages show them: the same lines in the module and on the page, the same pulls as `bai`."""

import ast
import inspect
import json
import textwrap
from pathlib import Path

import numpy as np
import pytest

import bai
from bai.book import by_hand
from bai.book.by_hand import Stacks, answer_of

ROOT = Path(__file__).resolve().parent.parent
SIZES = [(2, 30), (3, 80), (5, 200), (8, 400), (16, 500), (33, 900)]


def pairs(n_arms):
    """Each algorithm by hand, and the policy of bai that should make the same pulls."""
    variances = np.random.default_rng(n_arms).uniform(0.1, 2, n_arms)
    indices = {
        bai.SH: (by_hand.equal, {}),
        bai.SHVar: (by_hand.known(variances), {"variances": variances}),
        bai.SHAdaVar: (by_hand.learned(0.05), {}),
    }
    for policy, (index, told) in indices.items():
        for keep in (False, True):
            yield lambda *game, index=index, keep=keep: by_hand.halving(*game, index, keep), policy(reuse=keep), told
    yield by_hand.rejects, bai.SR(), {}


@pytest.mark.parametrize("n_arms, budget", SIZES)
def test_what_the_pages_write_makes_the_pulls_of_bai(n_arms, budget):
    for number, (algorithm, policy, told) in enumerate(pairs(n_arms)):
        rewards = np.random.default_rng([number, n_arms]).normal(0, 1, (n_arms, budget))
        ours, theirs = Stacks(rewards), Stacks(rewards)
        assert algorithm(ours, n_arms, budget) == answer_of(policy, theirs, n_arms, budget, **told), policy
        if policy.name == "SR":  # which drops one arm at a time, and pulls arm by arm
            assert sorted(ours.pulled) == sorted(theirs.pulled)
        else:
            assert ours.pulled == theirs.pulled, policy


class Bare(ast.NodeTransformer):
    """Takes off what a page leaves out: docstrings and types."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        node.body = node.body[1:] if ast.get_docstring(node) else node.body
        return node

    def visit_arg(self, node):
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node):
        return ast.Assign([node.target], node.value, lineno=node.lineno)


def bare(source):
    return {
        node.name: ast.dump(Bare().visit(node))
        for node in ast.parse(textwrap.dedent(source)).body
        if isinstance(node, ast.FunctionDef)
    }


def shown():
    """Every function that a page defines under the name of one of the module, as (page, name, tree)."""
    for path in sorted(ROOT.glob("chapters/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "%pip" not in source:
                yield from ((path.stem, name, tree) for name, tree in bare(source).items())


def test_pages_show_the_lines_of_the_module_each_once():
    module = bare(inspect.getsource(by_hand))
    found = [(page, name) for page, name, tree in shown() if name in module and tree == module[name]]
    other = [(page, name) for page, name, tree in shown() if name in module and tree != module[name]]
    assert other == []
    expected = {"halving", "better_half", "equal", "known", "learned", "rejects"}
    assert sorted(name for _, name in found) == sorted(expected)
