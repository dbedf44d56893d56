// Watch one run: two policies side by side on the same rewards, pull by pull and stage by stage.
"use strict";

baiLive.register("watch", (box, {ui, chart, book}) => {
  const {element} = ui;
  const ARMS = book.watch;
  const CHOICES = [
    ["SH", {name: "SH"}],
    ["SHVar", {name: "SHVar"}],
    ["SHAdaVar", {name: "SHAdaVar", delta: 0.3}],
    ["SH, samples kept", {name: "SH", reuse: true}],
    ["SHVar, samples kept", {name: "SHVar", reuse: true}],
    ["SHAdaVar, samples kept", {name: "SHAdaVar", delta: 0.3, reuse: true}],
    ["SR", {name: "SR"}],
    ["TopTwo", {name: "TopTwo"}],
    ["Unif", {name: "Unif"}],
  ];
  const policy = Object.fromEntries(CHOICES);
  const picked = /unknown_/.test(location.pathname) ? ["SHAdaVar", "SHVar"] : /known_/.test(location.pathname) ? ["SHVar", "SH"] : ["SH", "SH, samples kept"];
  let [seed, quiet, now] = [1, false, 0];
  const BUDGET = 240;
  /** @type {any[]} */
  let runs = [];

  const problem = () => ({means: ARMS.means, variances: quiet ? ARMS.quiet : ARMS.noisy});
  const kept = (name) => policy[name].reuse || ["SR", "TopTwo"].includes(name);
  /** Pulls, averages and survivors of a run after so many pulls. */
  const state = ({order, stages, stacks, name}, pulls) => {
    const arms = ARMS.means.length;
    const [count, fresh, sum] = [new Array(arms).fill(0), new Array(arms).fill(0), new Array(arms).fill(0)];
    const over = stages.filter(({end}) => end <= pulls);
    const begun = over.length && !kept(name) ? over.at(-1).end : 0;
    for (let t = 0; t < pulls; t++) {
      const arm = order[t];
      if (t >= begun) {
        sum[arm] += stacks[arm * BUDGET + count[arm]];
        fresh[arm]++;
      }
      count[arm]++;
    }
    const alive = over.length ? new Set(over.at(-1).survivors) : new Set(ARMS.means.keys());
    return {count, fresh, average: sum.map((total, i) => (fresh[i] ? total / fresh[i] : null)), alive, stage: over.length + 1};
  };

  const ROW = 26;
  const draw = (side) => (width) => {
    const arms = ARMS.means.length;
    const height = ROW * arms + 64;
    const run = runs[side];
    if (!run) return {height, parts: []};
    const at = Math.min(now, run.order.length);
    const {count, fresh, average, alive} = state(run, at);
    const {means, variances} = problem();
    const middle = Math.round(width * 0.42);
    const most = Math.max(40, ...runs.flatMap((one) => state(one, Math.min(now, one.order.length)).count));
    const bars = chart.scale([0, most], [26, middle - 16]);
    const stars = chart.scale([-0.9, 1.9], [middle + 6, width - 6]);
    const parts = [
      chart.svg("text", {class: "bai-axis", x: (26 + middle - 16) / 2, y: height - 8, "text-anchor": "middle"}, "pulls"),
      chart.svg("text", {class: "bai-axis", x: (middle + width) / 2, y: height - 8, "text-anchor": "middle"}, "average reward"),
    ];
    for (const value of [0, 1])
      parts.push(
        chart.svg("line", {class: "bai-grid", x1: stars(value), x2: stars(value), y1: 2, y2: height - 44}),
        chart.svg("text", {x: stars(value), y: height - 28, "text-anchor": "middle"}, String(value)),
      );
    const look = book.policies[policy[run.name].name];
    means.forEach((mean, i) => {
      const y = ROW * i + 16;
      const group = chart.svg("g", {class: "bai-series", style: chart.ink(look), opacity: alive.has(i) ? 1 : 0.3});
      group.append(chart.svg("rect", {class: "bai-bar", x: bars(0), y: y - 8, width: Math.max(0, bars(count[i]) - bars(0)), height: 16}));
      if (average[i] !== null) {
        const half = 1.96 * Math.sqrt(variances[i] / fresh[i]);
        const inside = (value) => stars(Math.min(1.9, Math.max(-0.9, value)));
        group.append(
          chart.svg("line", {x1: inside(average[i] - half), x2: inside(average[i] + half), y1: y, y2: y}),
          chart.marker(look.marker, inside(average[i]), y, {size: 5}),
        );
      }
      parts.push(
        group,
        chart.svg("text", {x: 20, y: y + 4, "text-anchor": "end"}, i === 0 ? "1★" : String(i + 1)),
        chart.svg("text", {x: bars(count[i]) + 4, y: y + 4, class: "bai-small"}, String(count[i])),
        chart.svg("line", {class: "bai-truth", x1: stars(mean), x2: stars(mean), y1: y - 9, y2: y + 9}),
      );
    });
    return {height, parts};
  };
  const charts = [0, 1].map((side) => chart.canvas("A run", draw(side)));
  const words = [0, 1].map(() => element("p", {class: "bai-count"}));
  const status = ui.announcer({class: "bai-visually-hidden"});

  const sentence = (run) => {
    const at = Math.min(now, run.order.length);
    const {alive, stage} = state(run, at);
    if (at === run.order.length) return run.answer === 0 ? "names arm 1: right" : `names arm ${run.answer + 1}: a mistake`;
    return run.stages.length > 1 ? `stage ${stage}, ${alive.size} arms left, ${at} pulls` : `${at} pulls`;
  };
  const show = (aloud) => {
    runs.forEach((run, side) => {
      const {count} = state(run, Math.min(now, run.order.length));
      words[side].textContent = sentence(run);
      charts[side].redraw(`${run.name}: ${sentence(run)}. Pulls per arm: ${count.join(", ")}.`);
    });
    if (aloud) status.say(runs.map((run) => `${run.name}: ${sentence(run)}`).join(". "));
  };
  const longest = () => Math.max(...runs.map((run) => run.order.length));
  const step = () => {
    now = Math.min(now + 1, longest());
    show(now === longest());
    return now < longest();
  };
  const player = ui.player({step, reset: () => ((now = 0), show(true)), rate: () => 30});
  player.append(
    ui.button("Next stage", () => {
      player.pause();
      const ends = runs.flatMap((run) => run.stages.map(({end}) => end)).filter((end) => end > now);
      now = ends.length ? Math.min(...ends) : longest();
      show(true);
    }),
    ui.button("Another seed", () => {
      player.pause();
      seed++;
      play();
    }),
  );
  const play = async () => {
    player.pause();
    const {means, variances} = problem();
    const given = {means, variances, budget: BUDGET, seed};
    runs = await Promise.all(picked.map(async (name) => ({name, ...(await baiLive.trace({policy: policy[name], ...given}))})));
    now = 0;
    show(false);
  };
  const pickers = picked.map((name, side) =>
    ui.field(side ? "Second policy" : "First policy", ui.select(CHOICES.map(([label]) => [label, label]), name, (value) => {
      picked[side] = value;
      play();
    })),
  );
  box.append(
    element("div", {class: "bai-grid-of-fields"}, ...pickers, ui.field("The best arm is", ui.select([["noisy", "noisy"], ["quiet", "quiet"]], "noisy", (value) => {
      quiet = value === "quiet";
      play();
    }))),
    player,
    element("div", {class: "bai-two"}, ...charts.map((place, side) => element("div", {}, place, words[side]))),
    element("p", {class: "bai-hint"}, `${ARMS.means.length} arms, ${BUDGET} pulls; arm 1 is the best. Both policies see the same rewards: the tenth pull of an arm is the same number for both. The upright strokes are the true means, a bar is ±1.96 standard errors, and an arm that has dropped out is pale. SHAdaVar has δ = 0.3 here, so that its forced pulls do not fill the run.`),
    status,
  );
  play();
});
