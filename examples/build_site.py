"""Write ``examples/site``: a small crawl of the documentation of an invented product, saved to disk.

Brindle is a message broker that does not exist. Its pages repeat one another in the ways in which real
ones do: three versions, print views, tracking parameters, mirrors, one text with other numbers. The texts
and the list of pages are in ``site_content``. The same input always gives the same bytes.

    python examples/build_site.py             write the folder
    python examples/build_site.py --check     exit 1 if the folder is not what would be written
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from site_content import COPIES, PAGES, RELEASES, TEXT_FILES, VALUES, Page
from site_content.labels import ADMONITIONS, FOOTERS, LABELS, MENUS, SIDEBARS, TOP_NAV, Links
from site_content.markdown import render_markdown

HERE = Path(__file__).resolve().parent
CONTENT = HERE / "site_content"
NEWEST = tuple(RELEASES)[-1]


# --- texts ---------------------------------------------------------------------------------------

_CONDITION = re.compile(r"@([a-z][\w.,-]*)(?: (.*))?")
_VALUE = re.compile(r"\{\{(\w+)\}\}")
_INCLUDE = re.compile(r"\{\{include ([\w-]+)\}\}\n")


def read_text(content: str, variant: str) -> tuple[dict[str, str], str]:
    """Return the head of a content file, as a dict, and its text, both for one variant."""
    path = CONTENT / content
    text = path.read_text(encoding="utf-8")
    text = _INCLUDE.sub(lambda match: path.with_name(f"{match[1]}.md").read_text(encoding="utf-8"), text)
    text = "\n".join(_choose_lines(text.rstrip("\n").split("\n"), variant))
    text = _VALUE.sub(lambda match: VALUES[variant][match[1]], text)
    head, _, body = text.partition("\n\n")
    return dict(line.split(": ", 1) for line in head.split("\n")), body


def _choose_lines(lines: list[str], variant: str) -> Iterator[str]:
    for line in lines:
        condition = _CONDITION.fullmatch(line)
        if condition is None:
            yield line
        elif variant in condition[1].split(","):
            yield condition[2] or ""


# --- pages ---------------------------------------------------------------------------------------


def render_page(page: Page) -> str:
    """Return the whole file: doctype, the comment of the browser, and the page."""
    if page.template == "raw":
        html = (CONTENT / page.content).read_text(encoding="utf-8")
    else:
        template = Template((CONTENT / "templates" / f"{page.template}.html").read_text(encoding="utf-8"))
        html = template.substitute(_fill_in(page))
    # The "mark of the web": browsers write the length of the address in four digits, then the address.
    return f"<!DOCTYPE html>\n<!-- saved from url=({len(page.url):04d}){page.url} -->\n{html}"


def _fill_in(page: Page) -> dict[str, str]:
    """Return what stands for each name in the template of ``page``."""
    head, body = read_text(page.content, page.variant)
    labels = LABELS[page.language]
    values = {
        **labels,
        "lang_attribute": "" if "lang" in page.omit else _render_language(page.language),
        "head": _render_head(page, head),
        "body": render_markdown(body, ADMONITIONS.get(page.language, {})),
        "content": page.content,
        "page_url": escape(page.url),
        "updated": head.get("updated", ""),
        "footer_links": _render_items(FOOTERS[page.language]),
    }
    if page.template == "docs":
        values.update(_fill_in_docs(page, head))
    elif page.template == "www":
        values.update(_fill_in_www(page, head))
    return values


def _fill_in_docs(page: Page, head: dict[str, str]) -> dict[str, str]:
    labels = LABELS[page.language]
    sidebar = SIDEBARS.get(page.language) or _list_titles(page.variant or NEWEST)
    titles = [title for _, title in sidebar]
    here = titles.index(head["title"]) if head["title"] in titles else -1
    pager = []
    if page.language == "en" and here > 0:
        pager.append(f"{labels['previous']}: {_render_link(*sidebar[here - 1])}")
    if page.language == "en" and 0 <= here < len(sidebar) - 1:
        pager.append(f"{labels['next']}: {_render_link(*sidebar[here + 1])}")
    version = page.variant if page.variant in RELEASES else NEWEST
    notice = labels["current" if version == NEWEST else "outdated"].format(version=version)
    trail = [labels["home"], version, head["section"], head["title"]]
    return {
        "top_nav": " ".join(_render_link(*link) for link in TOP_NAV[page.language]),
        "sidebar": f"<ul>\n{_render_items(sidebar, head['title'])}\n</ul>",
        "breadcrumb": " › ".join(escape(name) for name in trail),
        "versions": f'<div class="version-notice">{notice}</div>',
        "pager": " ".join(pager),
    }


def _fill_in_www(page: Page, head: dict[str, str]) -> dict[str, str]:
    labels = LABELS[page.language]
    path = urlsplit(page.url).path
    folders = [name for name in path.split("/") if name][:-1]
    trail = ["Brindle", *(name.capitalize() for name in folders), head["title"]]
    # The longest address that fits: "/" fits them all.
    _, current = max(link for link in MENUS[page.language] if path.startswith(link[0]))
    date = f"{labels['published_on']} {head['updated']}" if "updated" in head else ""
    return {
        "menu": _render_items(MENUS[page.language], current),
        "breadcrumb": " / ".join(escape(name) for name in trail),
        "dateline": f'<p class="dateline">{date}</p>' if date else "",
    }


def _list_titles(version: str) -> Links:
    """Return the sidebar of a version: its pages, in order."""
    pages = [page for page in PAGES if page.variant == version and page.template == "docs"]
    return tuple((urlsplit(page.url).path, read_text(page.content, version)[0]["title"]) for page in pages)


def _render_language(language: str) -> str:
    return f' lang="{language}" dir="rtl"' if language == "ar" else f' lang="{language}"'


def _render_head(page: Page, head: dict[str, str]) -> str:
    name = f"Brindle {page.variant}" if page.variant in RELEASES else "Brindle"
    lines = [f'<meta charset="{page.encoding}">', '<meta name="viewport" content="width=device-width">']
    if "title" not in page.omit:
        lines.append(f"<title>{escape(head['title'])} | {name}</title>")
    lines.append(f'<meta name="description" content="{escape(head["description"])}">')
    if page.canonical_url:
        lines.append(f'<link rel="canonical" href="{escape(page.canonical_url)}">')
    return "\n".join(lines)


def _render_items(links: Links, current: str | None = None) -> str:
    return "\n".join(
        f'<li class="current"><a href="{escape(href)}" aria-current="page">{escape(text)}</a></li>'
        if text == current
        else f"<li>{_render_link(href, text)}</li>"
        for href, text in links
    )


def _render_link(href: str, text: str) -> str:
    return f'<a href="{escape(href)}">{escape(text)}</a>'


# --- files ---------------------------------------------------------------------------------------

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9=._-]+")
_ENDINGS = (".txt", ".md", ".jsonl")


def name_file(url: str) -> str:
    """Return where a page is saved, safe on every file system.

    >>> name_file("http://a.example/x/?print=1")
    'a.example/x/index~http@print=1.html'
    """
    parts = urlsplit(url)
    path = f"{parts.netloc}{parts.path}"
    if path.endswith(_ENDINGS):
        return path
    path += "index" if path.endswith("/") else ""
    path += "~http" if parts.scheme == "http" else ""
    path += f"@{_NOT_IN_NAMES.sub('-', parts.query)}" if parts.query else ""
    return f"{path}.html"


def list_pages() -> list[Page]:
    """Return all pages, copies included. A copy declares the canonical address of what it is a copy of."""
    pages = {page.url: page for page in PAGES}
    for copy in COPIES:
        page = pages[copy.of]
        template = copy.template or page.template
        pages[copy.url] = replace(page, url=copy.url, canonical=page.canonical_url, template=template)
    return list(pages.values())


def build_site() -> dict[str, bytes]:
    """Return the content of every file by its name, relative to the folder of the site."""
    files = {name_file(page.url): render_page(page).encode(page.encoding) for page in list_pages()}
    for url, content in TEXT_FILES:
        if content.endswith(".md"):
            text = read_text(content, NEWEST)[1] + "\n"
        else:
            text = (CONTENT / content).read_text(encoding="utf-8")
        files[name_file(url)] = text.encode("utf-8")
    return dict(sorted(files.items()))


def write_site(files: dict[str, bytes], out: Path) -> None:
    """Write ``files`` into ``out``. Nothing else in there is touched."""
    for name, data in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def find_differences(files: dict[str, bytes], out: Path) -> list[str]:
    """Return the names of files in ``out`` that are missing, other than in ``files``, or too many."""
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    wrong = {name for name in files.keys() & there if files[name] != (out / name).read_bytes()}
    return sorted(wrong | (files.keys() ^ there))


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Write the example site.")
    parser.add_argument("--out", type=Path, default=HERE / "site", help="the folder (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the folder differs")
    options = parser.parse_args(arguments)

    files = build_site()
    if not options.check:
        write_site(files, options.out)
    # After writing, what differs is a file that is no part of the site.
    differences = find_differences(files, options.out)
    for name in differences:
        print(f"differs: {name}", file=sys.stderr)
    if differences:
        return 1
    pages = sum(name.endswith(".html") for name in files)
    print(f"{pages} pages, {len(files) - pages} other files, {sum(map(len, files.values())):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
