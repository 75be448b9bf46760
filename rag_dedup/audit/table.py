"""An audit for the terminal, and the same counts as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from rag_dedup.audit.run import Audit, Cluster
from rag_dedup.audit.screen import mask_secrets, show
from rag_dedup.document import GuardHit
from rag_dedup.errors import MissingExtraError
from rag_dedup.url import WEB, canonicalize_url

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

__all__ = ["count_audit", "format_audit"]

_CLUSTERS, _URLS, _LINES = 5, 4, 12  # as much as people still read


def count_audit(audit: Audit) -> dict[str, Any]:
    """Return the counts of an audit as plain JSON values; secrets in URLs are masked."""
    return {
        "pages": len(audit.pages),
        "canonical_urls": _count_addresses(audit),
        "characters": audit.characters,
        "boilerplate": audit.boilerplate,
        "report": audit.report.to_dict(),
        "hosts": [asdict(host) for host in audit.hosts],
        "clusters": [
            {
                "survivor": cluster.id,
                "scope": cluster.scope,
                "size": len(cluster.members),
                "urls": [mask_secrets(url) for url in cluster.urls],
            }
            for cluster in audit.clusters
        ],
    }


def _count_addresses(audit: Audit) -> int:
    """Count the canonical URLs of the pages."""
    return len({canonicalize_url(page.url, WEB) for page in audit.pages if page.url})


def format_audit(audit: Audit, stream: IO[str] | None = None, *, width: int | None = None) -> str:
    """Return an audit as a table, as wide and as colourful as the stream can show it.

    Args:
        audit: what to show.
        stream: where it will be written; default: standard output.
        width: columns, instead of what the stream has.

    Raises:
        MissingExtraError: rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.padding import Padding
    except ImportError as error:
        raise MissingExtraError("audit", "rich") from error
    # No markup: what looks like it in a corpus is text.
    console = Console(file=stream, width=width, markup=False, highlight=False, emoji=False)
    with console.capture() as capture:
        console.print()
        for title, body in _make_sections(audit, console):
            console.print(f"  {title}", style="bold")
            console.print(Padding(body, (0, 2, 1, 2)))
    return "\n".join(line.rstrip() for line in capture.get().split("\n"))


def _make_sections(audit: Audit, console: Console) -> Iterator[tuple[str, RenderableType]]:
    plain = not console.encoding.lower().startswith("utf")
    yield "Corpus", _make_summary(audit)
    yield "Chunks", _make_chunks(audit, console.width - 4, "#=-" if plain else "█▓░")
    if audit.report.by_guard:
        yield "Near-duplicates kept apart by a guard", _make_guards(audit)
    yield "Hosts", _make_hosts(audit)
    if audit.clusters:
        yield "Largest clusters", _make_clusters(audit)
    if audit.skipped:
        yield "Skipped inputs", _make_skipped(audit)


def _make_grid(*headings: str) -> Table:
    """Make a table without lines. A heading that starts with ``>`` is of a column of numbers."""
    from rich.table import Table

    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        header_style="dim",
        show_header=any(heading.lstrip(">") for heading in headings),
    )
    for heading in headings:
        if heading.startswith(">"):
            table.add_column(heading[1:], justify="right", no_wrap=True)
        else:
            table.add_column(heading, overflow="fold")
    return table


def _line(text: str, style: str = "") -> Text:
    """Return a text that is cut off rather than wrapped."""
    from rich.text import Text

    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def _wrap(text: str, style: str = "") -> Text:
    """Return a text that takes as many lines as it needs; plain strings would be read as markup."""
    from rich.text import Text

    return Text(text, style=style)


def _make_summary(audit: Audit) -> Table:
    table = _make_grid("", ">", "")
    addresses = _count_addresses(audit)
    hosts = sum(1 for host in audit.hosts if host.name)
    under = f"under {_many(addresses, 'canonical URL')} of {_many(hosts, 'host')}" if hosts else ""
    table.add_row("pages", f"{len(audit.pages):,}", under)
    share = audit.boilerplate / audit.characters if audit.characters else 0.0
    table.add_row("characters", f"{audit.characters:,}", f"{_percent(share)} of them boilerplate")
    if spared := sum(rest.spared is not None for rest in audit.stripped):
        table.add_row("spared", f"{spared:,}", "pages that have nothing but boilerplate")
    if audit.skipped:
        table.add_row("skipped", f"{len(audit.skipped):,}", "see below")
    return table


def _make_chunks(audit: Audit, width: int, marks: str) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    counts = [sum(getattr(host, kind) for host in audit.hosts) for kind in ("kept", "exact", "near")]
    names = ["kept", "exact duplicates", "near-duplicates"]
    styles = ["green", "blue", "cyan"]
    total = sum(counts)
    table = _make_grid("", ">", ">", "")
    for mark, style, name, count in zip(marks, styles, names, counts, strict=True):
        share = count / total if total else 0.0
        table.add_row(Text(mark * 2, style=style), f"{count:,}", _percent(share), name)
    table.add_row("", f"{total:,}", "", "in all")
    bar = Text()
    for mark, style, length in zip(marks, styles, _divide(counts, min(width, 76)), strict=True):
        bar.append(mark * length, style=style)
    return Group(bar, table)


def _divide(counts: list[int], width: int) -> list[int]:
    """Divide a width in proportion to counts; the parts add up to it."""
    total = sum(counts)
    ends = [round(width * sum(counts[: i + 1]) / total) if total else 0 for i in range(len(counts))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _make_guards(audit: Audit) -> Table:
    examples: dict[str, GuardHit] = {}
    for decision in audit.decisions:
        if decision.guard is not None:
            examples.setdefault(decision.guard.kind, decision.guard)
    table = _make_grid("", ">", "")
    for guard, count in sorted(audit.report.by_guard.items(), key=lambda item: (-item[1], item[0])):
        hit = examples[guard]
        table.add_row(
            guard, f"{count:,}", _line(f"such as {_quote(hit.here)} and {_quote(hit.there)}", "dim")
        )
    return table


def _quote(text: str) -> str:
    return f'"{show(text)}"' if text else "nothing"


def _make_hosts(audit: Audit) -> Table:
    table = _make_grid("", ">pages", ">boilerplate", ">chunks", ">kept", ">exact", ">near")
    for host in audit.hosts[:_LINES]:
        numbers = (host.chunks, host.kept, host.exact, host.near)
        table.add_row(
            _line(show(host.name) or "(no URL)"),
            f"{host.pages:,}",
            _percent(host.share),
            *(f"{number:,}" for number in numbers),
        )
    _add_rest(table, len(audit.hosts) - _LINES)
    return table


def _make_clusters(audit: Audit) -> Table:
    """Show clusters; those of the same pages, such as all passages of a page and its copy, as one."""
    groups: dict[tuple[str, ...], list[Cluster]] = {}
    for cluster in audit.clusters:
        groups.setdefault(cluster.urls, []).append(cluster)
    table = _make_grid(">", "")
    for urls, clusters in islice(groups.items(), _CLUSTERS):
        also = f"{len(clusters):,} passages, " if len(clusters) > 1 else ""
        text = show(clusters[0].text[:400])
        table.add_row(f"{len(clusters[0].members):,} places", _line(f'{also}"{text}"'))
        for url in urls[:_URLS]:
            table.add_row("", _line(show(url), "dim"))
        _add_rest(table, len(urls) - _URLS, "")
    _add_rest(table, len(groups) - _CLUSTERS, "")
    return table


def _make_skipped(audit: Audit) -> Table:
    table = _make_grid("", "")
    for skipped in audit.skipped[:_LINES]:
        table.add_row(_wrap(show(skipped.name)), _wrap(show(skipped.reason), "dim"))
    _add_rest(table, len(audit.skipped) - _LINES)
    return table


def _add_rest(table: Table, number: int, *before: str) -> None:
    """Say how many are not shown."""
    if number > 0:
        table.add_row(*before, _line(f"and {number:,} more", "dim"))


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
