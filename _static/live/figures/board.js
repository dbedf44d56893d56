// The leaderboard: sorted and filtered as one likes, and two policies played again on a family.
"use strict";

baiLive.register("board", (box, {ui, chart, stats, book}) => {
  const {element} = ui;
  const {families, policies, rows} = book.board;
  const percent = (value) => (value === undefined ? "–" : `${(100 * value).toFixed(1)} %`);
  let [family, told, sorted] = [families[0].name, true, "rate"];
  const knows = Object.fromEntries(policies.map(({label, told: secret}) => [label, secret]));
  const rate = (label, name, budget) => rows[name]?.[label]?.[budget];
  const budgets = () => families.find(({name}) => name === family).budgets;

  const place = element("div");
  const showTable = () => {
    const columns = budgets();
    const shown = policies.filter(({label}) => (told || !knows[label]) && rows[family][label]);
    const by = sorted === "rate" ? columns.at(-1) : sorted;
    if (sorted === "policy") shown.sort((a, b) => a.label.localeCompare(b.label));
    else shown.sort((a, b) => (rate(a.label, family, by) ?? 2) - (rate(b.label, family, by) ?? 2));
    const table = ui.table(
      `Mistakes on “${family}”, the fewest first`,
      ["policy", ...columns.map((n) => `n = ${chart.number(n)}`)],
      shown.map(({label}) => [knows[label] ? `${label} †` : label, ...columns.map((n) => percent(rate(label, family, n)))]),
    );
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, k) => {
      const key = k ? columns[k - 1] : "policy";
      const press = ui.button(head.textContent, () => {
        sorted = key;
        showTable();
        place.querySelectorAll("thead button")[k].focus();
      }, {class: "bai-sort"});
      head.replaceChildren(press);
      if (key === by || key === sorted) head.setAttribute("aria-sort", "ascending");
    });
    place.replaceChildren(table);
  };

  const live = new Set(book.families.map(({name}) => name));
  const gaussian = families.filter(({name}) => live.has(name));
  const labels = book.variants.map(({label}) => [label, label]);
  const again = {
    family: ui.select(gaussian.map(({name}) => [name, name]), gaussian[0].name, () => {}),
    first: ui.select(labels, "TopTwo", () => {}),
    second: ui.select(labels, "SH", () => {}),
  };
  const status = ui.announcer();
  const result = element("div");
  const play = ui.button("Play this pair again", async () => {
    play.disabled = true;
    status.say("Playing …");
    try {
      const {problem, budgets: columns} = book.families.find(({name}) => name === again.family.value);
      const runs = 2000;
      const made = [];
      for (const budget of columns) {
        const one = [];
        for (const side of ["first", "second"]) {
          const {policy} = book.variants.find(({label}) => label === again[side].value);
          one.push((await baiLive.simulate({policy, problem: {...problem, runs, seed: 7}, budget, seed: 7})).mistakes);
        }
        const pair = stats.paired(...one);
        const rates = one.map((mistakes) => percent(mistakes.reduce((sum, x) => sum + x, 0) / runs));
        const sign = pair.difference < 0 ? "−" : "+";
        made.push([`n = ${chart.number(budget)}`, ...rates, `${sign}${(100 * Math.abs(pair.difference)).toFixed(1)} ± ${(196 * pair.error).toFixed(1)}`, pair.p < 1e-4 ? "< 0.0001" : pair.p.toPrecision(2)]);
      }
      result.replaceChildren(ui.table(`${again.first.value} and ${again.second.value} on “${again.family.value}”, ${chart.number(runs)} new runs`, ["budget", again.first.value, again.second.value, "difference in points", "p"], made));
      status.say("Played.");
    } catch (error) {
      status.say(error.message);
    }
    play.disabled = false;
  });

  box.append(
    element(
      "div",
      {class: "bai-grid-of-fields"},
      ui.field("Family of problems", ui.select(families.map(({name}) => [name, name]), family, (value) => ((family = value), (sorted = "rate"), showTable()))),
      ui.checkbox("Show policies that are told something", true, (value) => ((told = value), showTable())),
    ),
    place,
    element("p", {class: "bai-hint"}, "† is told something about the problem, such as the variances. A dash: the policy needs a larger budget. A click on a column sorts by it."),
    element("fieldset", {}, element("legend", {}, "Play two policies again, on new runs"), element("div", {class: "bai-grid-of-fields"}, ui.field("Family", again.family), ui.field("First policy", again.first), ui.field("Second policy", again.second)), play),
    status,
    result,
  );
  showTable();
});
