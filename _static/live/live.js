// The page's side of the engine: starts the worker when it is first needed, and passes orders to it.
//
// See README.md in this folder for the interface. Works from file:// and from any host: the worker's source and the
// compiled loops come as text in engine.js, a plain script.
"use strict";

window.baiLive = (() => {
  const here = new URL(".", document.currentScript.src).href;
  /** @type {Promise<Worker>|undefined} */
  let starting;
  let last = 0;
  /** @type {Map<number, {resolve: Function, reject: Function, progress?: Function}>} */
  const waiting = new Map();

  /** Load a plain script once. @param {string} address @returns {Promise<void>} */
  const load = (address) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve();
      script.onerror = () => reject(new Error(`cannot load ${address}`));
      document.head.append(script);
    });

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

  const start = async () => {
    if (!possible()) throw new Error("this browser has no WebAssembly");
    await load(`${here}engine.js`);
    const {source, bai, libm} = window.baiEngine;
    const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
    const worker = new Worker(address);
    worker.onmessage = ({data}) => {
      const order = waiting.get(data.id);
      if (!order) return;
      if ("progress" in data) return order.progress?.(data.progress);
      waiting.delete(data.id);
      if (data.error) order.reject(new Error(data.error));
      else if (data.cancelled) order.reject(new DOMException("called off", "AbortError"));
      else order.resolve(data.result);
    };
    worker.onerror = (event) => {
      for (const {reject} of waiting.values()) reject(new Error(event.message));
      waiting.clear();
    };
    worker.postMessage({order: "start", bai: bytes(bai), libm: bytes(libm)});
    return worker;
  };

  /**
   * Send an order to the worker.
   * @param {string} order
   * @param {object} given
   * @param {{signal?: AbortSignal, progress?: (done: number) => void}} [options]
   */
  const ask = async (order, given, {signal, progress} = {}) => {
    signal?.throwIfAborted();
    const worker = await (starting ??= start());
    signal?.throwIfAborted();
    const id = ++last;
    return new Promise((resolve, reject) => {
      waiting.set(id, {resolve, reject, progress});
      signal?.addEventListener("abort", () => worker.postMessage({order: "cancel", id}), {once: true});
      worker.postMessage({id, order, given});
    });
  };

  /**
   * Fill every box of a live part. Where the engine cannot run, what stands there stays.
   * @param {string} name
   * @param {(box: HTMLElement, tools: {ui: any, chart: any, stats: any, book: any}) => void} fill
   */
  const register = (name, fill) => {
    if (!possible()) return;
    for (const place of document.querySelectorAll(`.bai-live[data-live="${name}"]`)) {
      const box = document.createElement("div");
      box.className = "bai-live-box";
      fill(box, {ui: window.baiUI, chart: window.baiChart, stats: window.baiStats, book: window.baiBook});
      place.append(box);
      place.classList.add("bai-live-on");
    }
  };

  // The smallest module with an instruction on vectors, which bai.wasm has too.
  const VECTORS = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];

  /** Whether the engine can run here at all. */
  const possible = () =>
    typeof WebAssembly === "object" && typeof Worker === "function" && WebAssembly.validate(Uint8Array.from(VECTORS));

  return {
    here,
    register,
    possible,
    load,
    simulate: (given, options) => ask("simulate", given, options),
    trace: (given, options) => ask("trace", given, options),
    instances: (problem) => ask("instances", {problem}),
    leastBudget: (policy, arms) => ask("least", {policy, arms}),
    factors: (given) => ask("factors", given),
    evaluate: (name, values) => ask("evaluate", {name, values}),
  };
})();
