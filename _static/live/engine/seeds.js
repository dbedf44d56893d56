// NumPy's seeds: SeedSequence, and the generators that it starts.
"use strict";

const U32 = 0xffffffffn;
const U64 = 0xffffffffffffffffn;
const U128 = (1n << 128n) - 1n;

/** A whole number as words of 32 bits, the lowest first. @param {bigint|number} number @returns {number[]} */
function words32(number) {
  const words = [];
  for (let rest = BigInt(number); rest > 0n; rest >>= 32n) words.push(Number(rest & U32));
  return words.length ? words : [0];
}

/**
 * `numpy.random.SeedSequence(seed, spawn_key=key).generate_state(count, numpy.uint64)`.
 * @param {bigint|number} seed
 * @param {number[]} key
 * @param {number} count
 * @returns {bigint[]}
 */
function seedSequence(seed, key, count) {
  const entropy = words32(seed);
  while (key.length && entropy.length < 4) entropy.push(0);
  for (const part of key) entropy.push(...words32(part));
  let hash = 0x43b0d7e5;
  const hashed = (value) => {
    value ^= hash;
    hash = Math.imul(hash, 0x931e8875);
    value = Math.imul(value, hash);
    return value ^ (value >>> 16);
  };
  const mixed = (x, y) => {
    const value = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0;
    return value ^ (value >>> 16);
  };
  const pool = [0, 1, 2, 3].map((i) => hashed(entropy[i] ?? 0));
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
  for (let from = 4; from < entropy.length; from++)
    for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(entropy[from]));
  hash = 0x8b51f9dd;
  const state = [];
  for (let i = 0; i < 2 * count; i++) {
    let value = pool[i % 4] ^ hash;
    hash = Math.imul(hash, 0x58f38ded);
    value = Math.imul(value, hash);
    state.push(BigInt((value ^ (value >>> 16)) >>> 0));
  }
  return Array.from({length: count}, (_, i) => state[2 * i] | (state[2 * i + 1] << 32n));
}

/** The words of `SFC64(SeedSequence(seed, spawn_key=key))`. @returns {bigint[]} */
function sfc64State(seed, key = []) {
  let [a, b, c] = seedSequence(seed, key, 3);
  let counter = 1n;
  for (let i = 0; i < 12; i++) {
    const drawn = (a + b + counter++) & U64;
    a = b ^ (b >> 11n);
    b = (c + (c << 3n)) & U64;
    c = (((c << 24n) | (c >> 40n)) + drawn) & U64;
  }
  return [a, b, c, counter];
}

/** The words of `PCG64(seed)`, which `default_rng(seed)` uses: state, increment, and no half word left. @returns {bigint[]} */
function pcg64State(seed) {
  const [high, low, incHigh, incLow] = seedSequence(seed, [], 4);
  const increment = ((((incHigh << 64n) | incLow) << 1n) | 1n) & U128;
  const step = (state) => (state * 0x2360ed051fc65da44385df649fccf645n + increment) & U128;
  const state = step((step(0n) + ((high << 64n) | low)) & U128);
  return [state & U64, state >> 64n, increment & U64, increment >> 64n, 0n, 0n];
}
