"""Compile the few functions of a C library that `bai.wasm` needs: writes `_static/live/libm.wasm`.

    pip install ziglang==0.15.2
    python tools/make_libm.py [FILE]

The functions are musl's, whose source comes with Zig, as does the compiler. A browser's own `Math.exp` may differ from
a C library's in the last bit, and from browser to browser. The file changes only with the version of Zig.
"""

import importlib.metadata
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "_static" / "live" / "libm.wasm"
ZIG = "0.15.2"  # the last whose musl has these functions in C
FUNCTIONS = ("exp", "log", "log1p", "log2")
SOURCES = (*FUNCTIONS, *(f"{name}_data" for name in ("exp", "log", "log2")))
ERRORS = ("oflow", "uflow", "xflow", "divzero", "invalid")
OPTIONS = ["-target", "wasm32-freestanding", "-O2", "-ffp-contract=off", "-nostdlib", "-s", "-w", "-Wl,--no-entry"]


def main(target=TARGET):
    """Compile and write the file."""
    import ziglang

    version = importlib.metadata.version("ziglang")
    if version != ZIG:
        sys.exit(f"error: ziglang is {version}; musl's functions are taken from {ZIG}: pip install ziglang=={ZIG}")
    libc = Path(ziglang.__file__).parent / "lib" / "libc"
    musl = libc / "musl"
    headers = [musl / part for part in ("src/internal", "src/include", "include", "arch/generic")]
    headers += [libc / "include" / "wasm-wasi-musl", libc / "wasi" / "libc-top-half" / "musl" / "arch" / "wasm32"]
    sources = [musl / "src/math" / f"{name}.c" for name in (*SOURCES, *(f"__math_{name}" for name in ERRORS))]
    exports = [f"-Wl,--export={name}" for name in FUNCTIONS]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ziglang", "cc", *OPTIONS, *exports, *(f"-I{header}" for header in headers)]
        made = Path(folder) / "libm.wasm"
        subprocess.run([*command, "-o", made, *sources], check=True)
        Path(target).write_bytes(made.read_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
