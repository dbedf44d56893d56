"""Compile the loops of `bai` for the browser: writes `_static/live/bai.wasm`.

    python tools/make_wasm.py [FILE]

numba turns the loops into LLVM's intermediate code. Here that code is handed to LLVM for WebAssembly instead of this
machine. What LLVM emits for a single object is a module already but for its exports, so no linker is needed. The
functions of a C library that it imports come from `libm.wasm`, see `make_libm.py`.

`wasm/made_from.json` keeps what the stored module was made from and with, so that a test sees when it is out of date.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
TARGET = TOOLS.parent / "_static" / "live" / "bai.wasm"
RECORD = TOOLS / "wasm" / "made_from.json"
TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = "+bulk-memory,+sign-ext,+nontrapping-fptoint,+mutable-globals,+simd128"
# What the stored file was made with; other versions may write the same loops in other bytes.
MADE_WITH = {"python": "3.11", "numba": "0.68.1", "llvmlite": "0.50.0"}
# numba's code as it is before it is fitted to this machine, the same in every process.
FRESH = {
    "NUMBA_OPT": "0",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_DISABLE_INTEL_SVML": "1",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "PYTHONHASHSEED": "0",
}


def portable(function):
    """The intermediate code of an exported function for WebAssembly, under its own name."""
    code = function._library.get_llvm_str()
    code = re.sub(r'target triple = ".*"', f'target triple = "{TRIPLE}"', code)
    code = re.sub(r'target datalayout = ".*"', f'target datalayout = "{LAYOUT}"', code)
    code = code.replace("= common ", "= internal ")  # which WebAssembly does not know
    # The texts of exceptions, which hold paths of this machine; JavaScript learns only that there was one.
    code = re.sub(r"(@\.const\.pickledata\.\S+ = .*constant) \[\d+ x i8\] c.*", r"\1 [1 x i8] zeroinitializer", code)
    code = re.sub(r"(@\.const\.picklebuf\.\S+ = .*constant \{[^{}]*\}) \{.*\}", r"\1 zeroinitializer", code)
    code = re.sub(r"inttoptr \(i64 \d+ to ptr\)", "null", code)  # objects of this process, which nothing uses
    inner = function.native_name.removeprefix("cfunc.")
    return re.sub(rf"(?<![.\w])@{re.escape(inner)}(?!\w)", f"@{function.__name__}", code)


def compile_object(functions):
    """One object file with all functions."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3, features=FEATURES)
    module = llvm.parse_assembly(portable(functions[0]))
    for function in functions[1:]:
        module.link_in(llvm.parse_assembly(portable(function)))
    names = {function.__name__ for function in functions}
    for defined in module.functions:
        if not defined.is_declaration and defined.name not in names:
            defined.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=3)  # vectors change no sum: its order is part of the code
    for _ in range(2):
        builder = llvm.create_pass_builder(machine, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(module, builder)
    return machine.emit_object(module)


def build():
    """The bytes of the module."""
    sys.path.insert(0, str(TOOLS))
    warnings.filterwarnings("ignore", message="Cannot cache compiled function")
    from wasm.exports import EXPORTS
    from wasm.object import as_module

    return as_module(compile_object(EXPORTS), [function.__name__ for function in EXPORTS])


def record(module):
    """What is kept about a module: its digest, what it was made with, and digests of all code that went into it."""
    sys.path.insert(0, str(TOOLS))
    from wasm.sources import pieces

    return {"module": hashlib.sha256(module).hexdigest(), "made with": MADE_WITH, "pieces": pieces()}


def main(target=TARGET):
    """Build in a process of its own, which compiles everything anew, and write the file."""
    with tempfile.TemporaryDirectory() as cache:
        code = "import gc, sys, make_wasm; gc.disable(); sys.stdout.buffer.write(make_wasm.build())"
        environment = os.environ | FRESH | {"NUMBA_CACHE_DIR": cache}
        binary = subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=TOOLS, stdout=subprocess.PIPE, check=True
        ).stdout
    Path(target).write_bytes(binary)
    if target == TARGET:
        RECORD.write_text(json.dumps(record(binary), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
