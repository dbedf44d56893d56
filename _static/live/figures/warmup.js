// How far SHAdaVar overestimates a variance after N pulls, and what its forced pulls leave of a stage.
"use strict";

baiLive.register("warmup", (box, {ui, chart, book}) => {
  const {element} = ui;
  const MOST = 200;
  const look = book.policies.SHAdaVar;
  let [power, arms, budget] = [Math.log10(0.05), 64, 5000];
  let factors = null;
  const delta = () => 10 ** power;
  const short = (value) => (value < 0.001 ? value.toExponential(1) : value.toPrecision(2));

  const picture = chart.canvas("Overestimate against pulls", (width) => {
    const height = Math.round(Math.min(360, Math.max(270, width * 0.5)));
    if (!factors) return {height, parts: []};
    const frame = chart.axes({width, height, x: {domain: [2, MOST], label: "pulls of the arm, N", log: true, ticks: [2, 5, 10, 20, 50, 100, 200]}, y: {domain: [0, 12], label: "bound / sample variance"}});
    const finite = [...factors.keys()].filter((n) => n >= 2 && factors[n] > 0 && factors[n] < 1e6);
    const path = finite.map((n, k) => `${k ? "L" : "M"}${frame.x(n).toFixed(1)} ${frame.y(Math.min(12, factors[n])).toFixed(1)}`).join("");
    const first = finite[0] ?? MOST;
    const parts = [
      frame.group,
      chart.svg("rect", {class: "bai-shade", x: frame.left, y: frame.top, width: Math.max(0, frame.x(Math.min(first, MOST)) - frame.left), height: frame.bottom - frame.top}),
      chart.svg("line", {class: "bai-truth", x1: frame.left, x2: frame.right, y1: frame.y(1), y2: frame.y(1)}),
      chart.svg("g", {class: "bai-series", style: chart.ink(look)}, chart.svg("path", {d: path}), chart.marker(look.marker, frame.x(Math.min(first, MOST)), frame.y(Math.min(12, factors[first] ?? 12)))),
      chart.svg("text", {x: frame.x(Math.min(first, MOST)) - 6, y: frame.top + 16, "text-anchor": "end"}, "no bound yet"),
    ];
    return {height, parts};
  });
  const words = element("p", {});
  const status = ui.announcer({class: "bai-visually-hidden"});
  const say = ui.calm((text) => status.say(text), 600);
  const show = async () => {
    const asked = delta();
    const {corrected, printed, table} = await baiLive.factors({delta: asked, most: MOST, arms});
    if (asked !== delta()) return;
    factors = table;
    const stages = Math.ceil(Math.log2(arms));
    const stage = Math.floor(budget / stages);
    const forced = corrected / arms;
    const lines = [
      `With δ = ${short(asked)} every arm is pulled ${forced} times before its bound is positive; there it is ${factors[forced] > 1000 ? "more than 1,000" : chart.number(Number(factors[forced].toPrecision(3)))} times the sample variance.`,
      printed % arms
        ? `The printed rule forces ${chart.number(printed)} pulls of ${arms} arms, so that ${arms - (printed % arms)} of them are one pull short: their bound is negative, and they are not pulled again.`
        : `The printed rule forces ${chart.number(printed)} pulls of ${arms} arms.`,
      corrected >= stage
        ? `With K = ${arms} and n = ${chart.number(budget)}, a stage has ${chart.number(stage)} pulls. The forced pulls take all of the first one: it is a stage of SH.`
        : `With K = ${arms} and n = ${chart.number(budget)}, a stage has ${chart.number(stage)} pulls. The forced pulls take ${Math.round((100 * corrected) / stage)} % of the first one.`,
    ];
    words.textContent = lines.join(" ");
    picture.redraw(lines[0]);
    say(lines.join(" "));
  };
  box.append(
    picture,
    element(
      "div",
      {class: "bai-grid-of-fields"},
      ui.slider({label: "Confidence parameter δ", min: -6, max: -0.1, step: 0.01, value: power, show: (value) => short(10 ** value), change: (value) => ((power = value), show())}),
      ui.slider({label: "Arms K", min: 1, max: 8, value: 6, show: (value) => String(2 ** value), change: (value) => ((arms = 2 ** value), show())}),
      ui.slider({label: "Budget n", min: 500, max: 20000, step: 100, value: budget, show: chart.number, change: (value) => ((budget = value), show())}),
    ),
    words,
    status,
  );
  show();
});
