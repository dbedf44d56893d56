// One slide at a time: arrow keys, space or a tap; the address remembers the place.
const slides = [...document.querySelectorAll("section")];
let place = Math.min(Math.max(Number(location.hash.slice(1)) || 1, 1), slides.length);
const fit = (slide) => {
  // Smaller letters where a long statement would not fit on the screen.
  for (let size = 100; size >= 60; size -= 5) {
    slide.style.fontSize = `${size}%`;
    if (slide.scrollHeight <= window.innerHeight) break;
  }
};
const show = (next) => {
  place = Math.min(Math.max(next, 1), slides.length);
  slides.forEach((slide, number) => slide.classList.toggle("now", number === place - 1));
  fit(slides[place - 1]);
  history.replaceState(null, "", `#${place}`);
};
document.addEventListener("keydown", (event) => {
  if (["ArrowRight", "PageDown", " "].includes(event.key)) show(place + 1);
  if (["ArrowLeft", "PageUp"].includes(event.key)) show(place - 1);
});
document.addEventListener("click", (event) => show(place + (event.clientX < window.innerWidth / 3 ? -1 : 1)));
show(place);
addEventListener("resize", () => show(place));
addEventListener("load", () => {
  show(place);
  window.MathJax?.startup?.promise?.then(() => show(place)); // formulas have another height once they are typeset
});
