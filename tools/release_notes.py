"""Print the notes of a release from the changelog, if everything agrees on its version.

    python tools/release_notes.py v1.2.0

To make a release, give the newest section of ``CHANGELOG.md`` the heading ``## 1.2.0 (2030-01-31)``. Write that version
into ``pyproject.toml``, ``CITATION.cff`` and ``.zenodo.json``, and that date into ``CITATION.cff`` (``date-released``).
Then push the tag ``v1.2.0``. The workflow ``release.yml`` does the rest.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## (\d+\.\d+\.\d+\S*)(?: \((.*)\))?$", re.M)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read(name, root=ROOT):
    return (root / name).read_text(encoding="utf-8")


def newest_release(changelog):
    """Version, what its heading says in brackets, and notes of the newest release in a changelog."""
    heading = HEADING.search(changelog)
    if heading is None:
        raise ValueError("CHANGELOG.md has no section of a version; its heading must read: ## 1.2.0 (2030-01-31)")
    notes = re.split(r"^## ", changelog[heading.end() :], maxsplit=1, flags=re.M)[0]
    return heading[1], heading[2], notes.strip()


def versions(root=ROOT):
    """The version that each file states, besides the changelog."""
    return {
        "pyproject.toml": tomllib.loads(read("pyproject.toml", root))["project"]["version"],
        "CITATION.cff": yaml.safe_load(read("CITATION.cff", root))["version"],
        ".zenodo.json": json.loads(read(".zenodo.json", root))["version"],
    }


def obstacles(tag, root=ROOT):
    """What stands in the way of a release with this tag, a sentence each."""
    changelog = read("CHANGELOG.md", root)
    version, date, notes = newest_release(changelog)
    found = [] if tag == f"v{version}" else [f"the tag is {tag}, but the newest release in CHANGELOG.md is {version}"]
    for file, stated in versions(root).items():
        if stated != version:
            found.append(f"{file} states version {stated}, CHANGELOG.md {version}")
    if re.search(r"^## Unreleased", changelog, re.M):
        found.append(f"CHANGELOG.md has a section Unreleased; move its lines under {version}")
    if not notes:
        found.append(f"CHANGELOG.md says nothing about {version}")
    released = yaml.safe_load(read("CITATION.cff", root)).get("date-released")
    if not DATE.fullmatch(date or ""):
        found.append(f"the heading of {version} in CHANGELOG.md has no date; write: ## {version} (2030-01-31)")
    elif str(released) != date:
        found.append(f"CITATION.cff states date-released {released}, CHANGELOG.md {date}")
    return found


def main(tag):
    found = obstacles(tag)
    if found:
        sys.exit("\n".join(f"error: {sentence}" for sentence in found))
    print(newest_release(read("CHANGELOG.md"))[2])


if __name__ == "__main__":
    main(*sys.argv[1:])
