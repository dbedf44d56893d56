// Shows what a link leads to beside it, on hover and on keyboard focus; see _ext/previews.py. Escape closes it.
(() => {
  const script = document.currentScript.src, root = new URL("../", script).href;
  let texts, popup, link, timer;
  const load = () => texts ??= new Promise(resolve => {
    const tag = document.createElement("script");
    tag.src = new URL("preview-texts.js", script).href;
    tag.onload = () => resolve(window.bookPreviews);
    tag.onerror = () => resolve({});
    document.head.append(tag);
  });
  const hide = () => {
    clearTimeout(timer);
    link?.removeAttribute("aria-describedby");
    popup?.remove();
    popup = link = undefined;
  };
  const show = async target => {
    const key = decodeURI(target.href).slice(root.length);
    const text = (await load())[key];
    if (!text || link !== target) return;
    popup = document.createElement("div");
    popup.className = "book-preview";
    popup.id = "book-preview";
    popup.setAttribute("role", "tooltip");
    popup.innerHTML = text;
    popup.addEventListener("mouseenter", () => clearTimeout(timer));
    popup.addEventListener("mouseleave", later);
    document.body.append(popup);
    target.setAttribute("aria-describedby", popup.id);
    await window.MathJax?.typesetPromise?.([popup]);
    if (link !== target) return;
    const box = target.getBoundingClientRect(), size = popup.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - size.width - 8));
    const below = box.bottom + size.height + 8 < innerHeight || box.top < size.height + 8;
    popup.style.left = `${left + scrollX}px`;
    popup.style.top = `${scrollY + (below ? box.bottom + 4 : box.top - size.height - 4)}px`;
    popup.style.visibility = "visible";
  };
  const later = () => { clearTimeout(timer); timer = setTimeout(hide, 250); };
  const begin = (event, wait) => {
    const target = event.target.closest?.("article a.internal[href*='#'], article a.reference[href*='#']");
    if (!target || target.closest(".book-preview") || target === link || !target.href.startsWith(root)) return;
    hide();
    link = target;
    timer = setTimeout(() => show(target), wait);
  };
  document.addEventListener("mouseover", event => begin(event, 250));
  document.addEventListener("mouseout", event => { if (link && event.target.closest?.("a") === link) later(); });
  document.addEventListener("focusin", event => begin(event, 0));
  document.addEventListener("focusout", event => { if (event.target === link) hide(); });
  document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
})();
