// Problems, and policies played on them: `bai.simulate` in the browser, and one run to be watched.
"use strict";

const BLOCK = 500; // runs that share a stream of random numbers, as in Python
const MOST_AHEAD = 2 ** 16; // normals that may be drawn ahead
const GAUSSIAN = 0;
const REPLAY = 2;

/**
 * A problem: the paper's, a family of the leaderboard, or arms of one's own.
 * @typedef {{kind: "synthetic", arms: number, runs: number, seed: number|bigint, best?: "noisy"|"quiet"}
 *   | {kind: "gaussian", means: number[], variances: number[], runs: number}
 *   | {kind: "uniform", arms: number, runs: number, seed: number|bigint, best: [number, number], means: [number, number],
 *      variances: [number, number], rival?: number}
 *   | {kind: "equal", arms: number, runs: number, seed: number|bigint, variance: number}} Problem
 */

/** Throw unless a value is a whole number in a range. */
function checkWhole(name, value, least, most = 2 ** 31 - 1) {
  if (!Number.isInteger(value) || value < least || value > most)
    throw new RangeError(`${name} is ${value}; it must be a whole number from ${least} to ${most}`);
}

/**
 * The means and variances of all runs of a problem, as in Python.
 * @param {Problem} problem
 * @returns {{runs: number, arms: number, means: Float64Array, variances: Float64Array}}
 */
function makeProblem(machine, problem) {
  checkWhole("runs", problem.runs, 1);
  const {runs} = problem;
  if (problem.kind === "gaussian") {
    const arms = problem.means.length;
    if (arms < 2 || problem.variances.length !== arms)
      throw new RangeError(`there are ${arms} means and ${problem.variances.length} variances; give one of each per arm, for two arms or more`);
    if (![...problem.means, ...problem.variances].every(Number.isFinite) || problem.variances.some((v) => v < 0))
      throw new RangeError("means and variances must be numbers, and no variance negative");
    const tiled = (row) => Float64Array.from({length: runs * arms}, (_, k) => row[k % arms]);
    return {runs, arms, means: tiled(problem.means), variances: tiled(problem.variances)};
  }
  checkWhole("arms", problem.arms, 2);
  const {arms} = problem;
  const size = runs * arms;
  machine.release();
  const state = machine.words(pcg64State(problem.seed));
  const means = machine.space(size);
  const variances = machine.space(size);
  if (problem.kind === "synthetic" || problem.kind === "equal") {
    machine.call("synthetic", state, runs, arms, problem.best === "quiet" ? 1 : 0, means, variances);
  } else if (problem.kind === "uniform") {
    machine.call("uniforms", state, size, ...problem.means, means);
    machine.call("uniforms", state, size, ...problem.variances, variances);
  } else {
    throw new RangeError(`there is no problem of the kind ${problem.kind}`);
  }
  const made = {runs, arms, means: machine.readReals(means, size), variances: machine.readReals(variances, size)};
  if (problem.kind === "equal") made.variances.fill(problem.variance);
  if (problem.kind === "uniform")
    for (let r = 0; r < runs; r++) {
      [made.means[r * arms], made.variances[r * arms]] = problem.best;
      if (problem.rival !== undefined) made.means[r * arms + 1] = problem.rival;
    }
  return made;
}

/** The arguments of a loop that say where its rewards come from. */
function rewardArguments(machine, kind, runs, arms, parts) {
  const none = machine.zeros(1);
  const {state = none, loc = none, scale = none, table = none, length = 0, rows = none} = parts;
  const ahead = kind === GAUSSIAN ? MOST_AHEAD : 0;
  return [kind, runs, arms, state, loc, scale, table, length, rows, machine.space(ahead), ahead, machine.zeros(2)];
}

/**
 * Play the runs of one block, as `bai.play.play_block`.
 * @returns {{recommended: Int32Array, pulls: Int32Array|null, regret: Float64Array, pulled: number}}
 */
function playBlock(machine, plan, policy, ensemble, budget, seed, number, withPulls) {
  const {arms} = ensemble;
  const runs = Math.min(BLOCK, ensemble.runs - number * BLOCK);
  const size = runs * arms;
  const from = number * BLOCK * arms;
  const means = ensemble.means.subarray(from, from + size);
  const variances = ensemble.variances.subarray(from, from + size);
  machine.release();
  const state = machine.words(sfc64State(seed, [number]));
  const [order, loc, told, scale] = Array.from({length: 4}, () => machine.space(size));
  machine.call("open_block", state, runs, arms, machine.reals(means), machine.reals(variances), order, loc, told, scale);
  const [loop, ...own] = plan(machine, {runs, arms, means, variances, told}, scheduleOf(policy, arms, budget), budget);
  const pulls = machine.zeros(size);
  const named = machine.space(runs);
  machine.call(loop, ...rewardArguments(machine, GAUSSIAN, runs, arms, {state, loc, scale}), ...own, pulls, named);

  const orders = machine.readIntegers(order, size);
  const recommended = machine.readIntegers(named, runs);
  const counts = machine.readIntegers(pulls, size);
  const counted = withPulls ? new Int32Array(size) : null;
  const regret = new Float64Array(runs);
  let pulled = 0;
  for (let r = 0, k = 0; r < runs; r++) {
    const row = r * arms;
    recommended[r] = orders[row + recommended[r]];
    let best = -Infinity;
    for (; k < row + arms; k++) {
      if (means[k] > best) best = means[k];
      pulled += counts[k];
      if (counted) counted[row + orders[k]] = counts[k];
    }
    regret[r] = best - means[row + recommended[r]];
  }
  return {recommended, pulls: counted, regret, pulled};
}

/**
 * Play one run on written-down rewards and say which arm each pull went to.
 *
 * The loops return how often each arm was pulled, not in which order. But what they pull does not depend on how long they
 * go on, so they are played with 1, 2, ... pulls, and each pull is the one that was not there before. Which arms are left
 * after a stage is read from the loop's own list of them. Two things are not in the loops, but by definition: SHVar begins
 * a stage with one pull of each arm, and policies without stages begin with a few of each; these are in the order of arms.
 * @param {Float64Array} stacks the reward of pull k of arm i at [i * budget + k]
 * @returns {{order: Int32Array, stages: {end: number, survivors: number[]}[], answer: number}}
 */
function traceRun(machine, policy, budget, stacks, means, variances) {
  const arms = means.length;
  checkBudget(policy, arms, budget);
  if (policy.name === "HalveVar") throw new RangeError("HalveVar cannot be watched: with fewer pulls it has other stages");
  const plan = planOf(policy, arms, budget, machine.math);
  const schedule = scheduleOf(policy, arms, budget);
  const block = {runs: 1, arms, means, variances};
  const rows = Array.from({length: arms}, (_, i) => i);

  /** Pulls of each arm, and the answer, after so many pulls of the stages given. */
  const played = (stages, limit) => {
    machine.release();
    const told = machine.reals(variances);
    const [loop, ...own] = plan(machine, {...block, told}, stages, limit);
    const parts = {table: machine.reals(stacks), length: budget, rows: machine.integers(rows)};
    const pulls = machine.zeros(arms);
    const named = machine.space(1);
    const made = machine.call(loop, ...rewardArguments(machine, REPLAY, 1, arms, parts), ...own, pulls, named);
    const left = stages.length ? machine.readIntegers(made[1], stages.at(-1)[1]) : []; // `active`, made after `everyone`
    return {pulls: machine.readIntegers(pulls, arms), answer: machine.readIntegers(named, 1)[0], left};
  };
  const order = [];
  let now = {pulls: new Int32Array(arms), answer: -1, left: rows};
  const follow = (stages, limit) => {
    const next = played(stages, limit);
    const arm = next.pulls.findIndex((count, i) => count > now.pulls[i]);
    const added = next.pulls.reduce((sum, count, i) => sum + count - now.pulls[i], 0);
    if (added !== 1) throw new Error(`pull ${order.length + 1} of ${policy.name} cannot be told from the next`);
    order.push(arm);
    now = next;
  };
  if (!schedule.length) {
    const first = policy.first ?? {GapEV: 2, AGapEV: 2, OCBA: 5, TopTwo: 3}[policy.name] ?? 1;
    for (let t = 0; t < first * arms; t++) order.push(Math.floor(t / first));
    now = played([], first * arms);
    for (let t = first * arms + 1; t <= budget; t++) follow([], t);
    return {order: Int32Array.from(order), stages: [], answer: now.answer};
  }
  const stages = [];
  schedule.forEach(([length, survivors], s) => {
    const earlier = schedule.slice(0, s);
    const active = Array.from(now.left);
    const inTurn = policy.name === "SHVar" && (s === 0 || !policy.reuse) ? active.length : 0;
    order.push(...active.slice(0, inTurn));
    if (inTurn || length === 0) now = played([...earlier, [inTurn, survivors]], 0);
    for (let b = inTurn + 1; b <= length; b++) follow([...earlier, [b, survivors]], 0);
    stages.push({end: order.length, survivors: Array.from(now.left)});
  });
  return {order: Int32Array.from(order), stages, answer: now.answer};
}
