"""``rag-dedup index``: look after an index."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_dedup.errors import ConfigurationError, InputError, UnreadableInputError

if TYPE_CHECKING:
    from rag_dedup.deduplicator import Deduplicator
    from rag_dedup.document import Document, Drift, Plan
    from rag_dedup.index import Index

__all__ = ["add_index_command", "list_actions"]

_EXAMPLES = """\
examples:
  rag-dedup index stats sqlite:///dedup.db --prometheus
  rag-dedup index verify postgresql://me@localhost/rag?namespace=docs
  rag-dedup index sweep sqlite:///dedup.db --run 2026-12-01 --out changes.jsonl
  rag-dedup index reconcile sqlite:///dedup.db --ids ids.txt
  rag-dedup index merge sqlite:///one.db sqlite:///two.db --into sqlite:///all.db

What the vector store has to do comes as JSON lines: {"action": "write", "id": ..., "text": ...} and
{"action": "delete", "id": ...}. They are written first and the index after them, so that what goes wrong
in between is repeated by the next run.
"""

Commands = Any
"""What ``add_subparsers`` returns, which argparse keeps to itself."""


def add_index_command(commands: Commands) -> None:
    """Add the command and what belongs to it."""
    index = commands.add_parser(
        "index",
        help="measure, verify, clean, move or merge indexes",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    operations = index.add_subparsers(title="operations", metavar="OPERATION", required=True)

    def add(name: str, run: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = operations.add_parser(name, help=help, allow_abbrev=False)
        parser.add_argument("url", metavar="URL", help="such as sqlite:///dedup.db or redis://localhost")
        parser.set_defaults(run=run)
        return parser

    def add_planned(
        name: str, run: Callable[[argparse.Namespace], int], help: str
    ) -> argparse.ArgumentParser:
        parser = add(name, run, help)
        parser.add_argument("--out", default="-", metavar="FILE", help="for the vector store (-: stdout)")
        return parser

    stats = add("stats", _show_stats, "say what it holds and what it takes")
    form = stats.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--prometheus", action="store_true", help="as a text that Prometheus reads")
    add("verify", _verify, "compute everything anew and say what is wrong, as JSON lines")
    add("compact", _compact, "give back the room of what is gone")
    add("drop", _drop, "remove it and all that it holds")

    removals = [
        add_planned("forget", _forget, "forget a source, or documents"),
        add_planned("sweep", _sweep, "forget the sources that neither a full run nor a later one has seen"),
        add_planned("expire", _expire, "forget the sources that were last seen before a run"),
    ]
    removals[0].add_argument("--source", metavar="SOURCE", help="a URL or another name")
    removals[0].add_argument("--id", action="append", default=[], metavar="ID", help="can be repeated")
    removals[1].add_argument("--run", required=True, dest="run_name", metavar="NAME", help="the full run")
    removals[2].add_argument("--older-than", required=True, metavar="NAME", help="the run")
    for removal in removals:
        removal.add_argument("--scope", default="", metavar="SCOPE", help="only in this scope ('')")
        removal.add_argument("--dry-run", action="store_true", help="leave the index as it is")

    reconcile = add_planned("reconcile", _reconcile, "compare it with the ids of a vector store")
    reconcile.add_argument("--ids", default="-", metavar="FILE", help="one id a line (-: stdin)")

    merge = add_planned("merge", _merge, "put several indexes into an empty one, as if one job had made them")
    merge.add_argument("others", nargs="+", metavar="URL", help="what is merged with it, in order")
    merge.add_argument("--into", required=True, metavar="URL", help="the new index")

    export = add("export", _export, "write it as JSON lines")
    export.add_argument("--out", default="-", metavar="FILE", help="(-: stdout)")
    load = add("import", _import, "fill an empty index with what was exported")
    load.add_argument("file", metavar="FILE", help="(-: stdin)")


def list_actions(added: Iterable[Document], removed: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield what a vector store has to do."""
    for document in added:
        yield {
            "action": "write",
            "id": document.id,
            "text": document.text,
            "source": document.source,
            "url": document.url,
            "scope": document.scope,
            "metadata": _to_plain(document.metadata),
        }
    for id in removed:
        yield {"action": "delete", "id": id}


def _to_plain(value: Any) -> Any:
    """Return a value in terms of JSON, as near as that comes."""
    if isinstance(value, Mapping):
        return {str(key): _to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_to_plain, value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def _open(url: str, *, create: bool = False) -> Index:
    from rag_dedup.index import open_index

    if url.startswith("memory:"):
        raise ConfigurationError("an index in memory ends with the command: give the URL of one that lasts")
    return open_index(url, create=create)


def _open_engine(url: str) -> Deduplicator:
    from rag_dedup.operations import open_deduplicator

    return open_deduplicator(_open(url))


def _show_stats(options: argparse.Namespace) -> int:
    from rag_dedup.audit.records import encode_json
    from rag_dedup.operations import measure_index

    stats = measure_index(_open(options.url))
    if options.prometheus:
        sys.stdout.buffer.write(stats.to_prometheus().encode("utf-8"))
    elif options.json:
        sys.stdout.buffer.write(encode_json(stats.to_dict(), indent=2))
    else:
        for name, value in stats.to_dict().items():
            print(f"{name.replace('_', ' '):<16}{_show_value(value)}")
    return 0


def _show_value(value: object) -> str:
    from rag_dedup.audit.screen import show

    if isinstance(value, dict):
        return ", ".join(f"{show(name)} {count:,}" for name, count in value.items()) or "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _verify(options: argparse.Namespace) -> int:
    from rag_dedup.audit.records import encode_json
    from rag_dedup.operations import verify_index

    faults = 0
    for fault in verify_index(_open(options.url)):
        sys.stdout.buffer.write(encode_json(fault._asdict()))
        faults += 1
    print(f"{faults:,} faults" if faults else "nothing wrong", file=sys.stderr)
    return 1 if faults else 0


def _compact(options: argparse.Namespace) -> int:
    _open(options.url).compact()
    return 0


def _drop(options: argparse.Namespace) -> int:
    _open(options.url).drop()
    return 0


def _forget(options: argparse.Namespace) -> int:
    dedup = _open_engine(options.url)
    return _carry_out(options, dedup, dedup.forget(options.source, ids=options.id, scope=options.scope))


def _sweep(options: argparse.Namespace) -> int:
    dedup = _open_engine(options.url)
    return _carry_out(options, dedup, dedup.sweep(options.run_name, options.scope))


def _expire(options: argparse.Namespace) -> int:
    dedup = _open_engine(options.url)
    return _carry_out(options, dedup, dedup.expire(options.older_than, options.scope))


def _carry_out(options: argparse.Namespace, dedup: Deduplicator, plan: Plan) -> int:
    def write(plan: Plan) -> None:
        _write_actions(options.out, (*plan.added, *plan.promoted), plan.removed)

    if options.dry_run:
        write(plan)
    else:
        plan = dedup.carry_out(plan, write)
    _summarise(len(plan.added) + len(plan.promoted), len(plan.removed))
    return 0


def _reconcile(options: argparse.Namespace) -> int:
    dedup = _open_engine(options.url)
    drift = dedup.reconcile([line.rstrip("\r\n") for line in _read_lines(options.ids)])
    _write_actions(options.out, drift.added, drift.removed)
    _summarise(len(drift.added), len(drift.removed))
    if drift.unknown:
        print(f"{len(drift.unknown):,} ids that the index does not know, such as:", file=sys.stderr)
        _list_few(drift.unknown)
    return 0


def _merge(options: argparse.Namespace) -> int:
    from rag_dedup.operations import merge_indexes

    def write(drift: Drift) -> None:
        _write_actions(options.out, drift.added, drift.removed)

    indexes = [_open(url) for url in (options.url, *options.others)]
    drift = merge_indexes(indexes, _open(options.into, create=True), write=write)
    _summarise(len(drift.added), len(drift.removed))
    return 0


def _export(options: argparse.Namespace) -> int:
    from rag_dedup.audit.records import write_files
    from rag_dedup.operations import export_index

    write_files({options.out: export_index(_open(options.url))})
    return 0


def _import(options: argparse.Namespace) -> int:
    from rag_dedup.operations import import_index

    count = import_index(_parse(_read_lines(options.file)), _open(options.url, create=True))
    print(f"{count:,} documents", file=sys.stderr)
    return 0


def _parse(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number} is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise InputError(f"line {number} is no JSON object")
        yield value


def _read_lines(path: str) -> Iterator[str]:
    try:
        if path == "-":
            yield from (line.decode("utf-8", "surrogatepass") for line in sys.stdin.buffer)
        else:
            with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
                yield from file
    except OSError as error:
        raise UnreadableInputError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UnreadableInputError(f"{path}: it is not in UTF-8") from error


def _write_actions(path: str, added: Iterable[Document], removed: Iterable[str]) -> None:
    from rag_dedup.audit.records import write_files

    write_files({path: list_actions(added, removed)})


def _summarise(written: int, deleted: int) -> None:
    print(f"the vector store has {written:,} to write and {deleted:,} to delete", file=sys.stderr)


def _list_few(names: Sequence[str]) -> None:
    from rag_dedup.audit.screen import show

    for name in names[:5]:
        print(f"  {show(name)}", file=sys.stderr)
