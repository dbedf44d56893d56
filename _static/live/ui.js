// Controls that all live parts share: each is a plain element with a name that screen readers say.
"use strict";

window.baiUI = (() => {
  let last = 0;
  const freshId = () => `bai-${++last}`;

  /**
   * An element with attributes and children.
   * @param {string} tag
   * @param {Record<string, any>} [attributes] `class`, `on...` functions, or any attribute; null and false are left out
   * @param {...(Node|string)} children
   * @returns {HTMLElement}
   */
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children);
    return made;
  };

  /** A button. @returns {HTMLButtonElement} */
  const button = (label, press, attributes = {}) =>
    /** @type {any} */ (element("button", {type: "button", class: "bai-button", onclick: press, ...attributes}, label));

  /** A control under its label. `control` needs no id. @returns {HTMLElement} */
  const field = (label, control, hint) => {
    control.id ||= freshId();
    const parts = [element("label", {for: control.id}, label), control];
    if (hint) {
      const note = element("p", {class: "bai-hint", id: freshId()}, hint);
      control.setAttribute("aria-describedby", note.id);
      parts.push(note);
    }
    return element("div", {class: "bai-field"}, ...parts);
  };

  /**
   * A slider with its value beside it.
   * @param {{label: string, min: number, max: number, step?: number, value: number, show?: (value: number) => string,
   *   change: (value: number) => void}} options
   * @returns {HTMLElement & {value: number}}
   */
  const slider = ({label, min, max, step = 1, value, show = String, change}) => {
    const output = element("output", {class: "bai-value"}, show(value));
    const input = /** @type {HTMLInputElement} */ (
      element("input", {type: "range", min, max, step, value, "aria-valuetext": show(value), id: freshId()})
    );
    output.setAttribute("for", input.id);
    const say = () => {
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", show(Number(input.value)));
    };
    input.addEventListener("input", () => {
      say();
      change(Number(input.value));
    });
    const made = element("div", {class: "bai-field bai-slider"}, element("label", {for: input.id}, label), input, output);
    Object.defineProperty(made, "value", {
      get: () => Number(input.value),
      set: (to) => {
        input.value = to;
        say();
      },
    });
    return /** @type {any} */ (made);
  };

  /** A list to choose one from. @param {[string, string][]} choices values and labels @returns {HTMLSelectElement} */
  const select = (choices, value, change) => {
    const made = element("select", {class: "bai-input", onchange: () => change(made.value)});
    for (const [key, label] of choices) made.append(element("option", {value: key, selected: key === value}, label));
    return /** @type {any} */ (made);
  };

  /** A box to tick. @returns {HTMLElement & {input: HTMLInputElement}} */
  const checkbox = (label, checked, change, ...before) => {
    const input = /** @type {HTMLInputElement} */ (
      element("input", {type: "checkbox", checked, onchange: () => change(input.checked)})
    );
    const made = element("label", {class: "bai-check"}, input, ...before, element("span", {}, label));
    return Object.assign(made, {input});
  };

  /** A place whose text screen readers say when it changes. @returns {HTMLElement & {say: (text: string) => void}} */
  const announcer = (attributes = {}) => {
    const made = element("p", {role: "status", "aria-live": "polite", class: "bai-status", ...attributes});
    return Object.assign(made, {
      say: (text) => {
        made.textContent = text;
      },
    });
  };

  /** Whether the reader asked for less motion. */
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  /**
   * Buttons that step, play and pause. `step` moves on by one and returns whether there is more; it is called `rate` times a
   * second while playing. Those who asked for less motion get steps only.
   * @param {{step: () => boolean, reset: () => void, rate?: () => number}} options
   * @returns {HTMLElement & {pause: () => void}}
   */
  const player = ({step, reset, rate = () => 10}) => {
    let timer = 0;
    const pause = () => {
      clearTimeout(timer);
      timer = 0;
      play.textContent = "Play";
      play.setAttribute("aria-pressed", "false");
    };
    const tick = () => {
      if (step()) timer = window.setTimeout(tick, 1000 / rate());
      else pause();
    };
    const play = button("Play", () => {
      if (timer) return pause();
      play.textContent = "Pause";
      play.setAttribute("aria-pressed", "true");
      tick();
    });
    play.setAttribute("aria-pressed", "false");
    const one = button("Step", () => {
      pause();
      step();
    });
    const again = button("Back to the start", () => {
      pause();
      reset();
    });
    const made = element("div", {class: "bai-row"}, ...(still() ? [one, again] : [play, one, again]));
    return Object.assign(made, {pause});
  };

  /** Call a function once the calls have ceased for so many milliseconds. */
  const calm = (call, milliseconds = 150) => {
    let timer = 0;
    return (...values) => {
      clearTimeout(timer);
      timer = window.setTimeout(() => call(...values), milliseconds);
    };
  };

  /**
   * A table. @param {string} caption @param {string[]} heads @param {(string|Node)[][]} rows whose first cell names the row
   * @returns {HTMLElement}
   */
  const table = (caption, heads, rows) => {
    const id = freshId();
    const row = ([name, ...cells]) =>
      element("tr", {}, element("th", {scope: "row"}, name), ...cells.map((cell) => element("td", {}, cell)));
    const head = element("tr", {}, ...heads.map((one) => element("th", {scope: "col"}, one)));
    const content = element("table", {"aria-labelledby": id}, element("thead", {}, head), element("tbody", {}, ...rows.map(row)));
    return element(
      "div",
      {class: "bai-table"},
      element("p", {class: "bai-caption", id}, caption),
      element("div", {class: "table-scroll", tabindex: 0, role: "region", "aria-labelledby": id}, content),
    );
  };

  return {element, button, field, slider, select, checkbox, announcer, still, player, calm, table};
})();
