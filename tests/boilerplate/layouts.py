"""Sites as they are laid out on the web, with each line labelled: a template's, or content.

Each has pages in sections, and content that recurs: warnings, licences, API words, code, facts of products
and jobs, signatures in a forum. Titles are plain lines or Markdown headings.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from rag_dedup import Document

PAGES = 40
NOUNS = (
    "broker topic cursor lease quota shard replica index token bucket ledger gateway snapshot journal "
    "cluster tenant schema vault beacon router"
).split()
VERBS = "create read rename split merge lock audit export restore delete move copy sign verify".split()
ADJECTIVES = "small large quick quiet remote local broken shared private cheap old new".split()
WARNING = "> **Warning** Never run this on a cluster that still takes writes from clients."
CODE = "```sh\npip install example\nexample --init\n```"
LICENCE = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software, to deal "
    "in the software without restriction, subject to the following conditions."
)
COOKIES = (
    "We and our partners use cookies to improve what you see, to measure our audience and to show "
    "advertisements. You can change your mind at any time under Privacy settings."
)

Line = tuple[str, str]
"""(label, text): ``b`` for what a template says, ``c`` for content."""


@dataclass(frozen=True)
class Layout:
    """The labelled lines of each page of a site, and the pages as documents."""

    name: str
    lines: list[list[Line]]

    def make_pages(self, separator: str = "\n\n") -> list[Document]:
        return [
            Document(
                f"{self.name}/{i}",
                separator.join(text for _, text in lines),
                url=f"https://{self.name}.example/{i}",
            )
            for i, lines in enumerate(self.lines)
        ]


class Writer:
    """Writes what no other page says."""

    def __init__(self, name: str) -> None:
        self.random = random.Random(name)

    def title(self) -> str:
        pick = self.random.choice
        return f"{pick(VERBS).title()} a {pick(ADJECTIVES)} {pick(NOUNS)} {self.random.randrange(10**4)}"

    def sentence(self, words: int) -> str:
        pick = self.random.choice
        said = [pick((*NOUNS, *VERBS, *ADJECTIVES, "the", "a", "of", "when")) for _ in range(words)]
        return " ".join(said).capitalize() + f" {self.random.randrange(10**6)}."

    def prose(self, least: int = 2, most: int = 5) -> list[Line]:
        return [
            ("c", self.sentence(self.random.randrange(12, 60)))
            for _ in range(self.random.randrange(least, most + 1))
        ]


def label(kind: str, *lines: str) -> list[Line]:
    return [(kind, line) for line in lines]


def write_blog(mark: str) -> list[list[Line]]:
    """A cookie notice, a menu, title, author and date; tags, related posts and a footer below."""
    w = Writer("blog")
    titles = [w.title() for _ in range(PAGES)]
    pages = []
    for i, title in enumerate(titles):
        lines = label("b", COOKIES, "Accept", "Reject", "Home", "Archive", "About", "Subscribe")
        lines += label("c", mark + title)
        lines += label("c", f"By {'Ann Alder Bo Birch Cy Cedar'.split()[i % 3]}")
        lines += w.prose()
        lines += (
            [*label("c", "Ingredients", "1 onion", "2 carrots", "Salt"), *w.prose()] if i % 4 == 0 else []
        )
        lines += label("c", LICENCE) if i == 17 else []
        lines += label("c", f"Tags: {NOUNS[i % 5]}, {NOUNS[i % 3 + 6]}")
        lines += label("b", "Share on Facebook", "Share by mail", "Related posts")
        lines += label("x", titles[(i + 7) % PAGES], titles[(i + 11) % PAGES], titles[(i + 19) % PAGES])
        lines += label("b", "Newsletter", "One mail a month, no advertising.", "Your address", "Send")
        lines += label("b", "Imprint", "Privacy", f"© 2019-{2020 + i % 6} The blog")
        pages.append(lines)
    return pages


def write_shop(mark: str) -> list[list[Line]]:
    """Products of four categories with facts that some have in common, straight under the title."""
    w = Writer("shop")
    pages = []
    for i in range(PAGES):
        colour, size = ("Red", "Blue", "Green")[i % 3], ("Small", "Medium", "Large", "Huge")[i % 4]
        lines = label(
            "b", "Free delivery from 50 EUR", "Cart", "My account", "Search", "Women", "Men", "Kids"
        )
        lines += label("b", *(f"{NOUNS[5 * (i % 4) + k].title()}s for all" for k in range(5)))
        lines += label("c", mark + w.title())
        lines += label("c", f"Price: {i * 3 + 5} EUR", f"Colour: {colour}", f"Size: {size}")
        lines += (
            label("c", "Material: cotton") if i % 2 else label("c", "Material: wool", "Wash by hand only")
        )
        lines += w.prose(1, 3)
        lines += label("c", "Contains nuts", "Not for children under three") if i % 5 == 0 else []
        lines += w.prose(1, 1)
        lines += label("c", f"Weight: {i + 100} g", f"Made in {('Peru', 'Laos', 'Mali')[i % 3]}")
        lines += label("b", "Add to cart", "Returns within 30 days", "Help", "Terms", "© 2026 Shop")
        pages.append(lines)
    return pages


def write_forum(mark: str) -> list[list[Line]]:
    """Threads: user names, signatures and quotes recur, and some threads end alike."""
    w = Writer("forum")
    pages = []
    for i in range(PAGES):
        lines = label("b", "Forum", "Log in", "Register", "Members", "Rules", "Search the forum")
        lines += label("c", mark + w.title())
        for post in range(w.random.randrange(2, 6)):
            user = ("anna", "bert", "cleo", "dora")[(i + post) % 4]
            lines += label("c", user, f"Posts: {len(user) * 100}", *(text for _, text in w.prose(1, 2)))
            lines += label("c", f"-- {user}, always on call") if user in ("anna", "cleo") else []
        lines += label("c", "Thanks, that solved it!") if i % 3 == 0 else label("c", "Any news on this?")
        lines += label("b", "Reply", "Report this thread", "Powered by a forum", "Contact", "Privacy")
        pages.append(lines)
    return pages


def write_reference(w: Writer, i: int, mark: str) -> tuple[str, list[str], list[Line]]:
    """Return the title, the headings and the lines of a page of documentation."""
    title = w.title()
    headings = [w.title() for _ in range(w.random.randrange(3, 7))]
    lines = label("c", mark + title, *(text for _, text in w.prose(1, 2)))
    lines += label("c", WARNING) if i % 3 == 0 else []
    for n, heading in enumerate(headings):
        lines += label("c", mark + heading, *(text for _, text in w.prose(1, 2)))
        lines += label("c", "Parameters", w.sentence(9), "Returns", w.sentence(7)) if n % 2 else []
        lines += label("c", CODE) if n == 1 else []
    lines += label("c", mark + "See also", f"The {NOUNS[i % 20]} guide") if i % 2 else []
    return title, headings, lines


def write_docs_first(mark: str) -> list[list[Line]]:
    """Documentation: the sidebar comes first, with the section and the contents of the page in it."""
    w = Writer("docs first")
    made = [write_reference(w, i, mark) for i in range(PAGES)]
    pages = []
    for i, (_, headings, content) in enumerate(made):
        section = i // 10
        lines = label(
            "b", "The manual", "Version 2.1", "Search", *(f"Part {NOUNS[k]}" for k in range(section + 1))
        )
        for k in range(section * 10, section * 10 + 10):
            lines += label("b", made[k][0])
            lines += label("b", *headings) if k == i else []
        lines += label("b", *(f"Part {NOUNS[k]}" for k in range(section + 1, 4)))
        lines += content
        lines += label("b", f"Previous: {made[i - 1][0]} Next: {made[(i + 1) % PAGES][0]}") if i else []
        lines += label("b", "© Copyright 2026, the authors", "Created with a generator")
        pages.append(lines)
    return pages


def write_docs_last(mark: str) -> list[list[Line]]:
    """Documentation: the sidebar comes last, with contents, neighbours and search."""
    w = Writer("docs last")
    made = [write_reference(w, i, mark) for i in range(PAGES)]
    pages = []
    for i, (title, headings, content) in enumerate(made):
        lines = label("b", "Navigation", "index", "modules |", "next |", "previous |", "The manual 2.1 »")
        lines += content
        lines += label("b", "Table of Contents", title, *headings)
        lines += label("b", "Previous topic", made[i - 1][0], "Next topic", made[(i + 1) % PAGES][0])
        lines += label("b", "This Page", "Report a Bug", "Show Source", "Quick search")
        lines += label("b", "index", "modules |", "next |", "© Copyright 2026, the authors.")
        pages.append(lines)
    return pages


def write_wiki(mark: str) -> list[list[Line]]:
    """A wiki: title and contents within the article, a long menu and a long footer."""
    w = Writer("wiki")
    pages = []
    for i in range(PAGES):
        title, headings, content = write_reference(w, i, mark)
        lines = label(
            "b", "Jump to content", "Main menu", "Navigation", "Main page", "Contents", "Random article"
        )
        lines += label("b", "Contribute", "Help", "Community portal", "Upload file", "Log in")
        lines += label("x", f"Contents of {title}", *headings)
        lines += content
        lines += label("c", "References", f"↑ A book on {NOUNS[i % 20]}s, page {i}.")
        lines += label("c", f"Category: {NOUNS[i % 4]}s")
        lines += label("b", f"This page was last edited on {i % 27 + 1} May 2026, at 1{i % 10}:30.")
        lines += label("b", "Text is available under a licence; additional terms may apply to some of it.")
        lines += label("b", "Privacy policy", "About", "Disclaimers", "Mobile view")
        pages.append(lines)
    return pages


def write_news(mark: str) -> list[list[Line]]:
    """News: a breadcrumb and a date inside the template, an agency at the end of some articles."""
    w = Writer("news")
    pages = []
    for i in range(PAGES):
        desk = ("World", "Sports", "Science")[i % 3]
        lines = label(
            "b", "Skip to content", "Sections", "World", "Sports", "Science", "Weather", "Subscribe"
        )
        lines += label("x", f"Home > {desk}", f"{i % 27 + 1} May 2026, 1{i % 10}:15")
        lines += label("b", "Listen to this article", "Share", "Save")
        lines += label("c", mark + w.title(), *(text for _, text in w.prose(3, 6)))
        lines += label("c", "This is a developing story and will be updated.") if i % 4 == 0 else []
        lines += label("c", "(Agency report)") if i % 2 else label("c", "Additional reporting by the staff")
        lines += label("b", "Most read", "Newsletters", "Advertise with us", "© 2026 The Paper")
        pages.append(lines)
    return pages


def write_jobs(mark: str) -> list[list[Line]]:
    """Jobs: facts that most of them have in common, and the same benefits at the end."""
    w = Writer("jobs")
    pages = []
    for i in range(PAGES):
        place = ("Berlin", "Berlin", "Paris")[i % 3]
        lines = label("b", "Careers", "All jobs", "Our teams", "Students", "Sign in")
        lines += label("c", mark + w.title())
        lines += label(
            "c", place, "Full time" if i % 4 else "Part time", "Permanent", *(t for _, t in w.prose())
        )
        lines += label("c", f"Apply to {('Ann', 'Bo', 'Cy')[i % 3]} before May")
        lines += label("b", "Apply now", "Save this job", "Privacy", "© 2026 Example")
        pages.append(lines)
    return pages


WRITERS: tuple[Callable[[str], list[list[Line]]], ...] = (
    write_blog,
    write_shop,
    write_forum,
    write_docs_first,
    write_docs_last,
    write_wiki,
    write_news,
    write_jobs,
)
LAYOUTS = tuple(
    Layout(f"{write.__name__[6:].replace('_', '-')}-{name}", write(mark))
    for write in WRITERS
    for name, mark in (("plain", ""), ("markdown", "## "))
)
