"""What several files of tests share: one browser for all of a process, since it can hold only one at a time."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tools"))

# What is no test, but imported or run by one, holds no doctests either: to look for some would import all of it.
collect_ignore = ["assignments", "mutants", *(file.name for file in HERE.glob("[!t]*.py"))]


@pytest.fixture(scope="session")
def browser():
    make_pdf = pytest.importorskip("make_pdf", reason="playwright is not installed")
    if not make_pdf.CHROMIUM:
        pytest.skip("no chromium on this machine")
    with make_pdf.chromium() as browser:
        usual = browser.new_page

        def new_page(**options):
            page = usual(**options)
            page.set_default_timeout(1000 * make_pdf.LIMIT)  # a busy machine may take longer than Playwright expects
            return page

        browser.new_page = new_page
        yield browser
