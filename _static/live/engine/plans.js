// What a policy of `bai` hands to its compiled loop before the first pull: a schedule, a table, a constant.
//
// In Python this is done by the classes of bai/policies. No pull is decided here; the loops do that.
"use strict";

/** Numbers of arms at the start of each stage of sequential halving. */
function stageSizes(arms) {
  const sizes = [arms];
  while (sizes.at(-1) > 2) sizes.push(Math.ceil(sizes.at(-1) / 2));
  return sizes;
}

/** Pulls and survivors of each stage. @returns {[number, number][]} */
const SCHEDULES = {
  Unif: (arms, budget) => [[budget, 1]],
  halving: (arms, budget) => {
    const sizes = stageSizes(arms);
    return sizes.map((size) => [Math.floor(budget / sizes.length), Math.floor((size + 1) / 2)]);
  },
  SR: (arms, budget) => {
    let logBar = 0;
    for (let i = 2; i <= arms; i++) logBar += 1 / i;
    logBar = 0.5 + logBar;
    const stages = [];
    let before = 0;
    for (let k = arms; k > 1; k--) {
      const perArm = Math.ceil((budget - arms) / (logBar * k));
      stages.push([k * (perArm - before), k - 1]);
      before = perArm;
    }
    return stages;
  },
  VBR: (arms, budget) => {
    const until = (j) => Math.floor((j * (budget - arms)) / arms);
    return Array.from({length: arms - 1}, (_, j) => [
      until(j + 1) - until(j) + (j === 0 ? arms : 0),
      arms - 1 - j,
    ]);
  },
};

/** The bounds on a variance that SHAdaVar may use, as `bai.variance_bounds` has them. */
const BOUNDS = {
  Gaussian: {
    warmup: (arms, log) => arms * (Math.floor(4 * log * (1 + 1e-12)) + 2),
    lower: (degrees, log) => degrees - 2 * Math.sqrt(degrees * log),
  },
  Printed: {
    warmup: (arms, log) => Math.floor(arms * (4 * log + 1)),
    lower: (degrees, log) => degrees - 2 * Math.sqrt(degrees * log),
  },
  PlugIn: {warmup: (arms) => 2 * arms, lower: (degrees) => degrees},
  Bernstein: {
    warmup: (arms) => 2 * arms,
    lower: (degrees) => degrees,
    slack: (count, log) => Math.sqrt((2 * log) / (count * (count - 1))),
  },
};

/** The sum of numbers in NumPy's order: pairs of blocks, eight running sums in each. */
function pairwiseSum(values, from = 0, count = values.length) {
  if (count > 128) {
    let half = count >> 1;
    half -= half % 8;
    return pairwiseSum(values, from, half) + pairwiseSum(values, from + half, count - half);
  }
  if (count < 8) {
    let total = -0;
    for (let i = 0; i < count; i++) total += values[from + i];
    return total;
  }
  const r = Array.from({length: 8}, (_, i) => values[from + i]);
  let i = 8;
  for (; i < count - (count % 8); i += 8) for (let j = 0; j < 8; j++) r[j] += values[from + i + j];
  let total = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
  for (; i < count; i++) total += values[from + i];
  return total;
}

/** The largest reward b = max_i mu_i + sigma_i sqrt(log n) of a run. */
function rewardBound(means, variances, log) {
  let bound = -Infinity;
  for (let i = 0; i < means.length; i++) bound = Math.max(bound, means[i] + Math.sqrt(variances[i] * log));
  return bound;
}

/** The complexity of a run that GapE or GapE-V is told. */
function gapComplexity(means, variances, bound, withVariance) {
  let best = 0;
  for (let i = 1; i < means.length; i++) if (means[i] > means[best]) best = i;
  let second = -Infinity;
  for (let i = 0; i < means.length; i++) if (i !== best) second = Math.max(second, means[i]);
  const terms = Array.from(means, (mean, i) => {
    const gap = means[best] - (i === best ? second : mean);
    if (!withVariance) return (bound * bound) / (gap * gap);
    if (!(gap > 0)) return Infinity;
    const width = Math.sqrt(variances[i]) + Math.sqrt(variances[i] + (16 / 3) * bound * gap);
    return (width * width) / (gap * gap);
  });
  return Math.max(1e-300, pairwiseSum(terms));
}

/**
 * The least budget of each policy, and where it comes from.
 * @type {Record<string, {least: (arms: number, policy: any) => number, rule: string}>}
 */
const BUDGETS = {
  halving: {least: (arms) => arms * stageSizes(arms).length, rule: "one pull per arm in the first of the equally long stages"},
  Unif: {least: (arms) => arms, rule: "one pull per arm"},
  SR: {least: (arms) => arms + 1, rule: "one pull per arm and one more"},
  VBR: {least: (arms) => arms, rule: "one pull per arm"},
  HalveVar: {least: (arms) => arms, rule: "one pull per arm"},
  GapE: {least: (arms) => arms, rule: "one pull per arm"},
  AGapE: {least: (arms) => arms, rule: "one pull per arm"},
  GapEV: {least: (arms) => 2 * arms, rule: "two pulls per arm"},
  AGapEV: {least: (arms) => 2 * arms, rule: "two pulls per arm"},
  OCBA: {least: (arms, policy) => (policy.first ?? 5) * arms, rule: "its first pulls of every arm"},
  TopTwo: {least: (arms, policy) => (policy.first ?? 3) * arms, rule: "its first pulls of every arm"},
};
const HALVING = ["SH", "SHVar", "SHAdaVar"];

/** Return the least budget of a policy, or throw if there is no such policy. */
function leastBudget(policy, arms) {
  const found = BUDGETS[HALVING.includes(policy.name) ? "halving" : policy.name];
  if (!found) throw new RangeError(`there is no policy ${policy.name}; take one of ${[...HALVING, ...Object.keys(BUDGETS).slice(1)].join(", ")}`);
  return {least: found.least(arms, policy), rule: found.rule};
}

/** Throw unless a policy can be played with this budget. */
function checkBudget(policy, arms, budget) {
  const {least, rule} = leastBudget(policy, arms);
  if (!Number.isInteger(budget) || budget < least)
    throw new RangeError(`budget is ${budget}; ${policy.name} needs at least ${least} pulls for ${arms} arms (${rule})`);
}

/** The stages of a policy, or none. @returns {[number, number][]} */
function scheduleOf(policy, arms, budget) {
  if (HALVING.includes(policy.name)) return SCHEDULES.halving(arms, budget);
  return SCHEDULES[policy.name]?.(arms, budget) ?? [];
}

/**
 * How a policy is played: the name of its loop, and its own arguments for a block of runs.
 *
 * `limit` cuts the play off after so many pulls in all, or in the last of the stages that it leaves; everything that is
 * known in advance is for the whole budget all the same.
 * @param {{name: string, reuse?: boolean, delta?: number, bound?: any, scaling?: any, complexity?: number, first?: number,
 *   shrinkage?: number, gamma?: number, pull?: string}} policy
 * @returns {(machine: any, block: {runs: number, arms: number, means: Float64Array, variances: Float64Array, told: number},
 *   stages: [number, number][], pulls: number) => [string, ...any[]]} the loop and its arguments, between the rewards and
 *   the results
 */
function planOf(policy, arms, budget, math) {
  const {name} = policy;
  const perRun = (block, of) =>
    Array.from({length: block.runs}, (_, r) => {
      const part = [r * block.arms, (r + 1) * block.arms];
      return of(block.means.subarray(...part), block.variances.subarray(...part), r);
    });
  const flat = (stages) => [...stages.map((s) => s[0]), ...stages.map((s) => s[1])];

  if (["Unif", "SH", "SHVar", "SR"].includes(name)) {
    const reuse = name === "SR" || Boolean(policy.reuse);
    return (machine, block, stages) => {
      const columns = name === "SHVar" ? arms : 0;
      return ["eliminate", machine.integers(flat(stages)), stages.length, reuse ? 1 : 0, columns ? block.told : 0, columns];
    };
  }
  if (name === "HalveVar") return (machine, block, stages, pulls) => ["halve_variance", pulls, policy.reuse ? 1 : 0, block.told];
  if (name === "SHAdaVar") {
    const log = math.log(1 / (policy.delta ?? 0.05));
    const kind = policy.bound?.name ?? "Gaussian";
    const bound = BOUNDS[kind];
    if (!bound) throw new RangeError(`there is no bound ${kind} here; take one of ${Object.keys(BOUNDS).join(", ")}`);
    // Python takes the logarithm of delta for the warm-up of the corrected bound, that of 1 / delta elsewhere.
    const warmupLog = kind === "Gaussian" ? -math.log(policy.delta ?? 0.05) : log;
    const spread = Float64Array.from({length: budget + 1}, (_, count) => {
      const value = count * bound.lower(Math.max(count - 1, 0), log);
      return value === 0 ? 2.2250738585072014e-308 : value;
    });
    const slack = bound.slack ? Float64Array.from({length: budget + 1}, (_, c) => (c < 2 ? 0 : bound.slack(c, log))) : [];
    return (machine, block, stages) => {
      const sizes = [arms, ...stages.slice(0, -1).map((s) => s[1])];
      const rows = [...flat(stages), ...sizes.map((size) => bound.warmup(size, warmupLog))];
      const spans = perRun(block, (means, variances) =>
        bound.slack ? policy.bound.span ?? rewardBound(means, variances, math.log(budget)) : 0,
      );
      return [
        "adapt", machine.integers(rows), stages.length, policy.reuse ? 1 : 0, machine.reals(spread), spread.length,
        machine.reals(slack), slack.length, policy.bound?.guard_repeats ? log : 0, machine.reals(spans),
      ];
    };
  }
  if (["GapE", "GapEV", "AGapE", "AGapEV"].includes(name)) {
    const withVariance = name.endsWith("V");
    const first = withVariance ? 2 : 1;
    const scaling = policy.scaling === "paper" ? (4 * math.log2(arms)) / (withVariance ? 512 : 144) : policy.scaling ?? 1;
    const effort = ((withVariance ? 8 / 9 : 4 / 9) * (budget - first * arms)) / scaling;
    const boundOf = (means, variances) => policy.bound ?? rewardBound(means, variances, math.log(budget));
    return (machine, block, stages, pulls) => {
      const bounds = perRun(block, boundOf);
      if (name.startsWith("A")) return ["explore_adaptively", pulls, effort, machine.reals(bounds), withVariance ? 1 : 0];
      const efforts = perRun(
        block,
        (means, variances, r) =>
          effort / Math.max(1e-300, policy.complexity ?? gapComplexity(means, variances, bounds[r], withVariance)),
      );
      return ["explore", pulls, machine.reals(efforts), machine.reals(bounds), withVariance ? 1 : 0];
    };
  }
  if (name === "OCBA" || name === "TopTwo") {
    const two = name === "TopTwo";
    const logs = Float64Array.from({length: two ? budget + 1 : 0}, (_, count) => math.log(Math.max(1, count)));
    const first = policy.first ?? (two ? 3 : 5);
    return (machine, block, stages, pulls) => [
      "allocate", pulls, first, machine.reals(logs), logs.length, two ? policy.shrinkage ?? 5 : 0,
    ];
  }
  return (machine, block, stages) => [
    "reject", machine.integers(stages.map((s) => s[0])), stages.length, policy.gamma ?? 1.96, 3,
    policy.pull === "widest" ? 1 : 0,
  ];
}
