"""Five site templates with forty pages each, and what of them is content."""

from __future__ import annotations

from dataclasses import dataclass

from rag_dedup import Document

PAGES = 40
_THINGS = "broker topic cursor lease quota shard replica index token bucket".split()
_VERBS = "creates reads renames splits merges locks audits exports restores deletes".split()


@dataclass(frozen=True)
class Site:
    """The pages of one host; of each the lines that must stay, and those that a template repeats."""

    name: str
    pages: list[Document]
    content: list[list[str]]
    template: list[list[str]]


def write_prose(page: int, count: int = 3) -> list[str]:
    """Return paragraphs that no other page has."""
    return [
        f"Paragraph {i} of guide {page}: the {_THINGS[(page + i) % 10]} {_VERBS[(page * 3 + i) % 10]} the "
        f"{_THINGS[(page * 7 + i) % 10]} that operator {page * 11 + i} asked for, before the {page}th audit."
        for i in range(count)
    ]


def build(name: str, parts: list[tuple[list[str], list[str], list[str]]]) -> Site:
    """Join (top, content, bottom) of each page."""
    pages = [
        Document(f"{name}/{i}", "\n\n".join((*top, *content, *bottom)), url=f"https://{name}.example/p/{i}")
        for i, (top, content, bottom) in enumerate(parts)
    ]
    return Site(name, pages, [c for _, c, _ in parts], [[*t, *b] for t, _, b in parts])


MENU = ["Home", "Products", "Pricing", "Docs", "Blog", "Careers", "Contact"]
FOOTER = ["Was this page helpful?", "Share on Facebook", "Privacy policy", "© 2026 Example Ltd"]
WARNING = "> **Warning** Never run this on a cluster that still takes writes from clients."
LICENCE = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software, to deal "
    "in the software without restriction, subject to the following conditions."
)


def warnings_site() -> Site:
    """A menu with the current page highlighted; a warning box on every third page."""
    parts = []
    for i in range(PAGES):
        menu = [f"> {line} <" if n == i % 7 else line for n, line in enumerate(MENU)]
        prose = write_prose(i)
        content = [f"# Guide {i}", prose[0], *([WARNING] if i % 3 == 0 else []), *prose[1:]]
        parts.append(([line for line in menu if "<" not in line], content, FOOTER))
    return build("warnings", parts)


def licence_site() -> Site:
    """A licence paragraph in most footers is the content of one page."""
    parts: list[tuple[list[str], list[str], list[str]]] = []
    for i in range(PAGES):
        content = ["# Licence", LICENCE] if i == 17 else [f"# Topic {i}", *write_prose(i)]
        parts.append((MENU, content, FOOTER if i == 17 else [LICENCE, *FOOTER]))
    return build("licence", parts)


def reference_site() -> Site:
    """API words on every page, as headings and as plain lines."""
    parts = []
    for i in range(PAGES):
        prose = write_prose(i, 4)
        content = [
            f"# {_VERBS[i % 10]}_{_THINGS[i // 4]}()", prose[0], "Parameters", prose[1], "Returns", prose[2],
            "## Examples", prose[3], "See also", f"the functions of module {i}",
        ]  # fmt: skip
        parts.append((["Reference", "All modules", "Index", "Search"], content, FOOTER))
    return build("reference", parts)


def code_site() -> Site:
    """The same code block and the same table on many pages."""
    code = "```sh\npip install example\nexample --init\n```"
    table = "| Option | Default |\n|---|---|\n| retries | none |"
    parts = []
    for i in range(PAGES):
        content = [*([code] if i % 2 else []), *write_prose(i), *([table] if i % 3 else [])]
        parts.append((MENU, content, FOOTER))
    return build("code", parts)


def dated_site() -> Site:
    """A breadcrumb and a date between the lines of the template."""
    parts = []
    for i in range(PAGES):
        top = [*MENU, "Skip to content", "Print this page", "Report a problem"]
        bottom = [f"Last updated {i % 27 + 1} May 2026", *FOOTER]
        parts.append((top, [f"Guides / Part {i}", f"# Part {i}", *write_prose(i)], bottom))
    return build("dated", parts)


SITES = (warnings_site(), licence_site(), reference_site(), code_site(), dated_site())
