// Lets readers filter the scoreboard by verdict, section and reading. Without it the table is complete and plain.
addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.scoreboard");
  if (!table) return;
  const rows = [...table.tBodies[0].rows];
  const values = name => [...new Set(rows.flatMap(row => row.dataset[name].split(name === "answers" ? " " : ", ")))];
  const names = Object.fromEntries([...document.querySelectorAll(".score-picture > li")]
    .map(e => [e.className.replace("score-", ""), e.querySelector("span > span").nextSibling.data.trim()]));
  const words = answer => answer.replace(/(.*)-(.*)/, (_, reading, said) =>
    `${said} ${reading === "published" ? "on the published points" : `under ${reading}`}`);
  const form = document.createElement("form"), shown = document.createElement("output");
  form.className = "score-filter";
  const choose = (title, name, text) => {
    const label = form.appendChild(document.createElement("label"));
    const select = document.createElement("select");
    select.name = name;
    select.add(new Option("all", ""));
    for (const value of values(name)) select.add(new Option(text(value), value));
    label.append(title, select);
  };
  choose("verdict", "kind", kind => names[kind] ?? kind);
  choose("section", "sections", section => section);
  choose("reading", "answers", words);
  form.append(shown);
  const show = () => {
    for (const row of rows)
      row.hidden = ["kind", "sections", "answers"].some(name =>
        form.elements[name].value && !row.dataset[name].split(/,? /).includes(form.elements[name].value));
    shown.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} claims shown`;
  };
  form.addEventListener("change", show);
  form.addEventListener("submit", event => event.preventDefault());
  addEventListener("hashchange", () => {  // a link to a claim that is filtered out shows all again
    const target = document.getElementById(location.hash.slice(1));
    if (target?.hidden) { form.reset(); show(); target.scrollIntoView(); }
  });
  table.before(form);
  show();
});
