"""Copy the landing page's picture out of index.ipynb, for the README."""

import base64
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "_static" / "picture.png"


def stored_picture() -> bytes:
    """Return the picture that is stored in the landing page."""
    cells = json.loads((ROOT / "index.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = (cell for cell in cells if cell["id"] == "picture")
    return base64.b64decode("".join(cell["outputs"][0]["data"]["image/png"]))


if __name__ == "__main__":
    PICTURE.write_bytes(stored_picture())
