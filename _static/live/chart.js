// Charts as inline SVG, drawn for the width at hand, in the colours and markers of the policies.
//
// Text and lines take the colours of the page through CSS (live.css), so that a chart is at home on a dark page. A series
// has its own colours in the properties --series and --series-dark.
"use strict";

window.baiChart = (() => {
  /** An element of SVG. @returns {SVGElement} */
  const svg = (tag, attributes = {}, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes))
      if (value !== null && value !== undefined) made.setAttribute(name, String(value));
    made.append(...children);
    return made;
  };

  /** A number in few digits, with commas. */
  const number = (value) => {
    const size = Math.abs(value);
    if (value !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential().replace("e+", "e");
    return size >= 1000 ? value.toLocaleString("en-US", {maximumFractionDigits: 1}) : String(Number(value.toPrecision(6)));
  };

  /** Round values in a range, about so many. */
  const ticks = (low, high, many = 5) => {
    const rough = (high - low) / many || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  };

  const logTicks = (low, high) => {
    const found = [];
    const decades = Math.log10(high / low);
    for (let p = Math.floor(Math.log10(low)) - 1; p <= Math.ceil(Math.log10(high)); p++)
      for (const f of decades > 2.5 ? [1] : decades > 1 ? [1, 3] : [1, 2, 5]) found.push(Number((f * 10 ** p).toPrecision(6)));
    const inside = found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
    return inside.length > 1 ? inside : ticks(low, high, 4);
  };

  /**
   * A scale from numbers to pixels.
   * @param {[number, number]} domain
   * @param {[number, number]} range
   * @param {boolean} [log]
   */
  const scale = (domain, range, log = false) => {
    const f = log ? Math.log : (x) => x;
    const [a, b] = domain.map(f);
    const at = (value) => range[0] + ((f(value) - a) / (b - a || 1)) * (range[1] - range[0]);
    return Object.assign(at, {domain, range, ticks: (many) => (log ? logTicks(...domain) : ticks(...domain, many))});
  };

  const star = (points, inner) =>
    Array.from({length: 2 * points}, (_, k) => {
      const angle = (k * Math.PI) / points - Math.PI / 2;
      const r = k % 2 ? inner : 1;
      return [r * Math.cos(angle), r * Math.sin(angle)];
    });
  const turn = (corners, degrees) => {
    const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    return corners.map(([x, y]) => [c * x - s * y, s * x + c * y]);
  };
  const polygon = (sides) =>
    Array.from({length: sides}, (_, k) => {
      const angle = (2 * k * Math.PI) / sides - Math.PI / 2;
      return [Math.cos(angle), Math.sin(angle)];
    });
  const plus = [[-1, -0.4], [-0.4, -0.4], [-0.4, -1], [0.4, -1], [0.4, -0.4], [1, -0.4], [1, 0.4], [0.4, 0.4], [0.4, 1],
    [-0.4, 1], [-0.4, 0.4], [-1, 0.4]];
  const SHAPES = {
    s: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
    "^": polygon(3),
    v: turn(polygon(3), 180),
    "<": turn(polygon(3), -90),
    ">": turn(polygon(3), 90),
    D: polygon(4),
    p: polygon(5),
    h: polygon(6),
    H: turn(polygon(6), 30),
    "*": star(5, 0.42),
    P: plus,
    X: turn(plus, 45),
  };
  const DASHES = {"-": null, "--": "7 4", ":": "2 4", "-.": "8 4 2 4"};

  /** A marker of Matplotlib's by its letter. @returns {SVGElement} */
  const marker = (letter, x, y, {size = 5, open = false} = {}) => {
    const look = {class: open ? "bai-open" : null};
    if (!SHAPES[letter]) return svg("circle", {cx: x, cy: y, r: size * 0.9, ...look});
    const corners = SHAPES[letter].map(([dx, dy]) => `${(x + size * 1.1 * dx).toFixed(2)},${(y + size * 1.1 * dy).toFixed(2)}`);
    return svg("polygon", {points: corners.join(" "), ...look});
  };

  /** The colours of a series on light and dark pages, as a `style` for an element of the class `bai-series`. */
  const ink = ({color, dark}) => `--series: ${color}${dark ? `; --series-dark: ${dark}` : ""}`;

  /** A short line with the marker of a policy, for a legend or a list. @returns {SVGElement} */
  const swatch = ({marker: letter, linestyle, open, ...colors}) =>
    svg(
      "svg",
      {width: 34, height: 14, viewBox: "0 0 34 14", class: "bai-series bai-swatch", style: ink(colors), "aria-hidden": "true"},
      svg("line", {x1: 0, x2: 34, y1: 7, y2: 7, "stroke-dasharray": DASHES[linestyle]}),
      marker(letter, 17, 7, {open}),
    );

  /**
   * Axes with labels and a grid: a group, and the scales of what is drawn inside.
   * @param {{width: number, height: number, x: Axis, y: Axis}} options
   * @typedef {{domain: [number, number], label: string, log?: boolean, ticks?: number[], show?: (value: number) => string}} Axis
   */
  const axes = ({width, height, x, y}) => {
    const show = [x, y].map((axis) => axis.show ?? number);
    const probe = scale(y.domain, [1, 0], y.log);
    const yTicks = y.ticks ?? probe.ticks(5);
    const left = 18 + 7.2 * Math.max(...yTicks.map((value) => show[1](value).length)) + 14;
    const [right, top, bottom] = [14, 10, 46];
    const xs = scale(x.domain, [left, width - right], x.log);
    const ys = scale(y.domain, [height - bottom, top], y.log);
    const group = svg("g", {class: "bai-axes", "aria-hidden": "true"});
    for (const value of yTicks)
      group.append(
        svg("line", {class: "bai-grid", x1: left, x2: width - right, y1: ys(value), y2: ys(value)}),
        svg("text", {x: left - 7, y: ys(value) + 4, "text-anchor": "end"}, show[1](value)),
      );
    const room = Math.max(2, Math.floor((width - left - right) / 62));
    let xTicks = x.ticks ?? xs.ticks(room);
    if (xTicks.length > room) {
      const every = Math.ceil(xTicks.length / room);
      xTicks = xTicks.filter((_, k) => (xTicks.length - 1 - k) % every === 0);
    }
    for (const value of xTicks)
      group.append(
        svg("line", {class: "bai-grid", x1: xs(value), x2: xs(value), y1: top, y2: height - bottom + 4}),
        svg("text", {x: xs(value), y: height - bottom + 19, "text-anchor": "middle"}, show[0](value)),
      );
    const middle = (top + height - bottom) / 2;
    group.append(
      svg("text", {class: "bai-axis", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle"}, x.label),
      svg("text", {class: "bai-axis", x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})`}, y.label),
    );
    return {group, x: xs, y: ys, left, right: width - right, top, bottom: height - bottom};
  };

  /**
   * A place for a chart that is drawn anew when its width changes.
   * @param {string} label what the chart shows, for screen readers
   * @param {(width: number) => {height: number, parts: SVGElement[]}} draw
   * @returns {HTMLElement & {redraw: (label?: string) => void}}
   */
  const canvas = (label, draw) => {
    const place = document.createElement("div");
    place.className = "bai-chart";
    const redraw = (text = label) => {
      label = text;
      const width = Math.max(280, Math.floor(place.clientWidth || 640));
      const {height, parts} = draw(width);
      const picture = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label}, ...parts);
      place.replaceChildren(picture);
    };
    let before = 0;
    new ResizeObserver(() => {
      if (place.clientWidth !== before) redraw();
      before = place.clientWidth;
    }).observe(place);
    return Object.assign(place, {redraw});
  };

  /**
   * A line with markers, open ones if so said, and intervals where points have `low` and `high`.
   * @param {{color: string, dark?: string, marker: string, linestyle: string, open?: boolean, points: {x: number, y: number, low?: number, high?: number}[]}} series
   * @returns {SVGElement}
   */
  const line = (series, x, y) => {
    const clip = (value) => y(Math.min(Math.max(value, y.domain[0]), y.domain[1]));
    const group = svg("g", {class: "bai-series", style: ink(series)});
    const path = series.points.map((p, k) => `${k ? "L" : "M"}${x(p.x).toFixed(2)} ${clip(p.y).toFixed(2)}`).join("");
    for (const p of series.points)
      if (p.low !== undefined)
        group.append(svg("line", {class: "bai-interval", x1: x(p.x), x2: x(p.x), y1: clip(p.low), y2: clip(p.high)}));
    group.append(svg("path", {d: path, "stroke-dasharray": DASHES[series.linestyle]}));
    for (const p of series.points) group.append(marker(series.marker, x(p.x), clip(p.y), {open: series.open}));
    return group;
  };

  /** A legend in HTML: swatch and name of each series. @returns {HTMLElement} */
  const legend = (series) => {
    const list = document.createElement("ul");
    list.className = "bai-legend";
    for (const one of series) {
      const item = document.createElement("li");
      item.append(swatch(one), ` ${one.label}`);
      list.append(item);
    }
    return list;
  };

  return {svg, number, ticks, scale, marker, ink, swatch, axes, canvas, line, legend};
})();
