// Eight movies: move a mean or a variance, and see what equal pulls and pulls in proportion to the variance make of it.
"use strict";

baiLive.register("movies", (box, {ui, chart, stats, book}) => {
  const {element} = ui;
  const RUNS = 10000;
  const start = () => book.movies.map((movie) => ({...movie}));
  let [movies, chosen, budget] = [start(), 0, 800];
  const best = () => movies.reduce((top, movie, i) => (movie.mean > movies[top].mean ? i : top), 0);
  const PLANS = {
    "equal pulls": () => movies.map(() => budget / movies.length),
    "in proportion to the variance": () => {
      const sum = movies.reduce((total, {variance}) => total + variance, 0);
      return movies.map(({variance}) => Math.max(1, (budget * variance) / sum));
    },
  };

  /** Normal numbers, the same ones each time, so that only what the reader moves changes a count. */
  const normals = (() => {
    let state = 1;
    const uniform = () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296 + 2 ** -33;
    };
    return Float64Array.from({length: RUNS * book.movies.length}, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
  })();
  /** How often a plan names another movie than the best: averages are drawn, and the highest is named. */
  const mistakes = (pulls) => {
    const [top, errors] = [best(), movies.map(({variance}, i) => Math.sqrt(variance / pulls[i]))];
    let wrong = 0;
    for (let r = 0; r < RUNS; r++) {
      let [named, highest] = [0, -Infinity];
      for (let i = 0; i < movies.length; i++) {
        const average = movies[i].mean + errors[i] * normals[r * movies.length + i];
        if (average > highest) [named, highest] = [i, average];
      }
      if (named !== top) wrong++;
    }
    return wrong;
  };

  const ROW = 30;
  const drawPlan = (name) => (width) => {
    const height = ROW * movies.length + 60;
    const pulls = PLANS[name]();
    const left = 112;
    const x = chart.scale([1, 5], [left, width - 12]);
    const top = best();
    const parts = [];
    for (const stars of [1, 2, 3, 4, 5])
      parts.push(
        chart.svg("line", {class: "bai-grid", x1: x(stars), x2: x(stars), y1: 4, y2: height - 44}),
        chart.svg("text", {x: x(stars), y: height - 27, "text-anchor": "middle"}, String(stars)),
      );
    parts.push(chart.svg("text", {class: "bai-axis", x: (left + width - 12) / 2, y: height - 6, "text-anchor": "middle"}, "average rating (stars)"));
    movies.forEach((movie, i) => {
      const y = ROW * i + 20;
      const half = 1.96 * Math.sqrt(movie.variance / pulls[i]);
      const group = chart.svg(
        "g",
        {class: "bai-series bai-drag", style: `--series: ${i === top ? "#d55e00" : "#0072b2"}`, "data-arm": i},
        chart.svg("rect", {x: 0, y: y - ROW / 2, width, height: ROW, class: i === chosen ? "bai-chosen" : "bai-clear"}),
        chart.svg("line", {x1: x(Math.max(1, movie.mean - half)), x2: x(Math.min(5, movie.mean + half)), y1: y, y2: y}),
        chart.marker(i === top ? "D" : "o", x(movie.mean), y, {size: 6}),
      );
      parts.push(group, chart.svg("text", {x: 4, y: y - 1}, movie.name), chart.svg("text", {x: 4, y: y + 12, class: "bai-small"}, `${Math.round(pulls[i])} pulls`));
    });
    return {height, parts};
  };
  const names = Object.keys(PLANS);
  const charts = names.map((name) => chart.canvas(name, drawPlan(name)));
  const counts = names.map(() => element("p", {class: "bai-count"}));

  // Drag a movie sideways; the sliders do the same for the keyboard.
  for (const place of charts) {
    let dragging = false;
    const move = (event) => {
      const {left, width} = place.getBoundingClientRect();
      const share = (event.clientX - left - 112) / (width - 124);
      movies[chosen].mean = Math.round(100 * Math.min(5, Math.max(1, 1 + 4 * share))) / 100;
      update();
    };
    place.addEventListener("pointerdown", (event) => {
      const arm = event.target.closest?.("[data-arm]");
      if (!arm) return;
      chosen = Number(arm.dataset.arm);
      dragging = true;
      place.setPointerCapture(event.pointerId);
      update();
    });
    place.addEventListener("pointermove", (event) => dragging && move(event));
    for (const end of ["pointerup", "pointercancel"]) place.addEventListener(end, () => (dragging = false));
  }

  const which = ui.select(movies.map(({name}, i) => [String(i), name]), "0", (value) => {
    chosen = Number(value);
    update();
  });
  const two = (value) => value.toFixed(2);
  const mean = ui.slider({label: "Mean of its ratings", min: 1, max: 5, step: 0.01, value: movies[0].mean, show: two, change: (value) => {
    movies[chosen].mean = value;
    update();
  }});
  const variance = ui.slider({label: "Variance of its ratings", min: 0.05, max: 4, step: 0.01, value: movies[0].variance, show: two, change: (value) => {
    movies[chosen].variance = value;
    update();
  }});
  const people = ui.slider({label: "People asked", min: 80, max: 2000, step: 40, value: budget, change: (value) => {
    budget = value;
    update();
  }});
  const status = ui.announcer({class: "bai-visually-hidden"});
  const say = ui.calm((text) => status.say(text), 600);
  const update = () => {
    which.value = String(chosen);
    [mean.value, variance.value, people.value] = [movies[chosen].mean, movies[chosen].variance, budget];
    const said = names.map((name, k) => {
      const wrong = mistakes(PLANS[name]());
      const [low, high] = stats.wilson(wrong, RUNS);
      const percent = (share) => (100 * share).toFixed(1);
      counts[k].textContent = `${percent(wrong / RUNS)} % mistakes (${percent(low)} to ${percent(high)})`;
      charts[k].redraw(`${name}: ${movies.map((movie, i) => `${movie.name} ${Math.round(PLANS[name]()[i])} pulls`).join(", ")}`);
      return `${name}: ${percent(wrong / RUNS)} percent mistakes`;
    });
    say(`${said.join("; ")}. The best movie is ${movies[best()].name}.`);
  };
  box.append(
    element("div", {class: "bai-two"}, ...names.map((name, k) => element("div", {}, element("p", {class: "bai-head"}, name), charts[k], counts[k]))),
    element("div", {class: "bai-grid-of-fields"}, ui.field("Movie", which), mean, variance, people),
    element("div", {class: "bai-row"}, ui.button("Back to the start", () => {
      [movies, chosen, budget] = [start(), 0, 800];
      update();
    })),
    element("p", {class: "bai-hint"}, `Drag a movie sideways, or use the sliders. The diamond is the best movie. Each plan is carried out ${chart.number(RUNS)} times with normal averages, on the same random numbers; a bar covers 95 % of the averages.`),
    status,
  );
  update();
});
