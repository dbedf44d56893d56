// The bounds of Theorems 1 and 2 on SHVar's mistakes against what it does, for a number of arms, a gap and a spread of one's own.
"use strict";

/**
 * Theorems 1 and 2, corrected, as `bai.theory.theorem_1_bound` and `theorem_2_bound` have them.
 * @param {number[]} variances @param {number} gap the smallest @param {number} budget
 * @returns {[number, number]}
 */
baiLive.bounds = (variances, gap, budget) => {
  const arms = variances.length;
  const stages = Math.ceil(Math.log2(arms));
  const sum = variances.reduce((total, variance) => total + variance, 0);
  const bound = (pulls, noise) => Math.min(1, (2 * stages - 1) * Math.exp((-pulls * gap ** 2) / (4 * noise)));
  return [bound(Math.floor(budget / stages) - arms + 1, sum), bound(Math.floor(budget / (stages * arms)), Math.max(...variances))];
};

baiLive.register("bounds", (box, {ui, chart, stats, book}) => {
  const {element} = ui;
  const RUNS = 2000;
  const look = book.policies.SHVar;
  const BOUNDS = [
    {label: "bound of Theorem 1, corrected", color: "#0072B2", linestyle: "--", marker: "s"},
    {label: "bound of Theorem 2, corrected", color: "#CC79A7", linestyle: ":", marker: "v"},
  ];
  let [power, gap, noise, reach] = [3, 1, 4, 1500];
  let points = [];
  let controller = null;
  const arms = () => 2 ** power;
  const means = () => Array.from({length: arms()}, (_, i) => (i === 0 ? 0 : -gap));
  const variances = () => Array.from({length: arms()}, (_, i) => (i % 2 === 0 ? noise : 1));
  const budgets = () => Array.from({length: 6}, (_, k) => Math.round((reach * (k + 1)) / 6)).filter((n) => n >= arms() * power);
  const lines = () => {
    const range = Array.from({length: 60}, (_, k) => Math.round((reach * (k + 1)) / 60)).filter((n) => n >= arms() * power);
    return [0, 1].map((which) => range.map((n) => ({x: n, y: baiLive.bounds(variances(), gap, n)[which]})));
  };
  const picture = chart.canvas("Bound and truth", (width) => {
    const height = Math.round(Math.min(400, Math.max(290, width * 0.56)));
    const bottom = 1e-4;
    const frame = chart.axes({width, height, x: {domain: [0, reach * 1.03], label: "budget n (pulls)"}, y: {domain: [bottom, 1.2], label: "mistake probability", log: true, show: (value) => (value >= 0.01 ? String(value) : value.toExponential(0))}});
    const parts = [frame.group];
    lines().forEach((line, k) => {
      const inside = line.filter(({y}) => y >= bottom);
      const d = inside.map(({x, y}, j) => `${j ? "L" : "M"}${frame.x(x).toFixed(1)} ${frame.y(y).toFixed(1)}`).join("");
      parts.push(chart.svg("g", {class: "bai-series", style: `--series: ${BOUNDS[k].color}`}, chart.svg("path", {d, "stroke-dasharray": k ? "2 4" : "7 4"})));
    });
    parts.push(chart.line({...look, points: points.filter(({y}) => y > 0)}, frame.x, frame.y));
    return {height, parts};
  });
  const status = ui.announcer();
  const play = ui.calm(async () => {
    controller?.abort();
    const mine = (controller = new AbortController());
    points = [];
    try {
      for (const budget of budgets()) {
        const problem = {kind: "gaussian", means: means(), variances: variances(), runs: RUNS};
        const played = await baiLive.simulate({policy: {name: "SHVar"}, problem, budget, seed: 1}, {signal: mine.signal});
        const mistakes = played.mistakes.reduce((sum, one) => sum + one, 0);
        const [low, high] = stats.wilson(mistakes, RUNS);
        points.push({x: budget, y: mistakes / RUNS, low: Math.max(low, 1e-4), high});
        picture.redraw();
      }
      const {x, y} = points.at(-1) ?? {};
      if (x === undefined) return status.say(`With ${arms()} arms, SHVar needs ${arms() * power} pulls.`);
      const [first, second] = baiLive.bounds(variances(), gap, x);
      const text = `With ${chart.number(x)} pulls: truth ${y.toFixed(4)} over ${chart.number(RUNS)} runs, Theorem 1 at most ${first.toPrecision(2)}, Theorem 2 at most ${second.toPrecision(2)}.`;
      picture.redraw(text);
      status.say(text);
    } catch (error) {
      if (error.name !== "AbortError") status.say(error.message);
    }
  }, 200);
  const change = () => {
    points = [];
    picture.redraw();
    play();
  };
  box.append(
    chart.legend([{...look, label: "SHVar, played"}, ...BOUNDS]),
    picture,
    element(
      "div",
      {class: "bai-grid-of-fields"},
      ui.slider({label: "Arms K", min: 1, max: 6, value: power, show: (value) => String(2 ** value), change: (value) => ((power = value), change())}),
      ui.slider({label: "Gap of every rival", min: 0.1, max: 2, step: 0.05, value: gap, show: (value) => value.toFixed(2), change: (value) => ((gap = value), change())}),
      ui.slider({label: "Variance of every other arm", min: 1, max: 20, step: 0.5, value: noise, change: (value) => ((noise = value), change())}),
      ui.slider({label: "Largest budget n", min: 200, max: 10000, step: 100, value: reach, show: chart.number, change: (value) => ((reach = value), change())}),
    ),
    status,
  );
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    change();
  });
  seen.observe(box);
});
