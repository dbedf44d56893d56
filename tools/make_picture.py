"""Copy the landing page's picture out of index.ipynb, for the README."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "_static" / "picture.svg"


def stored_picture() -> str:
    """Return the picture that is stored in the landing page."""
    cells = json.loads((ROOT / "index.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = (cell for cell in cells if cell["id"] == "picture")
    return "".join(cell["outputs"][0]["data"]["image/svg+xml"])


if __name__ == "__main__":
    PICTURE.write_text(stored_picture(), encoding="utf-8")
