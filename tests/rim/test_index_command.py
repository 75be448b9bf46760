"""``rag-dedup index``, and ``rag-dedup dedupe --index``, as real processes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_dedup import Deduplicator, Document, open_index
from rag_dedup.document import Changes
from tests.engine.stores import STORES

for package in ("trafilatura", "semantic_text_splitter"):
    pytest.importorskip(package)

LONG = "the broker keeps a log of all messages that a client sends to a topic and hands them out in order"


def run(*arguments: str, status: int = 0, input: str = "") -> tuple[str, str]:
    """Run the command in a process and return what it said and complained about."""
    done = subprocess.run(
        [sys.executable, "-m", "rag_dedup", *arguments],
        capture_output=True,
        input=input.encode("utf-8"),
        timeout=120,
        env={**os.environ, "COLUMNS": "100"},
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert done.returncode == status, err
    return out, err


def parse(lines: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines()]


def list_ids(lines: str, action: str) -> list[str]:
    return [line["id"] for line in parse(lines) if line["action"] == action]


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'index.db'}"
    dedup = Deduplicator(url)
    dedup.dedupe(
        [Document("a", LONG, source="p", metadata={"n": 1}), Document("b", LONG, source="q")], run="one"
    )
    dedup.dedupe([Document("b", LONG, source="q"), Document("c", "something else", source="r")], run="two")
    return url


class TestStats:
    def test_table(self, url: str) -> None:
        out, _ = run("index", "stats", url)
        assert "documents       3\n" in out
        assert "by run          one 2, two 1\n" in out

    def test_json_and_prometheus(self, url: str) -> None:
        assert json.loads(run("index", "stats", url, "--json")[0])["duplicates"] == 1
        assert "rag_dedup_index_duplicates 1\n" in run("index", "stats", url, "--prometheus")[0]


class TestVerify:
    def test_fine(self, url: str) -> None:
        assert run("index", "verify", url) == ("", "nothing wrong\n")

    def test_fault(self, url: str) -> None:
        with open_index(url).transaction() as transaction:
            transaction.write("spoiled", Changes(delete=(("", "a"),), withdrawn=(0,)))
        out, err = run("index", "verify", url, status=1)
        assert [(fault["kind"], fault["id"]) for fault in parse(out)] == [("orphan", "b")]
        assert err == "1 faults\n"


class TestRemovals:
    def test_sweep(self, url: str) -> None:
        for option in (["--dry-run"], []):
            out, err = run("index", "sweep", url, "--run", "two", *option)
            assert [(action["action"], action["id"]) for action in parse(out)] == [
                ("write", "b"),
                ("delete", "a"),
            ]
            assert err == "the vector store has 1 to write and 1 to delete\n"
        assert run("index", "sweep", url, "--run", "two")[0] == ""

    def test_expire(self, url: str) -> None:
        out, _ = run("index", "expire", url, "--older-than", "two")
        assert [action["id"] for action in parse(out)] == ["b", "a"]
        _, err = run("index", "expire", url, "--older-than", "three", status=2)
        assert "run 'three' has seen no source" in err

    def test_forget(self, url: str) -> None:
        assert [action["id"] for action in parse(run("index", "forget", url, "--source", "p")[0])] == [
            "b",
            "a",
        ]
        assert [
            action["id"] for action in parse(run("index", "forget", url, "--id", "c", "--id", "x")[0])
        ] == ["c"]
        assert "source or ids" in run("index", "forget", url, status=2)[1]

    def test_nothing_is_forgotten_when_the_list_cannot_be_written(self, url: str, tmp_path: Path) -> None:
        _, err = run("index", "forget", url, "--source", "p", "--out", str(tmp_path / "no" / "x"), status=2)
        assert "cannot write" in err
        assert Deduplicator(url).explain("a").survivor is None

    def test_nothing_is_forgotten_when_the_reader_goes_away(self, url: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "rag_dedup", "index", "sweep", url, "--run", "two"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait() == 141
        assert Deduplicator(url).explain("a").survivor is None

    @pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of POSIX")
    def test_nothing_is_forgotten_when_the_output_is_closed(self, url: str) -> None:
        words = [sys.executable, "-m", "rag_dedup", "index", "sweep", url, "--run", "two"]
        done = subprocess.run(
            f"{shlex.join(words)} >&-", shell=True, check=False, capture_output=True, timeout=120
        )
        assert done.returncode == 2
        assert done.stderr.startswith(b"rag-dedup: cannot write standard output: ")
        assert Deduplicator(url).explain("a").survivor is None

    def test_drop(self, url: str) -> None:
        assert run("index", "drop", url)[0] == ""
        assert "no index" in run("index", "stats", url, status=2)[1]


def test_reconcile(url: str) -> None:
    out, err = run("index", "reconcile", url, input="b\nc\nalien\n")
    assert [(action["action"], action["id"]) for action in parse(out)] == [("write", "a"), ("delete", "b")]
    assert parse(out)[0]["metadata"] == {"n": 1}
    assert "1 ids that the index does not know" in err
    assert "alien" in err


class TestTransfer:
    def test_export_and_import(self, url: str, tmp_path: Path) -> None:
        path, other = tmp_path / "export.jsonl", f"sqlite:///{tmp_path / 'other.db'}"
        run("index", "export", url, "--out", str(path))
        assert run("index", "import", other, str(path)) == ("", "3 documents\n")
        assert run("index", "export", other)[0] == path.read_text("utf-8")
        assert "not empty" in run("index", "import", other, str(path), status=2)[1]

    @pytest.mark.parametrize("text", ["", "no JSON\n", "[]\n", '{"rag_dedup": 99}\n', "[" * 100_000])
    def test_what_is_no_export(self, tmp_path: Path, text: str) -> None:
        _, err = run("index", "import", f"sqlite:///{tmp_path / 'other.db'}", "-", status=2, input=text)
        assert err.startswith("rag-dedup: ")
        assert "Traceback" not in err

    def test_merge(self, url: str, tmp_path: Path) -> None:
        second, target = f"sqlite:///{tmp_path / 'second.db'}", f"sqlite:///{tmp_path / 'all.db'}"
        Deduplicator(second).dedupe([Document("z", LONG)])
        out, _ = run("index", "merge", url, second, "--into", target)
        assert parse(out) == [{"action": "delete", "id": "z"}]
        assert run("index", "verify", target)[1] == "nothing wrong\n"


class TestDedupe:
    @pytest.mark.parametrize("store", [name for name in STORES if name != "memory"])
    def test_second_run_knows_the_first(self, store: str, tmp_path: Path) -> None:
        url = STORES[store]()
        for name, text in (("a.txt", LONG), ("b.txt", LONG + " always"), ("c.txt", "something else")):
            (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "in" / name).write_text(text, "utf-8")
        changes = tmp_path / "changes.jsonl"
        common = ["dedupe", str(tmp_path / "in"), "--index", url, "--changes", str(changes)]
        out, _ = run(*common, "--run", "one")
        kept = [line["id"] for line in parse(out)]
        assert len(kept) == 2
        assert [action["id"] for action in parse(changes.read_text("utf-8"))] == kept
        (tmp_path / "in" / "a.txt").unlink()
        out, _ = run(*common, "--run", "two")
        assert [line["id"] for line in parse(out)] == [kept[1]]
        assert changes.read_text("utf-8") == ""
        out, _ = run("index", "sweep", url, "--run", "two")
        assert [action["action"] for action in parse(out)] == ["write", "delete"]

    def test_nothing_is_committed_when_the_changes_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text(LONG, "utf-8")
        url = f"sqlite:///{tmp_path / 'index.db'}"
        missing = str(tmp_path / "no" / "changes")
        run("dedupe", str(tmp_path / "a.txt"), "--index", url, "--changes", missing, status=2)
        assert Deduplicator(url).generation == 0


class TestUrls:
    def test_an_index_that_is_not_there(self, tmp_path: Path) -> None:
        _, err = run("index", "stats", f"sqlite:///{tmp_path / 'typo.db'}", status=2)
        assert "there is no file" in err
        assert list(tmp_path.iterdir()) == []

    def test_a_namespace_that_is_not_there(self, url: str) -> None:
        assert "no index in namespace 'x'" in run("index", "stats", url + "?namespace=x", status=2)[1]

    def test_memory(self) -> None:
        assert "ends with the command" in run("index", "stats", "memory://", status=2)[1]

    def test_help(self) -> None:
        out, _ = run("index", "--help")
        assert "examples:" in out
        assert "{" not in out.partition("examples:")[0]


def test_metadata_that_json_lacks(tmp_path: Path) -> None:
    url, other = (f"sqlite:///{tmp_path / name}" for name in ("one.db", "two.db"))
    metadata: Any = {"n": float("nan"), "k": {(1, 2): [3]}}
    text = "one two three four five"
    Deduplicator(url).dedupe(
        [Document("a", text, source="a"), Document("b", text, source="b", metadata=metadata)]
    )
    lines, _ = run("index", "export", url)
    run("index", "import", other, "-", input=lines)
    actions, _ = run("index", "forget", other, "--source", "a")
    action = json.loads(actions.splitlines()[0], parse_constant=pytest.fail)
    assert action["metadata"] == {"n": None, "k": {"(1, 2)": [3]}}


@pytest.mark.parametrize(
    "command", [["import", "memory://", "-"], ["merge", "URL", "URL", "--into", "memory://"]]
)
def test_an_index_that_ends_with_the_command(tmp_path: Path, command: list[str]) -> None:
    url = f"sqlite:///{tmp_path / 'one.db'}"
    Deduplicator(url).dedupe([Document("a", "one two three")])
    _, err = run("index", *(url if part == "URL" else part for part in command), status=2)
    assert "ends with the command" in err
