"""What the command line understands, and its commands ``dedupe``, ``audit`` and ``url``.

Exit status: 0 fine, 1 nothing usable in the inputs, 2 usage, an unreadable path or a missing extra,
130 interrupted, 141 the reader of the output went away before all was written.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_dedup import __version__
from rag_dedup.cli.index import add_index_command, list_actions
from rag_dedup.errors import ConfigurationError, RagDedupError, UnreadableInputError

if TYPE_CHECKING:
    from rag_dedup.audit.run import Audit, Progress
    from rag_dedup.document import Plan
    from rag_dedup.url import WebPage

__all__ = ["main"]

_LINES = 12  # of skipped inputs, on standard error

_EXAMPLES = """\
examples:
  rag-dedup audit site/
  rag-dedup dedupe site/ pages.jsonl --out kept.jsonl --decisions decisions.jsonl
  rag-dedup dedupe site/ --index sqlite:///dedup.db --run 2026-12-01 --out kept.jsonl
  rag-dedup index stats sqlite:///dedup.db
  rag-dedup url 'https://www.example.com/a/?utm_source=mail#top'
"""

_URL_EXAMPLES = """\
examples:
  rag-dedup url 'https://www.example.com/a/?utm_source=mail#top'
  rag-dedup url https://example.com/a --html a.html --header 'Link: </b>; rel="canonical"'

SAFE is the identity of a page, WEB what people call the same page. A rule is a field of
rag_dedup.UrlPolicy; "host" is a rule for single hosts, "spelling" how browsers read a URL.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    _prepare_output()
    options = _make_parser().parse_args(arguments)
    for name in ("trafilatura", "htmldate", "courlan"):  # what a page does to them is reported by us
        logging.getLogger(name).addHandler(logging.NullHandler())
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except RagDedupError as error:
        return _complain(str(error))
    except BrokenPipeError:  # do not fail once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as a shell reports SIGPIPE: an index is as it was before, and that must not seem fine
    except OSError as error:
        return _complain(f"cannot write {error.filename or 'the output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        return 130
    return status


def _prepare_output() -> None:
    """Let nothing be lost or raised for what the output is."""
    if sys.stdout is None:  # closed; what has to go there must fail, and not be lost
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may know few characters


def _complain(text: str) -> int:
    from rag_dedup.audit.screen import show

    print(f"rag-dedup: {show(text)}", file=sys.stderr)
    return 2


def _make_parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    common.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="file or folder: HTML, text, Markdown, JSONL"
    )
    common.add_argument(
        "--threshold", type=float, default=0.8, metavar="T", help="similarity of duplicates, 0 to 1 (0.8)"
    )
    common.add_argument(
        "--no-guards", action="store_true", help="let duplicates differ in numbers, versions and negations"
    )
    common.add_argument("--chunk-size", type=int, metavar="N", help="most characters in a chunk (1000)")
    common.add_argument(
        "--keep-boilerplate", action="store_true", help="do not cut out what recurs on a host"
    )
    common.add_argument(
        "--scope-key",
        action="append",
        metavar="KEY",
        help="metadata whose values are never mixed, such as language; can be repeated",
    )
    common.add_argument("--seed", type=int, default=1, metavar="N", help="of the MinHash permutations (1)")

    parser = argparse.ArgumentParser(
        prog="rag-dedup",
        description="Every passage enters your vector store once.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rag-dedup {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    dedupe = commands.add_parser(
        "dedupe", parents=[common], help="write the chunks that are worth an embedding", allow_abbrev=False
    )
    dedupe.add_argument("--out", default="-", metavar="FILE", help="kept chunks as JSON lines (-: stdout)")
    dedupe.add_argument("--decisions", metavar="FILE", help="every decision as JSON lines (-: stdout)")
    dedupe.add_argument(
        "--index", metavar="URL", help="remember what was seen, such as sqlite:///dedup.db (memory://)"
    )
    dedupe.add_argument(
        "--run", metavar="NAME", dest="run_name", help="of this ingestion, for rag-dedup index sweep"
    )
    dedupe.add_argument(
        "--changes", metavar="FILE", help="what a vector store has to write and delete, as JSON lines"
    )
    dedupe.set_defaults(run=_dedupe)

    audit = commands.add_parser(
        "audit", parents=[common], help="show what is in a corpus twice, and why", allow_abbrev=False
    )
    audit.add_argument("--json", action="store_true", help="print the counts as JSON")
    audit.set_defaults(run=_audit, index=None, run_name=None)
    _add_url_command(commands)
    add_index_command(commands)
    return parser


def _add_url_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    url = commands.add_parser(
        "url",
        help="show the keys of URLs, the rules behind them, and rel=canonical of a page",
        epilog=_URL_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    url.add_argument("urls", nargs="+", metavar="URL", help="in quotes: shells read & and ? otherwise")
    url.add_argument("--html", metavar="FILE", help="the page at the URL: judge its rel=canonical (-: stdin)")
    url.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="HEADER",
        help="a Link header that came with the page; can be repeated",
    )
    url.add_argument("--json", action="store_true", help="print a JSON line for each URL")
    url.set_defaults(run=_show_urls)


def _dedupe(options: argparse.Namespace) -> int:
    from rag_dedup.audit.records import make_decisions, make_kept, write_files

    outputs = [path for path in (options.out, options.decisions, options.changes) if path is not None]
    if len({path if path == "-" else os.path.realpath(path) for path in outputs}) < len(outputs):
        raise ConfigurationError("--out, --decisions and --changes must be different files")

    def write_changes(plan: Plan) -> None:
        if options.changes is not None:
            write_files({options.changes: list_actions((*plan.added, *plan.promoted), plan.removed)})

    audit = _run(options, exclude=[path for path in outputs if path != "-"], write=write_changes)
    if not audit.chunks:
        return _say_unusable(audit)
    records: dict[str, Iterator[dict[str, Any]]] = {options.out: make_kept(audit)}
    if options.decisions is not None:
        records[options.decisions] = make_decisions(audit)
    write_files(records)
    _summarise(audit)
    return 0


def _audit(options: argparse.Namespace) -> int:
    from rag_dedup.audit.records import encode_json
    from rag_dedup.audit.table import count_audit, format_audit

    audit = _run(options)
    if options.json:
        sys.stdout.buffer.write(encode_json(count_audit(audit), indent=2))
    elif audit.chunks:
        sys.stdout.write(format_audit(audit, sys.stdout))
    return 0 if audit.chunks else _say_unusable(audit)


def _show_urls(options: argparse.Namespace) -> int:
    from rag_dedup.audit.records import encode_json
    from rag_dedup.audit.url import describe_url, format_description

    page = _read_page(options)
    descriptions = [describe_url(url, page) for url in options.urls]
    if options.json:
        sys.stdout.buffer.writelines(map(encode_json, descriptions))
    else:
        sys.stdout.write("\n".join(map(format_description, descriptions)))
    return 0 if any(description["safe"] for description in descriptions) else 1


def _read_page(options: argparse.Namespace) -> WebPage | None:
    """Return the page that ``--html`` and ``--header`` tell of, ``None`` without them."""
    from rag_dedup.url import read_page

    if options.html is None and not options.header:
        return None
    if len(options.urls) > 1:
        raise ConfigurationError("--html and --header belong to one page: give one URL")
    headers = [_read_link(header) for header in options.header]
    html = "" if options.html is None else _read_html(options.html)
    return read_page(options.urls[0], html, headers)


def _read_link(header: str) -> str:
    """Return the value of a Link header as people paste it, with its name or without."""
    if header.lstrip().startswith("<"):
        return header
    name, colon, value = header.partition(":")
    if not colon or name.strip().lower() != "link":
        raise ConfigurationError("--header takes a Link header, such as 'Link: </page>; rel=\"canonical\"'")
    return value.strip()


def _read_html(path: str) -> str:
    from rag_dedup.html import decode_html

    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UnreadableInputError(f"{path}: {error.strerror or error}") from error
    return decode_html(data)[0]


def _run(
    options: argparse.Namespace,
    exclude: Sequence[str] = (),
    write: Callable[[Plan], object] | None = None,
) -> Audit:
    from rag_dedup.audit.run import audit_pages
    from rag_dedup.audit.split import DEFAULT_CHUNK_SIZE
    from rag_dedup.deduplicator import Deduplicator
    from rag_dedup.files import read_files
    from rag_dedup.guard import DEFAULT_GUARDS

    keys = options.scope_key
    dedup = Deduplicator(
        index=options.index,
        threshold=options.threshold,
        guards=() if options.no_guards else DEFAULT_GUARDS,
        scope_key=keys[0] if keys and len(keys) == 1 else keys,
        seed=options.seed,
    )
    with _show_progress() as progress:
        return audit_pages(
            read_files(options.inputs, exclude=exclude),
            dedup=dedup,
            chunk_size=DEFAULT_CHUNK_SIZE if options.chunk_size is None else options.chunk_size,
            keep_boilerplate=options.keep_boilerplate,
            progress=progress,
            run=options.run_name,
            write=write,
        )


@contextmanager
def _show_progress() -> Iterator[Progress | None]:
    """Show a bar on standard error while the work goes on, if somebody can see it."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn
    except ImportError:  # a bar is not worth an error
        yield None
        return
    columns = (TextColumn("{task.description:<20}"), BarColumn(), TextColumn("{task.fields[count]}"))
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(step: str, done: int, total: int | None) -> None:
            if step not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)
                tasks[step] = bar.add_task(step, total=total, count="")
            bar.update(tasks[step], completed=done, total=total, count=f"{done:,}" if done else "")

        yield tell


def _summarise(audit: Audit) -> None:
    """Say on standard error what came of it."""
    exact, near = (sum(getattr(host, kind) for host in audit.hosts) for kind in ("exact", "near"))
    print(
        f"{len(audit.pages):,} pages, {len(audit.chunks):,} chunks: {len(audit.kept):,} kept, "
        f"{exact:,} exact and {near:,} near-duplicates dropped",
        file=sys.stderr,
    )
    if audit.skipped:
        print(f"{len(audit.skipped):,} skipped:", file=sys.stderr)
        _list_skipped(audit)


def _say_unusable(audit: Audit) -> int:
    print("rag-dedup: nothing usable in the inputs", file=sys.stderr)
    _list_skipped(audit)
    return 1


def _list_skipped(audit: Audit) -> None:
    from rag_dedup.audit.screen import show

    for skipped in audit.skipped[:_LINES]:
        print(f"  {show(skipped.name)}: {show(skipped.reason)}", file=sys.stderr)
    if len(audit.skipped) > _LINES:
        print(f"  and {len(audit.skipped) - _LINES:,} more", file=sys.stderr)
