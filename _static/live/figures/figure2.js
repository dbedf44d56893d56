// Figure 2 of the paper, played again with a noisy or a quiet best arm, beside the published points.
"use strict";

baiLive.register("figure2", (box, {ui, chart, stats, book}) => {
  const {element} = ui;
  const POLICIES = ["Unif", "SH", "SHVar", "SHAdaVar"];
  const {arms, budgets, published} = book.figure2;
  let [best, runs] = ["noisy", 1000];
  let controller = null;
  let points = {};
  const status = ui.announcer();
  const picture = chart.canvas("Mistakes against budget", (width) => {
    const height = Math.round(Math.min(430, Math.max(300, width * 0.6)));
    const frame = chart.axes({width, height, x: {domain: [budgets[0] - 200, budgets.at(-1) + 200], label: "budget n (pulls)", ticks: budgets}, y: {domain: [0, 0.65], label: "mistake probability"}});
    const parts = [frame.group];
    for (const name of POLICIES) {
      const look = book.policies[name];
      for (const {budget, rate} of published[name])
        parts.push(chart.svg("g", {class: "bai-series", style: chart.ink(look)}, chart.marker(look.marker, frame.x(budget), frame.y(rate), {size: 7, open: true})));
      if (points[name]?.length) parts.push(chart.line({...look, points: points[name]}, frame.x, frame.y));
    }
    return {height, parts};
  });
  const show = () =>
    picture.redraw(
      `Best arm ${best}. ${POLICIES.map((name) => `${name}: ${(points[name] ?? []).map(({x, y}) => `${x} pulls ${(100 * y).toFixed(1)} percent`).join(", ")}`).join("; ")}.`,
    );
  const play = async () => {
    controller?.abort();
    const mine = (controller = new AbortController());
    points = {};
    show();
    status.say("Playing …");
    let [pulled, seconds] = [0, 0];
    try {
      for (const budget of budgets)
        for (const name of POLICIES) {
          const problem = {kind: "synthetic", arms, runs, seed: 1, best};
          const played = await baiLive.simulate({policy: {name}, problem, budget, seed: 1}, {signal: mine.signal});
          const mistakes = played.mistakes.reduce((sum, one) => sum + one, 0);
          const [low, high] = stats.wilson(mistakes, runs);
          (points[name] ??= []).push({x: budget, y: mistakes / runs, low, high});
          pulled += played.pulled;
          seconds += played.seconds;
          show();
        }
      const last = (name) => points[name].at(-1).y;
      const verdict = last("SHVar") < last("SH") ? "fewer" : "more";
      status.say(`Best arm ${best}: with ${chart.number(budgets.at(-1))} pulls SHVar makes ${verdict} mistakes than SH (${(100 * last("SHVar")).toFixed(1)} against ${(100 * last("SH")).toFixed(1)} %). ${chart.number(Math.round(pulled / 1e5) / 10)} million pulls in ${seconds.toFixed(1)} seconds.`);
    } catch (error) {
      if (error.name !== "AbortError") status.say(error.message);
    }
  };
  box.append(
    element(
      "div",
      {class: "bai-grid-of-fields"},
      ui.field("The best arm is", ui.select([["noisy", "noisy, as in the figures"], ["quiet", "quiet, as in the text"]], best, (value) => ((best = value), play()))),
      ui.field("Runs", ui.select([["500", "500"], ["1000", "1,000"], ["5000", "5,000, as in the paper"]], "1000", (value) => ((runs = Number(value)), play()))),
    ),
    chart.legend(POLICIES.map((name) => book.policies[name])),
    picture,
    element("p", {class: "bai-hint"}, "Open markers are the published points; lines are played now in your browser, with 95 % intervals."),
    status,
  );
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    play();
  });
  seen.observe(box);
});
