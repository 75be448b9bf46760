"""Files: every input is read or named, in the same order on every machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_dedup import Document, Skipped
from rag_dedup.errors import UnreadableInputError
from rag_dedup.files import read_files

pytest.importorskip("trafilatura")

HTML = (
    "<html lang=en><head><title>Ports</title></head><body><main><h1>Ports</h1><p>Port 80 is open. "
    + "What is behind it is no secret to anybody who reads this page to its end. " * 5
    + "</p></main></body></html>"
)
SAVED = "<!-- saved from url=({:04d}){} -->"


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


def read_one(folder: Path, name: str, content: str | bytes) -> Document | Skipped:
    write(folder, {name: content})
    [item] = read_files([folder / name])
    return item


def read_lines(folder: Path, *lines: object) -> list[Document | Skipped]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    write(folder, {"r.jsonl": text})
    return list(read_files([folder / "r.jsonl"]))


def name_of(item: Document | Skipped) -> str:
    return item.id if isinstance(item, Document) else item.name


class TestFinding:
    def test_folders_are_read_in_order_of_names(self, tmp_path: Path) -> None:
        write(tmp_path, {"b/z.txt": "1", "b/a.md": "2", "a.txt": "3", "c.markdown": "4", "B.txt": "5"})
        names = [name_of(item) for item in read_files([tmp_path])]
        assert names == ["B.txt", "a.txt", "b/a.md", "b/z.txt", "c.markdown"]

    def test_inputs_are_read_in_the_order_given(self, tmp_path: Path) -> None:
        write(tmp_path, {"b.txt": "1", "a.txt": "2"})
        assert [name_of(i) for i in read_files([tmp_path / "b.txt", tmp_path / "a.txt"])] == [
            "b.txt",
            "a.txt",
        ]

    def test_ids_of_several_folders_do_not_clash(self, tmp_path: Path) -> None:
        write(tmp_path, {"v1/index.txt": "one", "v2/index.txt": "two"})
        names = [name_of(item) for item in read_files([tmp_path / "v1", tmp_path / "v2"])]
        assert names == ["v1/index.txt", "v2/index.txt"]

    def test_ids_do_not_depend_on_where_the_corpus_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path, {"x/c/d/a.txt": "one"})
        monkeypatch.chdir(tmp_path / "x")
        assert (
            list(read_files(["c"]))
            == list(read_files([tmp_path / "x" / "c"]))
            == list(read_files(["../x/c/"]))
        )

    def test_a_file_given_twice_is_read_once(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.txt": "one", "b.txt": "two"})
        assert [name_of(i) for i in read_files([tmp_path / "b.txt", tmp_path])] == ["b.txt", "a.txt"]

    def test_hidden_files_are_left_out_unless_given(self, tmp_path: Path) -> None:
        write(tmp_path, {".git/a.txt": "one", ".b.txt": "two", "c.txt": "three"})
        assert [name_of(item) for item in read_files([tmp_path])] == ["c.txt"]
        assert [name_of(item) for item in read_files([tmp_path / ".b.txt"])] == [".b.txt"]

    def test_excluded_files_are_left_out(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.txt": "one", "kept.jsonl": "{}"})
        assert [name_of(item) for item in read_files([tmp_path], exclude=[tmp_path / "kept.jsonl"])] == [
            "a.txt"
        ]

    def test_an_empty_folder_has_nothing(self, tmp_path: Path) -> None:
        assert list(read_files([tmp_path])) == []
        assert list(read_files([])) == []

    def test_unknown_suffixes_are_named_once_each(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.css": "", "b/c.CSS": "", "d.png": b"\x89PNG", "Makefile": "", "e.txt": "text"})
        skipped = [item for item in read_files([tmp_path]) if isinstance(item, Skipped)]
        assert skipped == [
            Skipped("(no suffix)", "no reader for this suffix: Makefile"),
            Skipped("*.css", "no reader for this suffix: 2 files, the first is a.css"),
            Skipped("*.png", "no reader for this suffix: d.png"),
        ]

    @pytest.mark.parametrize("name", ["nope", "nope.html", "a\0b"])
    def test_a_path_that_does_not_exist_is_an_error_at_once(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(UnreadableInputError, match="cannot read"):
            read_files([tmp_path, str(tmp_path / name)])

    def test_very_deep_folders(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        write(tmp_path, {"e.txt": "text"})
        depth = 1200  # more than Python recurses
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        assert [name_of(item) for item in read_files([tmp_path])] == ["e.txt"]
        for _ in range(depth):  # nor does what clears away afterwards
            os.chdir("..")
            os.rmdir("d")


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are POSIX here")
class TestOddFiles:
    def test_links_to_folders_are_named_not_followed(self, tmp_path: Path) -> None:
        write(tmp_path, {"a/b.txt": "one"})
        (tmp_path / "a" / "up").symlink_to(tmp_path)
        (tmp_path / "self").symlink_to(tmp_path / "self")
        document, link, loop = read_files([tmp_path])
        assert name_of(document) == "a/b.txt"
        assert link == Skipped("a/up", "a link to a folder; give it as an input to have it read")
        assert isinstance(loop, Skipped)
        assert loop.name == "self"

    def test_a_link_to_a_folder_can_be_given(self, tmp_path: Path) -> None:
        write(tmp_path, {"a/b.txt": "one"})
        (tmp_path / "latest").symlink_to(tmp_path / "a")
        assert [name_of(item) for item in read_files([tmp_path / "latest"])] == ["b.txt"]

    def test_links_to_files_are_read(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.txt": "one"})
        (tmp_path / "b.txt").symlink_to(tmp_path / "a.txt")
        (tmp_path / "c.txt").symlink_to(tmp_path / "gone")
        assert [type(item).__name__ for item in read_files([tmp_path])] == ["Document", "Document", "Skipped"]

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "a.html")
        assert list(read_files([tmp_path])) == [Skipped("a.html", "not a regular file")]

    def test_files_without_permission(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.txt": "one", "b/c.txt": "two", "d.txt": "three"})
        os.chmod(tmp_path / "a.txt", 0)
        os.chmod(tmp_path / "b", 0)
        try:
            if os.access(tmp_path / "a.txt", os.R_OK):
                pytest.skip("this user may read everything")
            a, b, d = read_files([tmp_path])
            assert a == Skipped("a.txt", "cannot be read: Permission denied")
            assert b == Skipped("b", "cannot be read: Permission denied")
            assert isinstance(d, Document)
            with pytest.raises(UnreadableInputError, match="Permission denied"):
                read_files([tmp_path / "b"])
        finally:
            os.chmod(tmp_path / "b", 0o700)

    def test_names_that_are_not_utf8(self, tmp_path: Path) -> None:
        path = os.fsencode(tmp_path) + b"/\xff.txt"
        try:
            with open(path, "wb") as file:
                file.write(b"text")
        except OSError:
            pytest.skip("this file system refuses such names")
        [document] = read_files([tmp_path])
        assert name_of(document) == "\udcff.txt"


class TestPages:
    def test_a_saved_page(self, tmp_path: Path) -> None:
        url = "http://www.example.com/ports/?utm_source=x"
        document = read_one(tmp_path, "ports.html", SAVED.format(len(url), url) + HTML)
        assert isinstance(document, Document)
        assert document.id == "ports.html"
        assert document.text.startswith("# Ports\n\nPort 80 is open.")
        assert document.url == document.source == url
        assert document.metadata == {
            "path": "ports.html",
            "title": "Ports",
            "language": "en",
            "canonical_url": "https://example.com/ports",
        }

    def test_a_page_without_an_address(self, tmp_path: Path) -> None:
        document = read_one(tmp_path, "a.htm", HTML)
        assert isinstance(document, Document)
        assert (document.url, document.source) == (None, "a.htm")
        assert "canonical_url" not in document.metadata

    def test_canonical_is_a_hint_that_is_not_followed(self, tmp_path: Path) -> None:
        link = '<link rel="canonical" href="https://example.com/b">'
        document = read_one(tmp_path, "a.html", HTML.replace("<title>", link + "<title>"))
        assert isinstance(document, Document)
        assert document.metadata["canonical_hint"] == "https://example.com/b"
        assert document.url is None

    def test_a_charset_that_had_to_be_guessed_is_told(self, tmp_path: Path) -> None:
        document = read_one(tmp_path, "a.html", "<p>größe".encode("latin-1"))
        assert isinstance(document, Document)
        assert (document.text, document.metadata["encoding"]) == ("größe", "windows-1252")

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("", "empty file"),
            (" \n", "empty file"),
            ("%PDF-1.7 \x00\x01", "not HTML: no tag that HTML knows"),
            (b"\x89PNG\r\n\x1a\n\x00", "not HTML: no tag that HTML knows"),
            ('{"a": 1}', "not HTML: no tag that HTML knows"),
            ("<html><script>let a = 1</script></html>", "no visible text"),
        ],
    )
    def test_what_is_no_page(self, tmp_path: Path, content: str | bytes, reason: str) -> None:
        assert read_one(tmp_path, "a.html", content) == Skipped("a.html", reason)

    def test_options_of_trafilatura(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.html": HTML.replace("Port 80", "Port <a href='https://example.com/80'>80</a>")})
        [document] = read_files([tmp_path], include_links=True, favor_recall=True)
        assert isinstance(document, Document)
        assert "[80](https://example.com/80)" in document.text


class TestTexts:
    def test_text_is_not_changed(self, tmp_path: Path) -> None:
        text = "  a\r\nb\0 \u2028 漢 "
        document = read_one(tmp_path, "a.txt", text)
        assert document == Document("a.txt", text, source="a.txt", metadata={"path": "a.txt"})

    def test_markdown_has_a_title(self, tmp_path: Path) -> None:
        document = read_one(tmp_path, "a.md", "---\nx: 1\n---\n# The *title* #\n\ntext\n# no\n")
        assert isinstance(document, Document)
        assert document.metadata["title"] == "The *title*"

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_encodings_that_declare_themselves(self, tmp_path: Path, encoding: str) -> None:
        document = read_one(tmp_path, "a.txt", "größe".encode(encoding))
        assert isinstance(document, Document)
        assert document.text == "größe"

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "no text"),
            (b" \n\t", "no text"),
            (b"caf\xe9 au lait", "not UTF-8: byte 0xe9 at offset 3"),
            ("größe".encode()[:-4], "not UTF-8: byte 0xc3 at offset 2, perhaps cut off there"),
            ("\ufeffabc".encode("utf-16-le")[:-1], "not UTF-8: byte 0x63 at offset 4, perhaps cut off there"),
        ],
    )
    def test_bad_texts(self, tmp_path: Path, data: bytes, reason: str) -> None:
        assert read_one(tmp_path, "a.txt", data) == Skipped("a.txt", reason)


class TestRecords:
    def test_all_fields(self, tmp_path: Path) -> None:
        [document] = read_lines(
            tmp_path,
            {
                "id": "p1",
                "text": "one",
                "url": "https://example.com/a",
                "source": "https://example.com/",
                "scope": "team",
                "title": "A",
                "note": None,
                "metadata": {"language": "en"},
            },
        )
        assert document == Document(
            "p1",
            "one",
            source="https://example.com/",
            url="https://example.com/a",
            scope="team",
            metadata={
                "path": "r.jsonl",
                "title": "A",
                "note": None,
                "language": "en",
                "canonical_url": "https://example.com/a",
            },
        )

    def test_a_document_as_langchain_writes_it(self, tmp_path: Path) -> None:
        record = {"id": None, "page_content": "one", "metadata": {"source": "https://example.com/a"}}
        [document] = read_lines(tmp_path, record)
        assert isinstance(document, Document)
        assert (document.id, document.url) == ("r.jsonl#1", "https://example.com/a")

    @pytest.mark.parametrize("url", [17, "map", "", None, [], "file:///etc/passwd", "N/A", "http://"])
    def test_what_is_no_url(self, tmp_path: Path, url: object) -> None:
        [document] = read_lines(tmp_path, {"text": "one", "url": url, "source": url})
        assert isinstance(document, Document)
        assert document.url is None
        assert document.source == "r.jsonl#1"
        assert document.metadata.get("url") == url
        assert "canonical_url" not in document.metadata

    @pytest.mark.parametrize(
        ("id", "expected"),
        [("a", "a"), (5, "5"), (0, "0"), *((id, "r.jsonl#1") for id in ("", None, True, [1]))],
    )
    def test_ids(self, tmp_path: Path, id: object, expected: str) -> None:
        [document] = read_lines(tmp_path, {"text": "one", "id": id})
        assert name_of(document) == expected

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("{", "not JSON: Expecting property name enclosed in double quotes at column 2"),
            ('{"text": "cut o', "not JSON: Unterminated string starting at column 10"),
            ("[1]", "not a JSON object"),
            ("null", "not a JSON object"),
            ('"text"', "not a JSON object"),
            ("{}", "no text: neither 'text' nor 'page_content' is a string"),
            ('{"text": 17}', "no text: neither 'text' nor 'page_content' is a string"),
            ('{"text": " \\n"}', "no text"),
            ('{"text": "a", "x": NaN}', "not JSON: NaN is no JSON value"),
            ('{"text": "a", "x": -Infinity}', "not JSON: -Infinity is no JSON value"),
            ('{"text": "a", "x": 1e999}', "not JSON: a number out of range"),
            ('{"text": "a", "scope": 3}', "the scope is not a string"),
            ("[" * 100_000, "not JSON: nested too deeply"),
        ],
    )
    def test_bad_lines_are_named_and_the_others_read(self, tmp_path: Path, line: str, reason: str) -> None:
        first, bad, last = read_lines(tmp_path, {"text": "one"}, line, {"text": "three"})
        assert bad == Skipped("r.jsonl#2", reason)
        assert [name_of(first), name_of(last)] == ["r.jsonl#1", "r.jsonl#3"]

    def test_huge_numbers(self, tmp_path: Path) -> None:
        [item] = read_lines(tmp_path, '{"text": "a", "x": ' + "9" * 100_000 + "}")
        assert isinstance(item, Skipped)

    def test_lines_that_are_not_utf8(self, tmp_path: Path) -> None:
        write(tmp_path, {"r.ndjson": b'{"text": "caf\xe9"}\n{"text": "tea"}'})
        bad, good = read_files([tmp_path])
        assert bad == Skipped("r.ndjson#1", "not UTF-8: byte 0xe9 at offset 13")
        assert name_of(good) == "r.ndjson#2"

    def test_lines_end_at_line_feeds_only(self, tmp_path: Path) -> None:
        write(tmp_path, {"r.jsonl": '\ufeff{"text": "a\u2028b\x85c"}\r\n\n{"text": "d"}\n'})
        first, second = read_files([tmp_path])
        assert isinstance(first, Document)
        assert first.text == "a\u2028b\x85c"
        assert name_of(second) == "r.jsonl#3"

    @given(text=st.text(st.characters(codec=None), min_size=1, max_size=50), more=st.integers())
    def test_texts_survive(self, tmp_path_factory: pytest.TempPathFactory, text: str, more: int) -> None:
        folder = tmp_path_factory.mktemp("r")
        [item] = read_lines(folder, {"text": text, "more": more})
        if text.strip():
            assert isinstance(item, Document)
            # JSON cannot tell two surrogates from the character that they encode together.
            assert item.text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            assert item.metadata["more"] == more
        else:
            assert item == Skipped("r.jsonl#1", "no text")


class TestClashes:
    def test_an_id_with_another_text_is_skipped(self, tmp_path: Path) -> None:
        items = read_lines(
            tmp_path, {"id": "a", "text": "one"}, {"id": "a", "text": "two"}, {"id": "b", "text": "x"}
        )
        assert [type(item).__name__ for item in items] == ["Document", "Skipped", "Document"]
        assert items[1] == Skipped("a", "the id was there before, with another text")

    def test_an_id_with_the_same_text_is_not(self, tmp_path: Path) -> None:
        items = read_lines(tmp_path, {"id": "a", "text": "one"}, {"id": "a", "text": "one"})
        assert all(isinstance(item, Document) for item in items)

    def test_scope_is_part_of_identity(self, tmp_path: Path) -> None:
        records: list[Any] = [{"id": "a", "text": text, "scope": text} for text in ("one", "two")]
        assert all(isinstance(item, Document) for item in read_lines(tmp_path, *records))


def test_one_long_line(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x" * 20_000_000, "b.jsonl": json.dumps({"text": "y" * 20_000_000})})
    a, b = read_files([tmp_path])
    assert isinstance(a, Document)
    assert isinstance(b, Document)
    assert len(a.text) == len(b.text) == 20_000_000
