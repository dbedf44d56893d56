// How sure a simulation is: intervals for rates and paired comparisons, as in bai/stats.py.
"use strict";

window.baiStats = (() => {
  const Z = 1.959963984540054; // of the normal law, 97.5 %

  /** Wilson's 95 % interval for a rate. @returns {[number, number]} */
  const wilson = (mistakes, runs) => {
    const z2 = Z ** 2;
    const rate = mistakes / runs;
    const center = (rate + z2 / (2 * runs)) / (1 + z2 / runs);
    const half = (Z / (1 + z2 / runs)) * Math.sqrt((rate * (1 - rate)) / runs + z2 / (4 * runs ** 2));
    return [mistakes === 0 ? 0 : center - half, mistakes === runs ? 1 : center + half];
  };

  /** The chance that a fair coin shows heads at most k times in n, summed from the largest term down. */
  const coin = (k, n) => {
    let log = -n * Math.LN2;
    for (let i = 0; i < k; i++) log += Math.log((n - i) / (i + 1));
    let [term, total] = [1, 0];
    for (let i = k; i >= 0 && term > 1e-17 * total; i--) {
      total += term;
      term *= i / (n - i + 1);
    }
    return Math.exp(log) * total;
  };

  /**
   * Two policies on the same runs, by the exact test of McNemar.
   * @param {Uint8Array} first mistakes
   * @param {Uint8Array} second
   */
  const paired = (first, second) => {
    let [onlyFirst, onlySecond] = [0, 0];
    first.forEach((mistake, r) => {
      if (mistake && !second[r]) onlyFirst++;
      if (!mistake && second[r]) onlySecond++;
    });
    const runs = first.length;
    const difference = (onlyFirst - onlySecond) / runs;
    const spread = Math.max(0, (onlyFirst + onlySecond) / runs - difference ** 2);
    const p = Math.min(1, 2 * coin(Math.min(onlyFirst, onlySecond), onlyFirst + onlySecond));
    return {onlyFirst, onlySecond, difference, error: Math.sqrt(spread / runs), p};
  };

  return {wilson, paired};
})();
