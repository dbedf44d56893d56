// The compiled loops, and the memory that they and JavaScript share.
"use strict";

const BAI_PAGES = 64; // of 64 KB, to begin with

/**
 * Start `bai.wasm` with the functions of `libm.wasm`. Memory is handed out upwards; `release` takes all of it back.
 * @param {ArrayBuffer} bai
 * @param {ArrayBuffer} libm
 */
function startMachine(bai, libm) {
  const memory = new WebAssembly.Memory({initial: BAI_PAGES});
  const STACK = 1 << 20; // constants lie at its foot, and are far smaller
  const math = new WebAssembly.Instance(new WebAssembly.Module(libm)).exports;
  let top = STACK;
  /** @type {number[]} where the arrays are that the present call has made */
  let made = [];

  const allocate = (bytes, align = 16) => {
    const at = Math.ceil(top / align) * align;
    top = at + bytes;
    const missing = top - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.max(16, Math.ceil(missing / 65536)));
    return at;
  };
  /** Arrays that were given back, by size. @type {Map<number, number[]>} */
  const free = new Map();
  // numba's record of an array in memory: references, destructor and its argument, address, size.
  const record = (bytes, align) => {
    const again = free.get(Number(bytes))?.pop();
    const info = again ?? allocate(48);
    const data = again ? new DataView(memory.buffer).getUint32(info + 16, true) : allocate(Number(bytes), align);
    made.push(data);
    const view = new DataView(memory.buffer, info, 48);
    view.setBigUint64(0, 1n, true);
    view.setUint32(16, data, true);
    view.setBigUint64(24, BigInt(bytes), true);
    return info;
  };
  const never = (name) => () => {
    throw new Error(`the compiled code called ${name}, which only an error in it can do`);
  };
  const env = {
    __linear_memory: memory,
    __stack_pointer: new WebAssembly.Global({value: "i32", mutable: true}, STACK),
    __indirect_function_table: new WebAssembly.Table({initial: 16, element: "anyfunc"}),
    ...math,
    NRT_Allocate: (bytes) => allocate(Number(bytes)),
    NRT_Free: () => {},
    NRT_MemInfo_alloc: (bytes) => record(bytes, 16),
    NRT_MemInfo_alloc_aligned: (bytes, align) => record(bytes, Number(align)),
    NRT_MemInfo_call_dtor: (info) => {
      const bytes = Number(new DataView(memory.buffer).getBigUint64(info + 24, true));
      if (!free.has(bytes)) free.set(bytes, []);
      free.get(bytes).push(info);
    },
    // A flat array is flat already: its new strides are the old.
    numba_attempt_nocopy_reshape: (axes, shape, strides, newAxes, newShape, newStrides, item) => {
      new DataView(memory.buffer).setBigInt64(newStrides, BigInt(item), true);
      return 1;
    },
    // The product of two words of 128 bits, with which sizes of arrays are checked.
    __multi3: (to, x, xHigh, y, yHigh) => {
      const wide = (low, high) => (BigInt.asUintN(64, high) << 64n) | BigInt.asUintN(64, low);
      const product = BigInt.asUintN(128, wide(x, xHigh) * wide(y, yHigh));
      const view = new DataView(memory.buffer);
      view.setBigUint64(to, BigInt.asUintN(64, product), true);
      view.setBigUint64(to + 8, product >> 64n, true);
    },
  };
  const module = new WebAssembly.Module(bai);
  for (const {name} of WebAssembly.Module.imports(module)) env[name] ??= never(name);
  const loops = new WebAssembly.Instance(module, {env}).exports;
  const result = allocate(64);
  const error = allocate(64);
  const bottom = top;

  return {
    math,
    release: () => {
      top = bottom;
      free.clear();
    },
    /** Space for numbers of 8 bytes. */
    space: (count) => allocate(8 * Math.max(1, count)),
    /** Put numbers into memory and return where. */
    reals: (values) => {
      const at = allocate(8 * Math.max(1, values.length));
      new Float64Array(memory.buffer, at, values.length).set(values);
      return at;
    },
    integers: (values) => {
      const at = allocate(8 * Math.max(1, values.length));
      new BigInt64Array(memory.buffer, at, values.length).set(Array.from(values, (value) => BigInt(value)));
      return at;
    },
    words: (values) => {
      const at = allocate(8 * values.length);
      new BigUint64Array(memory.buffer, at, values.length).set(values);
      return at;
    },
    zeros: (count) => {
      const at = allocate(8 * Math.max(1, count));
      new Uint8Array(memory.buffer, at, 8 * count).fill(0);
      return at;
    },
    /** A copy of numbers in memory. */
    readReals: (at, count) => new Float64Array(memory.buffer, at, count).slice(),
    /** A copy of whole numbers, which are below 2^31: the lower halves of their words. */
    readIntegers: (at, count) => {
      const halves = new Int32Array(memory.buffer, at, 2 * count);
      const copy = new Int32Array(count);
      for (let i = 0; i < count; i++) copy[i] = halves[2 * i];
      return copy;
    },
    /** Call a compiled function; return where the arrays are that it made for itself, which stay until `release`. */
    call: (name, ...values) => {
      made = [];
      const status = loops[name](result, error, ...values);
      if (status !== 0) throw new Error(`the compiled function ${name} failed with status ${status}`);
      return made;
    },
  };
}
