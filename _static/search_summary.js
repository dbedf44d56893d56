// Search results show the sentence that holds the words, not the page's list of contents, its code or raw TeX.
addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  Search.makeSearchSummary = (page, words, anchor) => {
    const article = new DOMParser().parseFromString(page, "text/html").querySelector("article.bd-article, [role=main]");
    if (!article) return null;
    for (const e of article.querySelectorAll(".math, .headerlink, script, style, pre, nav, .toctree-wrapper, .eqno"))
      e.replaceWith(e.matches("span.math") ? "…" : "");
    const part = (anchor && article.querySelector(anchor)) || article;
    const texts = [...part.querySelectorAll("p, li, dd, td, figcaption")]
      .map(e => e.textContent.replace(/\s+/g, " ").trim()).filter(text => /[.?!:)]$/.test(text));
    const stems = [...words].map(word => word.toLowerCase());
    const score = text => stems.filter(stem => text.toLowerCase().includes(stem)).length;
    const best = texts.reduce((a, b) => score(b) > score(a) ? b : a, texts[0] ?? "");
    if (!best) return null;
    const sentences = best.match(/[^.!?]+[.!?]*(?:\s|$)/g) ?? [best];
    const first = Math.max(0, sentences.findIndex(sentence => score(sentence) > 0));
    let said = "";
    for (const sentence of sentences.slice(first)) {
      if (said && said.length + sentence.length > 240) break;
      said += sentence;
    }
    const summary = document.createElement("p");
    summary.className = "context";
    summary.textContent = said.length > 300 ? `${said.slice(0, 280).replace(/\s\S*$/, "")} …` : said.trim();
    return summary;
  };
});
