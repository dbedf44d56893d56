// The worker: takes orders from the page, one after another, and reports how far it is.
"use strict";

/** @type {ReturnType<typeof startMachine>} */
let machine;
/** The last ensembles that were made, by their description. @type {Map<string, ReturnType<typeof makeProblem>>} */
const ensembles = new Map();
/** Numbers of orders that were called off. @type {Set<number>} */
const cancelled = new Set();

const described = (value) => JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${part}n` : part));

/** A problem as arrays; the last few are kept. */
function ensembleOf(problem) {
  const key = described(problem);
  if (!ensembles.has(key)) {
    if (ensembles.size >= 4) ensembles.delete(ensembles.keys().next().value);
    ensembles.set(key, makeProblem(machine, problem));
  }
  return ensembles.get(key);
}

/** Let messages in that arrived meanwhile. */
const breathe = () => new Promise((resolve) => setTimeout(resolve, 0));

const ORDERS = {
  /** Every run of a problem once: `bai.simulate`. */
  async simulate({policy, problem, budget, seed, withPulls}, report, stopped) {
    const ensemble = ensembleOf(problem);
    const {runs, arms} = ensemble;
    checkBudget(policy, arms, budget);
    const plan = planOf(policy, arms, budget, machine.math);
    const result = {
      runs,
      arms,
      recommended: new Int32Array(runs),
      regret: new Float64Array(runs),
      pulls: withPulls ? new Int32Array(runs * arms) : null,
      pulled: 0,
      seconds: 0,
    };
    let said = performance.now();
    for (let number = 0; number * BLOCK < runs; number++) {
      const started = performance.now();
      const block = playBlock(machine, plan, policy, ensemble, budget, seed, number, withPulls);
      result.recommended.set(block.recommended, number * BLOCK);
      result.regret.set(block.regret, number * BLOCK);
      result.pulled += block.pulled;
      if (withPulls) result.pulls.set(block.pulls, number * BLOCK * arms);
      const now = performance.now();
      result.seconds += (now - started) / 1000;
      if (now - said > 30) {
        said = now;
        report(Math.min(runs, (number + 1) * BLOCK) / runs);
        await breathe();
        if (stopped()) return null;
      }
    }
    return {...result, mistakes: Uint8Array.from(result.regret, (r) => (r > 0 ? 1 : 0))};
  },

  /** One run, pull by pull; without rewards, those of Gaussian arms are drawn from the seed. */
  async trace({policy, means, variances, budget, seed, stacks}) {
    checkWhole("budget", budget, 1);
    const rewards = stacks ? Float64Array.from(stacks) : drawStacks(means, variances, budget, seed);
    if (rewards.length !== means.length * budget)
      throw new RangeError(`stacks has ${rewards.length} rewards; ${means.length} arms and a budget of ${budget} need ${means.length * budget}`);
    const run = traceRun(machine, policy, budget, rewards, Float64Array.from(means), Float64Array.from(variances));
    return {...run, stacks: rewards};
  },

  /** The instances of a problem. */
  async instances({problem}) {
    return ensembleOf(problem);
  },

  /** The least budget of a policy. */
  async least({policy, arms}) {
    return leastBudget(policy, arms);
  },

  /** The paper's bound over the sample variance after 0, 1, ... pulls, and the forced pulls of a stage by both rules. */
  async factors({delta, most, arms}) {
    const log = machine.math.log(1 / delta);
    const table = Float64Array.from({length: most + 1}, (_, count) => (count - 1) / BOUNDS.Gaussian.lower(Math.max(count - 1, 0), log));
    return {table, corrected: BOUNDS.Gaussian.warmup(arms, -machine.math.log(delta)), printed: BOUNDS.Printed.warmup(arms, log)};
  },

  /** Functions of the C library, for comparison. */
  async evaluate({name, values}) {
    return Float64Array.from(values, (value) => machine.math[name](value));
  },
};

/** Rewards of Gaussian arms, arm by arm, from the normals of `Generator(SFC64(seed))`. */
function drawStacks(means, variances, budget, seed) {
  machine.release();
  const size = means.length * budget;
  const at = machine.space(size);
  machine.call("normals", machine.words(sfc64State(seed)), size, at);
  return machine.readReals(at, size).map((z, k) => {
    const i = Math.floor(k / budget);
    return means[i] + Math.sqrt(variances[i]) * z;
  });
}

let queue = Promise.resolve();
self.onmessage = ({data}) => {
  if (data.order === "start") {
    machine = startMachine(data.bai, data.libm);
    return;
  }
  if (data.order === "cancel") {
    cancelled.add(data.id);
    return;
  }
  const {id, order, given} = data;
  const stopped = () => cancelled.has(id);
  queue = queue.then(async () => {
    try {
      const result = stopped() ? null : await ORDERS[order](given, (done) => self.postMessage({id, progress: done}), stopped);
      self.postMessage(result === null || stopped() ? {id, cancelled: true} : {id, result});
    } catch (error) {
      self.postMessage({id, error: error.message});
    }
    cancelled.delete(id);
  });
};
