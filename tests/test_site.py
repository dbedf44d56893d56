"""The site as a reader meets it: built without a warning, then opened page by page in a real browser."""

import re
import socket
import subprocess
import sys
import time
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "_ext")]

pytest.importorskip("jupyter_book", reason="jupyter-book is not installed")
make_pdf = pytest.importorskip("make_pdf", reason="playwright is not installed")
from lists import LICENCE, exercises, figures, notebooks  # noqa: E402
from policies import NAMES  # noqa: E402

needs_chromium = pytest.mark.skipif(not make_pdf.CHROMIUM, reason="no chromium on this machine")

# What axe-core may report, and why it is not ours to mend.
AXE_EXCEPTIONS = {  # (rule, what its element contains): reason
    ("summary-name", "<summary>"): "the theme's arrow that opens a section in the sidebar has no name",
    ("aria-required-children", "citation-list"): "Sphinx marks bibliography entries as biblioentry in a list",
}

FACTS = """
() => ({
  ids: [...document.querySelectorAll("[id], a[name]")].flatMap(e => [e.id, e.name]).filter(x => x),
  links: [...document.querySelectorAll("a[href]")].map(a => a.href),
  // The mark of the book stands beside its name, so it has nothing to say; figures out of sight are not loaded yet.
  images: [...document.images].filter(i => !i.matches(".logo__image, [loading=lazy]"))
    .filter(i => !(i.alt || "").trim() || !i.naturalWidth).map(i => i.src),
  figures: [...document.querySelectorAll("img[loading=lazy]")].map(i => [i.src, i.alt.trim()]),
  math: document.querySelectorAll(".math").length,
  plainMath: [...document.querySelectorAll(".math")].filter(e => !e.querySelector("mjx-container"))
    .map(e => e.textContent.slice(0, 80)),
  // Statements must fit on a phone; other formulas may scroll, and a shadow says so.
  cutStatements: [...document.querySelectorAll(".proof div.math")].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => `${e.closest(".proof").id} by ${e.scrollWidth - e.clientWidth} px`),
  unsignedScroll: [...document.querySelectorAll("div.math, .table-scroll")]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && !getComputedStyle(e).backgroundImage.includes("gradient"))
    .map(e => e.textContent.slice(0, 80)),
  // Captions of wide tables stay in sight while the table scrolls.
  lostCaptions: [...document.querySelectorAll(".table-scroll")].filter(e => e.scrollWidth > e.clientWidth + 1)
    .filter(e => e.querySelector("caption")).filter(e => {
      e.scrollLeft = e.scrollWidth;
      const caption = e.querySelector("caption").getBoundingClientRect(), box = e.getBoundingClientRect();
      e.scrollLeft = 0;
      return caption.left < box.left - 1 || caption.right > box.right + 1;
    }).map(e => e.textContent.slice(0, 80)),
  tinyText: [...document.querySelectorAll("a.plot img")].filter(i => i.clientWidth)
    .map(i => [i.getAttribute("src"), i.clientWidth]),
  brokenMath: [...document.querySelectorAll("mjx-merror, mjx-mtext[style*=red]")]  // red: an unknown macro
    .map(e => e.outerHTML.slice(0, 200)),
})
"""
OPEN_SOLUTIONS = """
async () => {
  const solutions = [...document.querySelectorAll(".solution.dropdown")];
  const shown = e => e.lastElementChild.checkVisibility({visibilityProperty: true});
  const open = solutions.filter(shown);
  solutions.forEach(e => e.querySelector("button.toggle-button").click());
  for (let tries = 0; tries < 100 && !solutions.every(shown); tries++)
    await new Promise(resolve => setTimeout(resolve, 20));
  return [...open, ...solutions.filter(e => !shown(e))].map(e => e.id);
}
"""
# How the names of policies are set: as what, and with which box and type.
NAME_LOOKS = """
names => {
  const name = new RegExp("(?<![\\\\w.])(" + names.join("|") + ")(?!\\\\w)", "g"), looks = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const other = "code:not(.policy), pre, script, style, svg, option, button, mjx-container, .math, .citation";
  while (texts.nextNode()) {
    const text = texts.currentNode, e = text.parentElement;
    const whole = names.includes(text.data.trim()) && e.closest("code");
    if (!text.data.match(name) || (e.closest(other) && !whole) || e.closest("pre, dt.sig, [class*=live]")) continue;
    const s = getComputedStyle(e.closest("code") ?? e);
    looks.add(e.closest("code.policy") ? [s.fontFamily, s.padding, s.borderWidth, s.backgroundColor].join() :
      `plain or other code: ${text.data.trim().slice(0, 60)}`);
  }
  return [...looks];
}
"""
CUT_CODE = """
() => [...document.querySelectorAll("div.cell_input pre")]
  .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 80))
"""
# What would take axe a minute a page: formulas, which are MathJax's to make accessible, and all but one token of each
# kind in highlighted code.
WITHOUT_FORMULAS = "document.querySelectorAll('mjx-container').forEach(e => e.replaceChildren())"
WITHOUT_TOKENS = """
() => {
  const seen = new Set(), first = token => !seen.has(token.className) && seen.add(token.className);
  for (const code of document.querySelectorAll(".highlight pre"))
    code.replaceChildren(...[...code.childNodes].filter(part => !part.className || first(part)));
}
"""
# axe measures colours where they are not known yet: once for text of the same colour and size on the same backgrounds,
# and once for links that look alike amid text that looks alike, on whichever page they come first. This marks them.
NEW_LOOKS = """
(theme, known) => {
  document.getAnimations().forEach(a => a.finish());  // a text that fades in has a look of its own at every moment
  const behind = new Map();  // what is painted behind an element
  const painted = e => {
    if (!e) return "";
    if (!behind.has(e)) {
      const s = getComputedStyle(e), plain = s.backgroundColor === "rgba(0, 0, 0, 0)" && s.backgroundImage === "none";
      const own = plain && s.opacity === "1" ? "" : [s.backgroundColor, s.backgroundImage, s.opacity, ""].join();
      behind.set(e, own + painted(e.parentElement));
    }
    return behind.get(e);
  };
  const looks = new Map(), seen = new Set(), before = new Set(known);
  const note = (e, look) => {
    if (!before.has(look) && !looks.has(look) && e.checkVisibility({visibilityProperty: true})) looks.set(look, e);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (seen.has(e) || !texts.currentNode.data.trim()) continue;
    seen.add(e);
    const own = getComputedStyle(e);
    note(e, [own.color, own.fontSize, own.fontWeight, own.textShadow, painted(e)].join());
  }
  for (const e of document.querySelectorAll("a[href]")) {
    const own = getComputedStyle(e), around = getComputedStyle(e.parentElement);
    const look = s => [s.color, s.fontSize, s.fontWeight, s.fontStyle, s.display, s.textDecoration, s.borderBottom];
    note(e, ["link", ...look(own), ...look(around), painted(e)].join());
  }
  looks.forEach(e => e.dataset[theme] = "");
  return [...looks.keys()];
}
"""
# axe takes its time for what it reads, and most for where it stands on the page, so for colours it gets no part of the
# text without a mark: what is beside a text does not change its colours.
WITHOUT_UNMARKED = """
() => [...document.querySelectorAll("section > *, .bd-sidebar-primary, .bd-sidebar-secondary, header, footer")]
  .filter(e => !e.matches("[data-light], [data-dark]") && !e.querySelector("[data-light], [data-dark]"))
  .forEach(e => e.remove())
"""
MEASURE_MARKED = """
async theme => {
  document.documentElement.dataset.theme = theme;
  const rules = [
    {id: "color-contrast", selector: `[data-${theme}]`}, {id: "link-in-text-block", selector: `a[href][data-${theme}]`},
  ];
  axe.configure({rules});
  const options = {preload: false, resultTypes: ["violations"], runOnly: rules.map(rule => rule.id)};
  return (await axe.run(options)).violations;
}
"""
# That all text stands in a landmark would be moderate, and takes long.
MEASURE_REST = """
async () => {
  const without = ["region", "color-contrast", "link-in-text-block"];
  const rules = Object.fromEntries(without.map(id => [id, {enabled: false}]));
  return (await axe.run({preload: false, resultTypes: ["violations"], rules})).violations;
}
"""
# Whether something on a page waits until it is drawn, or, as live parts do, until it is in sight.
NOTE_WAITING = """
const usual = window.requestAnimationFrame;
window.requestAnimationFrame = (...given) => { window.waiting = true; return usual(...given); };
"""
WAITING = "Boolean(window.waiting || document.querySelector('[class*=bai-live]'))"
DRAWN = "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
ON_A_PHONE = f"""
async names => {{
  document.documentElement.offsetWidth;  // asks for the fonts of formulas, which change their size
  await document.fonts.ready;
  return {{
    ...({FACTS})(),
    closed: await ({OPEN_SOLUTIONS})(),
    overhang: document.documentElement.scrollWidth - window.innerWidth,
    nameLooks: ({NAME_LOOKS})(names),
  }};
}}
"""
ON_A_LAPTOP = f"""
async known => {{
  const cutCode = ({CUT_CODE})(), measureMarked = {MEASURE_MARKED};
  {WITHOUT_FORMULAS};
  ({WITHOUT_TOKENS})();
  const light = ({NEW_LOOKS})("light", known);
  const rest = await ({MEASURE_REST})();
  document.documentElement.dataset.theme = "dark";
  const dark = ({NEW_LOOKS})("dark", [...known, ...light]);
  ({WITHOUT_UNMARKED})();
  const seen = {{
    cutCode,
    dark: dark.length ? await measureMarked("dark") : [],
    axe: [...rest, ...(light.length ? await measureMarked("light") : [])],
    looks: [...light, ...dark],
  }};
  document.body.style.display = "none";  // or the page would be laid out once more at the next width
  return seen;
}}
"""
AXE = "_static/axe.js"
LANDING = ("index.html", "chapters/in_short.html")
END = "document.querySelector('article').getBoundingClientRect().bottom + scrollY"
PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1400, "height": 900}


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """The folder of the built site, and what the build said."""
    folder = tmp_path_factory.mktemp("site")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ROOT, "--path-output", folder]
    start = time.perf_counter()
    done = subprocess.run([*command, "-n", "-W", "--keep-going"], capture_output=True, text=True)
    print(f"the site was built in {time.perf_counter() - start:.0f} s")
    return folder / "_build" / "html", done


@pytest.fixture(scope="session")
def site(build, browser):
    from axe_playwright_python.base import AXE_SCRIPT

    html, _ = build
    (html / AXE).write_text(AXE_SCRIPT, encoding="utf-8")  # from there the browser compiles it once, not for every page
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # The pages live for a second or so, too short for the compilers that make JavaScript fast to pay.
    flags = ["--js-flags=--no-maglev --no-turbofan", f"--remote-debugging-port={port}"]
    with make_pdf.serve(html) as address:
        patient = browser.browser_type.launch(executable_path=make_pdf.CHROMIUM, args=flags)
        yield html, address, patient, f"http://127.0.0.1:{port}"
        patient.close()


@pytest.fixture(scope="session")
def page(site):
    """Where one page after the other is opened, so that the browser loads once what they share.

    It has a connection of its own to the browser, by which its window counts as out of sight when it is minimized. On
    others Playwright has every page drawn all the time.
    """
    _, _, browser, door = site
    connection = browser.browser_type.connect_over_cdp(door, no_defaults=True)
    page = connection.contexts[0].new_page()
    page.set_default_timeout(1000 * make_pdf.LIMIT)
    page.emulate_media(reduced_motion="reduce")
    yield page
    connection.close()


class Window:
    """The window of a page; while it is hidden the page is laid out where a script asks for it, and never drawn."""

    def __init__(self, page):
        self.page, self.browser = page, page.context.new_cdp_session(page)
        self.number = self.browser.send("Browser.getWindowForTarget")["windowId"]

    def become(self, state):
        self.browser.send("Browser.setWindowBounds", {"windowId": self.number, "bounds": {"windowState": state}})

    def hide(self):
        self.become("minimized")

    def show(self):
        self.become("normal")
        self.page.evaluate(DRAWN)


@pytest.fixture(scope="session")
def visits(site, page):
    """Every page, opened at the width of a phone and of a laptop, and what was seen there."""
    html, address, *_ = site
    visits = {}
    noise, known = [], []
    window = Window(page)
    page.add_init_script(NOTE_WAITING)
    page.on("console", lambda m: m.type == "error" and noise.append(f"console: {m.text}"))
    page.on("pageerror", lambda e: noise.append(f"error: {e}"))
    # What a page still loads when it is left, such as a figure that has come into sight, is aborted and no failure.
    page.on("requestfailed", lambda r: r.failure == "net::ERR_ABORTED" or noise.append(f"failed: {r.url}"))
    page.on("response", lambda r: r.status >= 400 and noise.append(f"{r.status}: {r.url}"))
    page.on(
        "request",
        lambda r: r.url.startswith((address, "data:", "blob:")) or noise.append(f"foreign: {r.url}"),
    )
    for file in sorted(html.rglob("*.html")):
        name = file.relative_to(html).as_posix()
        if name.startswith("_"):
            continue
        noise.clear()
        window.hide()
        page.set_viewport_size(PHONE)
        make_pdf.visit(page, address + name)
        if waits := page.evaluate(WAITING):
            window.show()
        seen = page.evaluate(ON_A_PHONE, NAMES)
        page.set_viewport_size(LAPTOP)
        if waits:
            page.evaluate(DRAWN)
            window.hide()
        if name in LANDING:
            seen["end"] = page.evaluate(END)
        page.add_script_tag(url=address + AXE)
        seen |= page.evaluate(ON_A_LAPTOP, known)
        known += seen.pop("looks")
        seen["noise"] = list(noise)
        visits[name] = seen
    window.show()
    return visits


def wrong(visits, fact):
    return {name: seen[fact] for name, seen in visits.items() if seen[fact]}


def test_book_builds_without_warning(build):
    html, done = build
    assert re.findall(".*(?:WARNING|ERROR).*", done.stdout + done.stderr) == []
    assert done.returncode == 0, done.stderr
    assert (html / "index.html").exists()


def test_api_page_has_every_public_name(build):
    bai = pytest.importorskip("bai")
    page = "".join(path.read_text() for path in sorted((build[0] / "reference" / "api").glob("*.html")))
    assert [name for name in bai.__all__ if not re.search(rf'id="(module-)?bai\.{name}"', page)] == []


def test_exercise_page_lists_every_exercise(build):
    page = (build[0] / "chapters" / "exercises.html").read_text()
    listed = re.findall(r'href="[\w.]*#(ex-[\w-]+)"', page)
    assert listed == [label for notebook in notebooks().values() for _, label in exercises(notebook)]


def test_figures_are_offered_in_three_formats_with_their_licence(build):
    folder = build[0] / "chapters"
    offered = re.findall(r'<a href="(figures/[\w-]+\.\w+)" download', (folder / "figures.html").read_text())
    names = [about["figure"]["name"] for notebook in notebooks().values() for about, _ in figures(notebook)]
    assert offered == [f"figures/{name}.{ending}" for name in names for ending in ("svg", "png", "pdf")]
    assert len(names) > 20 and all(LICENCE.encode() in (folder / file).read_bytes() for file in offered)
    begins = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert [file for file in offered if not (folder / file).read_bytes().startswith(begins[file[-3:]])] == []


def test_launch_buttons_appear_only_where_the_address_is_known(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "_ext")
    from book import add_launch_buttons

    config = SimpleNamespace(html_theme_options={})
    monkeypatch.delenv("BOOK_REPOSITORY_URL", raising=False)
    add_launch_buttons(None, config)
    assert config.html_theme_options == {}
    monkeypatch.setenv("BOOK_REPOSITORY_URL", "https://git.example/owner/name")
    add_launch_buttons(None, config)
    assert config.html_theme_options["repository_url"] == "https://git.example/owner/name"


@needs_chromium
def test_pages_load_without_error_or_request_elsewhere(visits):
    assert "index.html" in visits
    assert wrong(visits, "noise") == {}


@needs_chromium
def test_math_is_typeset_on_every_page_that_has_any(visits):
    assert any(seen["math"] for seen in visits.values())
    assert wrong(visits, "plainMath") == {}
    assert wrong(visits, "brokenMath") == {}


@needs_chromium
def test_internal_links_and_anchors_resolve(site, visits):
    html, address, *_ = site
    broken = []
    for name, seen in visits.items():
        for link in seen["links"]:
            target, anchor = (unquote(part) for part in urldefrag(link))
            file = target.removeprefix(address) or "index.html"
            if not target.startswith(address):
                continue
            known = file in visits and anchor in ["", *visits[file]["ids"]]
            if not known and not (file not in visits and (html / file).is_file()):
                broken.append(f"{name} -> {file}#{anchor}")
    assert broken == []


@needs_chromium
def test_no_link_carries_a_placeholder(visits):
    assert [link for seen in visits.values() for link in seen["links"] if "REPOSITORY" in link] == []


@needs_chromium
def test_landing_page_fits_in_one_screen_of_a_laptop(visits):
    assert visits["index.html"]["end"] <= 900 < visits["chapters/in_short.html"]["end"]


@needs_chromium
def test_solutions_open_when_clicked(visits):
    assert wrong(visits, "closed") == {}


@needs_chromium
def test_no_page_scrolls_sideways_on_a_phone(visits):
    assert {name: seen["overhang"] for name, seen in visits.items() if seen["overhang"] > 0} == {}


@needs_chromium
def test_images_load_and_have_alt_text(site, visits):
    assert wrong(visits, "images") == {}
    html, address, *_ = site
    drawn = [figure for seen in visits.values() for figure in seen["figures"]]
    assert len(drawn) > 80
    assert [source for source, alt in drawn if not alt or not (html / source.removeprefix(address)).is_file()] == []


@needs_chromium
def test_axe_finds_no_serious_violation(visits):
    found = {
        (name, rule["id"], node["html"][:120])
        for name, seen in visits.items()
        for rule in seen["axe"]
        for node in rule["nodes"]
        if rule["impact"] in ("serious", "critical")
        and not any(rule["id"] == known and part in node["html"] for known, part in AXE_EXCEPTIONS)
    }
    assert found == set()


@needs_chromium
def test_text_has_contrast_on_dark_pages_too(visits):
    serious = [
        (name, node["html"][:120])
        for name, seen in visits.items()
        for rule in seen["dark"]
        for node in rule["nodes"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


@needs_chromium
def test_statements_fit_on_a_phone_and_what_scrolls_says_so(visits):
    assert wrong(visits, "cutStatements") == {}
    assert wrong(visits, "unsignedScroll") == {}


@needs_chromium
def test_captions_of_wide_tables_stay_in_sight(visits):
    assert wrong(visits, "lostCaptions") == {}


@needs_chromium
def test_names_of_policies_have_one_look(visits):
    # Slides are made from the cells alone; the index and the page of the classes name classes of Python.
    others = ("chapters/slides/", "genindex", "reference/api/policies")
    pages = {name: seen for name, seen in visits.items() if not name.startswith(others)}
    looks = {look: name for name, seen in pages.items() for look in seen["nameLooks"]}
    assert len(looks) == 1, looks


@needs_chromium
def test_no_line_of_code_is_cut_on_a_laptop(visits):
    assert wrong(visits, "cutCode") == {}


@needs_chromium
def test_no_text_in_a_figure_is_under_ten_pixels_on_a_phone(site, visits):
    html, *_ = site
    small = set()
    for name, seen in visits.items():
        for source, shown in seen["tinyText"]:
            svg = (html / name).parent.joinpath(source).read_text(encoding="utf-8")
            width = float(re.search(r'viewBox="\S+ \S+ (\S+)', svg)[1])
            sizes = [float(size) for size in re.findall(r"font: (?:\w+ )*([\d.]+)px", svg)]
            sizes += [float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)]
            if sizes and min(sizes) * shown / width < 10 and not tiny_exponents_only(svg, shown / width):
                small.add((name, round(min(sizes) * shown / width, 1)))
    assert small == set()


def tiny_exponents_only(svg, scale):
    """Whether only sub- and superscripts of formulas are small: they are, in any book."""
    plain = re.findall(r'<text style="font: (?:\w+ )*([\d.]+)px', svg)
    return all(float(size) * scale >= 10 for size in plain)


def test_figures_have_a_light_and_a_dark_copy_and_no_slab_behind_them(build):
    html, _ = build
    drawings = list((html / "_images").glob("*-light.svg"))
    assert len(drawings) > 40
    for light in drawings:
        dark = light.with_name(light.name.replace("-light", "-dark"))
        texts = light.read_text(encoding="utf-8"), dark.read_text(encoding="utf-8")
        assert "#262626" in texts[0] and "#262626" not in texts[1]
        assert not any('<g id="patch_1">' in text for text in texts)


def test_redrawn_figures_of_the_paper_carry_a_badge(build):
    html, _ = build
    badges = [
        badge
        for page in (html / "chapters").glob("*.html")
        for badge in re.findall(r'class="badge-of-the-paper">([^<]*)<', page.read_text(encoding="utf-8"))
    ]
    assert {f"Figure {n} of the paper" for n in (1, 2, 3, 4, 5, 6)} <= {badge.rstrip(".") for badge in badges}


@needs_chromium
def test_search_finds_shadavar(site, page):
    _, address, *_ = site
    make_pdf.visit(page, address + "search.html?q=SHAdaVar")
    page.wait_for_selector("#search-results li a")


@needs_chromium
def test_a_visitor_can_switch_to_dark_mode(site, page):
    _, address, *_ = site
    page.emulate_media(color_scheme="dark")
    make_pdf.visit(page, address + "index.html")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(color_scheme="light")


@needs_chromium
def test_a_figure_that_is_clicked_is_enlarged_once_and_closes_again(site, page):
    _, address, *_ = site
    make_pdf.visit(page, address + "chapters/introduction.html")
    page.locator("a.plot").first.click()
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("dialog").count() == 0


PRINTED = ["index.html", "chapters/scoreboard.html", "chapters/analysis.html", "chapters/setting.html"]


@needs_chromium
def test_pdf_has_contents_outline_page_numbers_and_links_that_stay_inside(site, tmp_path):
    """A few pages; the workflow that publishes the book prints all."""
    pypdf = pytest.importorskip("pypdf")
    html, address, browser, _ = site
    said = []
    make_pdf.make_pdf(browser, address, tmp_path / "book.pdf", said.append, only=PRINTED)
    assert said[0] == f"page 1 of {len(PRINTED)}: index.html" and len(said) == len(PRINTED) + 3
    pdf = pypdf.PdfReader(tmp_path / "book.pdf")
    chapters = [entry for entry in pdf.outline if not isinstance(entry, list)]
    titles = [title(html / page) for page in PRINTED]
    assert [" ".join(entry.title.split()) for entry in chapters] == titles
    begins = [pdf.get_destination_page_number(entry) for entry in chapters]
    assert begins[0] == 1 and begins == sorted(set(begins)) and len(pdf.pages) > 5 * len(chapters)
    contents = " ".join(pdf.pages[0].extract_text().split())
    assert contents.startswith("Contents") and all(title.split()[-1] in contents for title in titles)
    numbers = re.findall(r"(\d+)\s*$", pdf.pages[0].extract_text(), re.M)
    assert numbers[: len(titles)] == [str(page + 1) for page in begins]
    assert len(pdf.pages[0]["/Annots"]) >= len(titles)
    assert [page.extract_text().split()[-1] for page in pdf.pages[1:4]] == ["2", "3", "4"]
    links = [note.get_object().get("/A", {}).get("/URI", "") for page in pdf.pages for note in page.get("/Annots", [])]
    assert not [link for link in links if "127.0.0.1" in link]


@needs_chromium
def test_pdf_would_hold_every_page_in_order(site, page):
    _, address, *_ = site
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    make_pdf.visit(page, address + "index.html")
    assert page.evaluate(make_pdf.NAMES) == [
        f"{name}.html" for name in re.findall(r"^\W*(?:root|file): (\S+)", toc, re.M)
    ]


def test_pdf_tool_ends_with_an_error_if_the_browser_hangs(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nexec sleep 30\n")
    browser.chmod(0o755)
    tool = [sys.executable, ROOT / "tools" / "make_pdf.py", tmp_path, tmp_path / "book.pdf", "--limit", "2"]
    done = subprocess.run([*tool, "--browser", browser], capture_output=True, text=True)
    assert done.returncode == 1 and "has not printed the book within 2 seconds" in done.stderr
    assert not (tmp_path / "book.pdf").exists()


def title(page):
    """The heading of a page."""
    heading = re.search(r"<h1>([^\n]*?)<a class=.headerlink", page.read_text(encoding="utf-8"))[1]
    return " ".join(unescape(re.sub("<.*?>", "", heading)).split())
