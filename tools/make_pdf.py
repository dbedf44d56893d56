"""Print the built book as one PDF through headless Chromium, with no network.

    python tools/make_pdf.py _build/html _build/book.pdf

All pages, in the order of the table of contents, are put into one document behind a list of them, so that links between
chapters, page numbers and the outline work in the PDF as well. It is printed twice: the list needs the pages on which
chapters begin. That takes about two minutes, and it says how far it is; if the
browser hangs, it ends with an error after 15 minutes, or after as many seconds as ``--limit`` says.
"""

import argparse
import contextlib
import functools
import http.server
import os
import shutil
import sys
import threading

import psutil
from playwright.sync_api import sync_playwright
from pypdf import PdfReader

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LIMIT = 15 * 60  # seconds; a busy machine may be slow, but not that slow

NAMES = """
() => {
  const root = new URL(".", location.href).href;
  const links = [...document.querySelectorAll("nav.bd-links a.internal")];
  return [...new Set(["index.html", ...links.map(a => a.href.slice(root.length).split("#")[0])])].filter(name => name);
}
"""
READ = """
async ([name, names]) => {
  const root = new URL(".", location.href).href, url = root + name;
  const anchor = (name, id) => `${name}--${id}`;
  const page = new DOMParser().parseFromString(await (await fetch(url)).text(), "text/html");
  const article = page.querySelector("article");
  article.querySelectorAll(".headerlink").forEach(e => e.remove());
  article.querySelectorAll("details").forEach(e => { e.open = true; });
  article.querySelectorAll("img.on-dark, form.score-filter").forEach(e => e.remove());
  article.querySelectorAll("img[src]").forEach(e => {
    e.loading = "eager";
    e.src = new URL(e.getAttribute("src"), url).href;
  });
  article.querySelectorAll("a[href]").forEach(e => {
    const target = new URL(e.getAttribute("href"), url);
    const file = target.href.split("#")[0].slice(root.length);
    if (!target.href.startsWith(root)) return;
    if (names.includes(file)) e.setAttribute("href", "#" + anchor(file, target.hash.slice(1)));
    else e.removeAttribute("href");
  });
  article.querySelectorAll("[id]").forEach(e => { e.id = anchor(name, e.id); });
  article.id = anchor(name, "");
  window.articles ??= [];
  article.style.breakBefore = "page";
  articles.push(article);
}
"""
TYPESET = """
async () => {
  document.documentElement.dataset.theme = "light";
  const contents = document.createElement("nav"), list = document.createElement("ul");
  contents.innerHTML = "<p><strong>Contents</strong></p>";
  for (const article of articles) {
    const link = document.createElement("a");
    link.href = "#" + article.id;
    link.textContent = article.querySelector("h1").textContent;
    const item = list.appendChild(document.createElement("li")), number = document.createElement("span");
    item.style = "list-style: none; display: flex; justify-content: space-between; gap: 1rem";
    number.className = "contents-number";
    number.textContent = "000";  // as wide as what the second printing puts there
    item.append(link, number);
  }
  contents.append(list);
  document.body.replaceChildren(contents, ...articles);
  if (window.MathJax) await MathJax.typesetPromise();
  await Promise.all([...document.images].map(image => image.decode()));
}
"""
FILL_IN = """
numbers => document.querySelectorAll(".contents-number").forEach((e, place) => { e.textContent = numbers[place]; })
"""
NUMBER = '<div style="width: 100%; font-size: 8px; text-align: center"><span class="pageNumber"></span></div>'


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def log_message(self, *args):
        pass

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")  # the folder stays as it is
        super().end_headers()


@contextlib.contextmanager
def serve(folder):
    """Serve a folder on this machine only; yields its address."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextlib.contextmanager
def chromium(program=CHROMIUM):
    """A headless browser of this machine."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, timeout=1000 * LIMIT)
        yield browser
        browser.close()


def open_page(browser, address, **options):
    """Open the page at an address, wait for its formulas, and return it."""
    page = browser.new_page(**options)
    page.set_default_timeout(1000 * LIMIT)
    visit(page, address)
    return page


def visit(page, address):
    """Go to the page at an address, and wait for its formulas."""
    page.goto(address)
    page.evaluate("window.MathJax?.startup?.promise")


def make_pdf(browser, address, pdf, say=lambda text: None, only=None):
    """Print the site served at an address, or only some of its pages; `say` is told how far it is."""
    page = open_page(browser, address + "index.html")
    names = only or page.evaluate(NAMES)
    for number, name in enumerate(names, 1):
        say(f"page {number} of {len(names)}: {name}")
        page.evaluate(READ, [name, names])
    say("typesetting formulas")
    page.evaluate(TYPESET)
    say("printing, which takes longest")
    print_page(page, pdf)
    say("printing again, with the numbers of pages in the contents")
    page.evaluate(FILL_IN, first_pages(pdf))
    print_page(page, pdf)
    page.close()


def first_pages(pdf):
    """On which page each chapter begins, by the outline."""
    reader = PdfReader(pdf)
    chapters = [entry for entry in reader.outline if not isinstance(entry, list)]
    return [reader.get_destination_page_number(entry) + 1 for entry in chapters]


def print_page(page, pdf):
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "18mm")
    # scale 0.85: what fits on the site at its usual width fits on the sheet
    page.pdf(
        path=str(pdf),
        format="A4",
        scale=0.85,
        margin=margins,
        print_background=True,
        tagged=True,
        outline=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=NUMBER,
    )


def give_up(limit):
    """End this process and the browser, wherever it hangs."""
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    print(f"error: the browser has not printed the book within {limit:g} seconds", file=sys.stderr, flush=True)
    os._exit(1)


def main():
    parser = argparse.ArgumentParser(description="Print the built book as one PDF.")
    parser.add_argument("site", help="the folder of the built book, such as _build/html")
    parser.add_argument("pdf", help="the file to write")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds after which it gives up (default: %(default)s)"
    )
    parser.add_argument("--browser", default=CHROMIUM, help="the program of Chromium (default: that of this machine)")
    options = parser.parse_args()
    if not options.browser:
        sys.exit("no chromium found: install it, for example with: apt-get install chromium")
    watch = threading.Timer(options.limit, give_up, [options.limit])
    watch.daemon = True
    watch.start()
    with serve(options.site) as site, chromium(options.browser) as program:
        make_pdf(program, site, options.pdf, functools.partial(print, file=sys.stderr, flush=True))


if __name__ == "__main__":
    main()
