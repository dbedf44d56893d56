/* A click on a figure shows it as large as the window, in the colours of the page; Escape or another click closes it. */
document.addEventListener("click", (event) => {
  const plot = event.target.closest?.("a.plot");
  if (!plot || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "Figure, enlarged");
  const close = Object.assign(document.createElement("button"), { textContent: "Close", autofocus: true });
  const copy = Object.assign(document.createElement("div"), { className: plot.className });
  copy.append(...[...plot.children].map((picture) => picture.cloneNode()));
  dialog.append(close, copy);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
});
