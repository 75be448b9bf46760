"""Which pages the example site has: addresses, versions, copies. The texts are the files of this folder.

A text is Markdown below a head of ``key: value`` lines. A line that starts with ``@v1.2,v1.3 `` belongs to
these variants of the page only, ``{{name}}`` is replaced by a value of the variant, and
``{{include name}}`` by another file of the same folder.
"""

from __future__ import annotations

from dataclasses import dataclass

DOCS = "https://docs.brindle.example"
WWW = "https://www.brindle.example"
MIRROR = "https://mirror.brindle.example"

RELEASES = {"v1.2": "1.2.9", "v1.3": "1.3.6", "v2.0": "2.0.3"}
CITIES = {"lisbon": "Lisbon", "toronto": "Toronto", "osaka": "Osaka"}

VALUES: dict[str, dict[str, str]] = {
    **{version: {"version": version, "release": release} for version, release in RELEASES.items()},
    **{slug: {"city": city} for slug, city in CITIES.items()},
}
"""What ``{{name}}`` stands for, by variant."""


@dataclass(frozen=True)
class Page:
    """A page of the site.

    Args:
        url: the address under which it was fetched.
        content: the file with its text, in this folder.
        variant: which conditional lines of the file belong to it.
        template: ``docs``, ``www``, ``print`` or ``raw``, where the file is the page.
        language: of the labels around the text.
        canonical: what the page declares as its address: ``"self"``, ``""`` for nothing, or a URL.
        omit: parts that the page lacks, ``title`` or ``lang``.
        encoding: of the file.
    """

    url: str
    content: str
    variant: str = ""
    template: str = "docs"
    language: str = "en"
    canonical: str = "self"
    omit: tuple[str, ...] = ()
    encoding: str = "utf-8"

    @property
    def canonical_url(self) -> str:
        """What the page declares as its address, ``""`` for nothing."""
        return self.url if self.canonical == "self" else self.canonical


@dataclass(frozen=True)
class Copy:
    """The page at ``of``, fetched again under another address; ``template`` if it looks different there."""

    url: str
    of: str
    template: str | None = None


# In the order of the sidebar: (slug, versions).
ALL = tuple(RELEASES)
TOPICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("introduction", ALL),
    ("installation", ALL),
    ("quickstart", ALL),
    ("configuration", ALL),
    ("consumer-groups", ALL),
    ("replication", ALL),
    ("security", ALL),
    ("monitoring", ALL),
    ("backup-and-restore", ALL),
    ("troubleshooting", ALL),
    ("text-protocol", ("v1.2",)),
    ("upgrading", ("v1.3", "v2.0")),
    ("tiered-storage", ("v2.0",)),
)

# Old pages that name the newest one as canonical, pages that name nothing, pages that lack something.
_CANONICAL = {
    "v1.2/introduction": f"{DOCS}/v2.0/introduction/",
    "v1.3/introduction": f"{DOCS}/v2.0/introduction/",
    "v1.2/replication": f"{DOCS}/v2.0/replication/",
    "v1.3/replication": f"{DOCS}/v2.0/replication/",
    "v1.2/monitoring": "",
    "v1.2/text-protocol": "",
    "v1.3/troubleshooting": "",
    "v1.3/backup-and-restore": "",
}
_OMIT = {
    "v1.2/text-protocol": ("title", "lang"),
    "v1.2/troubleshooting": ("lang",),
    "v1.3/quickstart": ("title",),
}


def _list_docs() -> list[Page]:
    pages = []
    for version in RELEASES:
        for slug, versions in TOPICS:
            if version in versions:
                place = f"{version}/{slug}"
                content = f"docs/{slug}-{version}.md" if slug == "upgrading" else f"docs/{slug}.md"
                canonical = _CANONICAL.get(place, "self")
                omit = _OMIT.get(place, ())
                pages.append(Page(f"{DOCS}/{place}/", content, version, canonical=canonical, omit=omit))
    return pages


PAGES: tuple[Page, ...] = (
    *_list_docs(),
    Page(f"{DOCS}/licence/", "docs/licence.md"),
    Page(f"{DOCS}/zh/v2.0/introduction/", "languages/introduction-zh.md", "docs", language="zh"),
    Page(f"{MIRROR}/zh/introduction/", "languages/introduction-zh.md", "mirror", language="zh"),
    Page(f"{DOCS}/de/v2.0/backup-and-restore/", "languages/backup-de.md", language="de"),
    Page(f"{DOCS}/ar/v2.0/monitoring/", "languages/monitoring-ar.md", language="ar"),
    Page(f"{WWW}/", "www/home.md", template="www"),
    # One canonical address for three price lists: a claim that must not be followed.
    *(Page(f"{WWW}/pricing/{region}/", "www/pricing.md", region, "www", canonical=f"{WWW}/pricing/")
      for region in ("us", "eu", "uk")),
    *(Page(f"{WWW}/press/{slug}-office/", "www/press-office.md", slug, "www",
           omit=("title",) if slug == "osaka" else ())
      for slug in CITIES),
    Page(f"{WWW}/legal/acceptable-use/", "www/acceptable-use.md", "restrictive", "www"),
    Page(f"{WWW}/legal/archive/acceptable-use/", "www/acceptable-use.md", "permissive", "www", canonical=""),
    Page(f"{WWW}/blog/election-that-never-ended/", "www/blog-elections.md", template="www"),
    Page(f"{WWW}/fr/temoignages/valmorel/", "www/case-study-fr.md", template="www", language="fr",
         encoding="iso-8859-1"),
    Page(f"{WWW}/docs/start", "raw/moved.html", template="raw"),
    Page("https://wiki.brindle.example/wiki/raspberry-pi", "raw/wiki-broken.html", template="raw"),
    Page("https://console.brindle.example/", "raw/console.html", template="raw"),
)  # fmt: skip

COPIES: tuple[Copy, ...] = (
    Copy(f"{DOCS}/v2.0/configuration/?print=1", f"{DOCS}/v2.0/configuration/", "print"),
    Copy(f"{DOCS}/v1.3/troubleshooting/?print=1", f"{DOCS}/v1.3/troubleshooting/", "print"),
    Copy(f"{DOCS}/print/v2.0/backup-and-restore/", f"{DOCS}/v2.0/backup-and-restore/", "print"),
    Copy(f"{DOCS}/v2.0/quickstart/?utm_source=newsletter&utm_medium=email", f"{DOCS}/v2.0/quickstart/"),
    Copy(f"{DOCS}/v2.0/tiered-storage/?gclid=EAIaIQobChMI7f2K", f"{DOCS}/v2.0/tiered-storage/"),
    Copy(f"{WWW}/pricing/eu/?utm_source=google&utm_medium=cpc&gclid=Cj0KCQiA4b", f"{WWW}/pricing/eu/"),
    Copy(f"{WWW}/press/lisbon-office/?fbclid=IwAR2xkQ9v", f"{WWW}/press/lisbon-office/"),
    Copy(f"http://{DOCS.removeprefix('https://')}/v2.0/installation/", f"{DOCS}/v2.0/installation/"),
    Copy(f"{DOCS}/v1.3/security", f"{DOCS}/v1.3/security/"),
    Copy("https://brindle.example/blog/election-that-never-ended/", f"{WWW}/blog/election-that-never-ended/"),
    Copy("http://brindle.example/", f"{WWW}/"),
)

TEXT_FILES: tuple[tuple[str, str], ...] = (
    (f"{DOCS}/v2.0/quickstart.md", "docs/quickstart.md"),
    ("https://packages.brindle.example/2.0.3/release-notes.txt", "raw/release-notes.txt"),
    ("https://support.brindle.example/export/tickets.jsonl", "raw/tickets.jsonl"),
)
"""(address, file). Markdown is resolved for the newest version; the others are taken as they are."""
