// The laboratory: problem, policies, budgets, runs and seed of one's own; curves, intervals, paired comparisons.
"use strict";

baiLive.register("laboratory", (box, {ui, chart, stats, book}) => {
  const {element} = ui;
  const FIGURE2 = {
    problem: "paper",
    arms: book.figure2.arms,
    best: "noisy",
    means: "1 0.9 0.5 0.5 0.5 0.5 0.5 0.5",
    variances: "1 1 0.1 0.1 0.1 0.1 0.1 0.1",
    policies: ["Unif", "SH", "SHVar", "SHAdaVar"],
    budgets: book.figure2.budgets.join(" "),
    runs: 5000,
    seed: 1,
  };
  const MOST_NUMBERS = 2e7; // means in memory at a time
  const variant = (label) => book.variants.find((one) => one.label === label);
  const family = (name) => book.families.find((one) => one.name === name);

  // --- what is asked ---------------------------------------------------------------------------------------

  /** The numbers in a text, which commas, semicolons, brackets or blanks part. */
  const numbers = (name, text) => {
    const parts = text.split(/[\s,;[\]()]+/).filter(Boolean);
    const wrong = parts.find((part) => !Number.isFinite(Number(part)));
    if (wrong !== undefined) throw new RangeError(`${name} contains “${wrong}”, which is not a number`);
    return parts.map(Number);
  };
  const whole = (name, text, least, most) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new RangeError(`${name} is ${text || "empty"}; it must be a whole number from ${chart.number(least)} to ${chart.number(most)}`);
    return value;
  };

  /** The settings as the engine takes them; throws an error that can be shown. */
  const study = (settings) => {
    const runs = whole("The number of runs", settings.runs, 1, 1e6);
    const seed = whole("The seed", settings.seed, 0, Number.MAX_SAFE_INTEGER);
    const budgets = [...new Set(numbers("The list of budgets", settings.budgets))].sort((a, b) => a - b);
    if (!budgets.length) throw new RangeError("There is no budget; give at least one, for example 1000");
    budgets.forEach((budget) => whole("A budget", budget, 1, 1e6));
    if (!settings.policies.length) throw new RangeError("No policy is chosen; tick at least one");
    let problem;
    if (settings.problem === "own") {
      const means = numbers("The list of means", settings.means);
      const variances = numbers("The list of variances", settings.variances);
      problem = {kind: "gaussian", means, variances, arms: means.length, runs};
    } else if (settings.problem === "paper") {
      problem = {kind: "synthetic", arms: whole("The number of arms", settings.arms, 2, 4096), best: settings.best, runs, seed};
    } else problem = {...family(settings.problem).problem, runs, seed};
    if (runs * problem.arms > MOST_NUMBERS)
      throw new RangeError(`${chart.number(runs)} runs of ${problem.arms} arms do not fit into memory; take at most ${chart.number(Math.floor(MOST_NUMBERS / problem.arms))} runs`);
    return {problem, budgets, seed, runs, variants: settings.policies.map(variant)};
  };

  /** The Python program that gives the same table. */
  const python = ({problem, budgets, seed, runs, variants}, settings) => {
    const makers = {
      own: () => `bai.GaussianBandits(\n    [${problem.means.join(", ")}],\n    [${problem.variances.join(", ")}],\n    runs=${runs},\n)`,
      paper: () => `bai.synthetic(${problem.arms}, runs=${runs}, seed=${seed}${problem.best === "quiet" ? ', best_arm="quiet"' : ""})`,
    };
    const make = makers[settings.problem] ?? (() => `FAMILIES["${settings.problem}"].make(${runs}, ${seed})`);
    const named = variants.map(({label, python}) => `    "${label}": ${python},`).join("\n");
    return [
      "import bai",
      ...(makers[settings.problem] ? [] : ["from bai.book.leaderboard import FAMILIES"]),
      "",
      `bandits = ${make()}`,
      `policies = {\n${named}\n}`,
      `table = bai.sweep(policies, bandits, budgets=[${budgets.join(", ")}], seed=${seed})`,
      'print(table[["policy", "budget", "runs", "mistakes", "mistake_rate", "low", "high"]])',
      "",
    ].join("\n");
  };

  // --- the address -----------------------------------------------------------------------------------------

  const toHash = (settings) => {
    const kept = {problem: settings.problem, budgets: settings.budgets.trim().replace(/[\s,;]+/g, " "), runs: settings.runs, seed: settings.seed};
    if (settings.problem === "paper") Object.assign(kept, {arms: settings.arms, best: settings.best});
    if (settings.problem === "own") Object.assign(kept, {means: settings.means, variances: settings.variances});
    const query = new URLSearchParams(Object.entries(kept).map(([key, value]) => [key, String(value)]));
    settings.policies.forEach((label) => query.append("policy", label));
    return `#lab?${query}`;
  };
  const fromHash = (hash) => {
    if (!hash.startsWith("#lab?")) return null;
    const query = new URLSearchParams(hash.slice(5));
    const settings = {...FIGURE2};
    for (const key of Object.keys(FIGURE2)) if (query.has(key)) settings[key] = query.get(key);
    settings.policies = query.getAll("policy").filter(variant);
    if (!["paper", "own"].includes(settings.problem) && !family(settings.problem)) settings.problem = "paper";
    return settings;
  };

  // --- controls --------------------------------------------------------------------------------------------

  const problems = [
    ["paper", "Section 5.1 of the paper"],
    ["own", "Gaussian arms of my own"],
    ...book.families.map(({name}) => [name, `Leaderboard: ${name}`]),
  ];
  const entry = (type, attributes) => element("input", {type, inputmode: type === "number" ? "numeric" : null, ...attributes});
  const controls = {
    problem: ui.select(problems, "paper", () => {
      const chosen = family(controls.problem.value);
      if (chosen) controls.budgets.value = chosen.budgets.join(" ");
      showProblem();
    }),
    arms: entry("number", {min: 2, max: 4096}),
    best: ui.select([["noisy", "noisy, as in its figures"], ["quiet", "quiet, as in its text"]], "noisy", () => {}),
    means: element("textarea", {rows: 2, spellcheck: "false"}),
    variances: element("textarea", {rows: 2, spellcheck: "false"}),
    budgets: entry("text", {spellcheck: "false"}),
    runs: entry("number", {min: 1}),
    seed: entry("number", {min: 0}),
  };
  const open = new Set();
  const drawn = new Set();
  for (const {label, policy} of book.variants) {
    if (drawn.has(policy.name)) open.add(label);
    drawn.add(policy.name);
  }
  const look = (label) => ({...book.policies[variant(label).policy.name], label, open: open.has(label)});
  const boxes = new Map(book.variants.map(({label}) => [label, ui.checkbox(label, false, () => {}, chart.swatch(look(label)))]));
  const paperFields = element(
    "div",
    {class: "bai-grid-of-fields"},
    ui.field("Arms K", controls.arms),
    ui.field("The best arm is", controls.best),
  );
  const ownFields = element(
    "div",
    {},
    ui.field("Means", controls.means, "One per arm, parted by blanks, commas or line breaks."),
    ui.field("Variances", controls.variances),
  );
  const about = element("p", {class: "bai-hint"});
  const showProblem = () => {
    const kind = controls.problem.value;
    paperFields.hidden = kind !== "paper";
    ownFields.hidden = kind !== "own";
    about.textContent = family(kind) ? `32 arms: ${family(kind).about}.` : "";
  };

  const read = () => ({
    ...Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, control.value])),
    policies: book.variants.map(({label}) => label).filter((label) => boxes.get(label).input.checked),
  });
  const fill = (settings) => {
    for (const [key, control] of Object.entries(controls)) control.value = settings[key];
    for (const [label, one] of boxes) one.input.checked = settings.policies.includes(label);
    showProblem();
  };

  // --- results ---------------------------------------------------------------------------------------------

  /** @type {{asked: ReturnType<typeof study>, settings: any, cells: any[]}} */
  let shown = null;
  let controller = null;
  const percent = (value) => `${(100 * value).toFixed(2)} %`;
  const status = ui.announcer();
  const trouble = element("p", {class: "bai-error", role: "alert", hidden: true});
  const progress = element("progress", {class: "bai-progress", max: 1, value: 0, "aria-label": "Share of the runs that are played", hidden: true});
  const results = element("div", {hidden: true});
  const logarithmic = ui.checkbox("Logarithmic axis", false, () => picture.redraw());
  const keys = element("div");
  const rates = element("div");
  const pairs = element("div");
  const rival = element("select", {class: "bai-input", onchange: () => showPairs()});
  const lines = element("pre");
  const code = element("div", {class: "bai-code", tabindex: 0, role: "region", "aria-label": "Python program", hidden: true}, lines);

  const series = () =>
    shown.asked.variants.map(({label}) => ({
      ...look(label),
      points: shown.cells
        .filter((cell) => cell.label === label)
        .map((cell) => ({x: cell.budget, y: cell.rate, low: cell.low, high: cell.high})),
    }));
  const picture = chart.canvas("Mistake curves", (width) => {
    const height = Math.round(Math.min(430, Math.max(300, width * 0.6)));
    if (!shown?.cells.length) return {height, parts: []};
    const {budgets} = shown.asked;
    const log = logarithmic.input.checked;
    const values = shown.cells.flatMap((cell) => [cell.high, cell.rate, cell.low]).filter((value) => value > 0);
    const top = Math.max(0.001, ...values);
    const bottom = log ? Math.min(top / 10, ...shown.cells.map((c) => c.rate).filter((rate) => rate > 0)) / 1.5 : 0;
    const room = Math.max(1, (budgets.at(-1) - budgets[0]) * 0.04);
    const frame = chart.axes({
      width,
      height,
      x: {domain: [budgets[0] - room, budgets.at(-1) + room], label: "budget n (pulls)", ticks: budgets.length < 9 ? budgets : undefined},
      y: {domain: [bottom, log ? top * 1.2 : top * 1.05], label: "mistake probability", log},
    });
    return {height, parts: [frame.group, ...series().map((one) => chart.line(one, frame.x, frame.y))]};
  });

  const twoLines = (first, second) => element("span", {}, first, element("small", {}, second));
  /** A table with a row per policy and a column per budget. */
  const byBudget = (caption, labels, content) => {
    const {budgets} = shown.asked;
    const cell = (label, budget) => shown.cells.find((one) => one.label === label && one.budget === budget);
    const rows = labels.map((label) => [label, ...budgets.map((n) => (cell(label, n) ? content(cell(label, n), cell) : ""))]);
    return ui.table(caption, ["policy", ...budgets.map((n) => `n = ${chart.number(n)}`)], rows);
  };
  const showRates = () => {
    const labels = shown.asked.variants.map(({label}) => label);
    const content = (c) => twoLines(percent(c.rate), `${(100 * c.low).toFixed(2)} to ${(100 * c.high).toFixed(2)}`);
    rates.replaceChildren(byBudget(`Mistakes in ${chart.number(shown.asked.runs)} runs, with 95 % intervals`, labels, content));
  };
  const showPairs = () => {
    const base = rival.value;
    const labels = shown.asked.variants.map(({label}) => label).filter((label) => label !== base);
    const content = (c, cell) => {
      const other = cell(base, c.budget);
      if (!other) return "";
      const {difference, error, p} = stats.paired(c.made, other.made);
      const points = `${difference < 0 ? "−" : "+"}${(100 * Math.abs(difference)).toFixed(2)}`;
      return twoLines(`${points} ± ${(196 * error).toFixed(2)}`, p < 1e-4 ? "p < 0.0001" : `p = ${p.toPrecision(2)}`);
    };
    pairs.replaceChildren(byBudget(`Percentage points more mistakes than ${base}, on the same runs`, labels, content));
  };
  const show = () => {
    results.hidden = false;
    keys.replaceChildren(chart.legend(series()));
    picture.redraw(
      `Mistake rate against budget. ${shown.cells.map((c) => `${c.label} with ${c.budget} pulls: ${percent(c.rate)}`).join("; ")}.`,
    );
    showRates();
    const labels = shown.asked.variants.map(({label}) => label);
    const before = rival.value;
    rival.replaceChildren(...labels.map((label) => element("option", {value: label}, label)));
    rival.value = labels.includes(before) ? before : labels.at(-1);
    comparison.hidden = labels.length < 2;
    if (labels.length > 1) showPairs();
  };

  // --- playing ---------------------------------------------------------------------------------------------

  const run = async () => {
    trouble.hidden = true;
    const settings = read();
    let asked;
    try {
      asked = study(settings);
      for (const {policy, label} of asked.variants) {
        const {least, rule} = await baiLive.leastBudget(policy, asked.problem.arms);
        if (asked.budgets[0] < least)
          throw new RangeError(`The smallest budget is ${asked.budgets[0]}; ${label} needs at least ${least} pulls for ${asked.problem.arms} arms (${rule})`);
      }
    } catch (error) {
      trouble.textContent = `${error.message}.`;
      trouble.hidden = false;
      return;
    }
    history.replaceState(null, "", toHash(settings));
    lines.textContent = python(asked, settings);
    controller?.abort();
    const mine = (controller = new AbortController());
    shown = {asked, settings, cells: []};
    start.disabled = true;
    stop.hidden = progress.hidden = false;
    status.say("Playing …");
    const jobs = asked.variants.flatMap((one) => asked.budgets.map((budget) => ({...one, budget})));
    const work = jobs.reduce((sum, job) => sum + job.budget, 0);
    let [done, pulled, seconds] = [0, 0, 0];
    try {
      for (const {label, policy, budget} of jobs) {
        const {signal} = mine;
        const part = (share) => {
          progress.value = (done + share * budget) / work;
        };
        const played = await baiLive.simulate({policy, problem: asked.problem, budget, seed: asked.seed}, {signal, progress: part});
        done += budget;
        part(0);
        pulled += played.pulled;
        seconds += played.seconds;
        const mistakes = played.mistakes.reduce((sum, one) => sum + one, 0);
        const [low, high] = stats.wilson(mistakes, asked.runs);
        shown.cells.push({label, budget, runs: asked.runs, mistakes, rate: mistakes / asked.runs, low, high, made: played.mistakes});
        show();
      }
      const million = pulled < 1e6 ? pulled / 1e6 : Math.round(pulled / 1e5) / 10;
      status.say(
        `${chart.number(million)} million pulls in ${seconds.toFixed(1)} seconds: ${asked.variants.length} policies, ` +
          `${asked.budgets.length} budgets, ${chart.number(asked.runs)} runs each.`,
      );
    } catch (error) {
      if (error.name !== "AbortError") {
        trouble.textContent = `${error.message}.`;
        trouble.hidden = false;
      }
      status.say(`Stopped after ${shown.cells.length} of ${jobs.length} points.`);
    }
    if (controller !== mine) return;
    start.disabled = false;
    stop.hidden = progress.hidden = true;
  };

  const csv = () => {
    const heads = ["policy", "problem", "n_arms", "budget", "runs", "mistakes", "mistake_rate", "low", "high"];
    const {settings, asked, cells} = shown;
    const quoted = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = cells.map((c) => [quoted(c.label), quoted(settings.problem), asked.problem.arms, c.budget, c.runs, c.mistakes, c.rate, c.low, c.high]);
    return [heads, ...rows].map((row) => row.join(",")).join("\n") + "\n";
  };
  const download = () => {
    const address = URL.createObjectURL(new Blob([csv()], {type: "text/csv"}));
    element("a", {href: address, download: "laboratory.csv"}).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  // --- the page --------------------------------------------------------------------------------------------

  const start = ui.button("Run", run, {class: "bai-button bai-main"});
  const stop = ui.button("Stop", () => controller.abort(), {hidden: true});
  const figure2 = ui.button("Figure 2 of the paper", () => {
    fill(FIGURE2);
    run();
  });
  const program = ui.button("Show the Python program", () => {
    code.hidden = !code.hidden;
    program.setAttribute("aria-expanded", String(!code.hidden));
    program.firstChild.data = code.hidden ? "Show the Python program" : "Hide the Python program";
  }, {"aria-expanded": "false"});
  const wide = ui.field("Budgets", controls.budgets);
  wide.classList.add("bai-wide");
  const comparison = element(
    "div",
    {},
    ui.field("Compare with", rival, "Behind ± stands half of a 95 % interval; p is that of the exact test of McNemar."),
    pairs,
  );
  results.append(
    keys,
    picture,
    logarithmic,
    element("div", {class: "bai-row"}, program, ui.button("Download the table (CSV)", download)),
    code,
    rates,
    comparison,
  );
  box.append(
    element("fieldset", {}, element("legend", {}, "Problem"), ui.field("Kind of problem", controls.problem), about, paperFields, ownFields),
    element("fieldset", {}, element("legend", {}, "Policies"), element("div", {class: "bai-checks"}, ...boxes.values())),
    element(
      "div",
      {class: "bai-grid-of-fields"},
      wide,
      ui.field("Runs", controls.runs),
      ui.field("Seed", controls.seed),
    ),
    element("div", {class: "bai-row"}, start, stop, figure2, progress),
    trouble,
    status,
    results,
  );
  const restore = () => {
    const settings = fromHash(location.hash);
    if (settings) {
      fill(settings);
      run();
    }
  };
  fill(FIGURE2);
  restore();
  window.addEventListener("hashchange", restore);
});
