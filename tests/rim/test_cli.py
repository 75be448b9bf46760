"""The command line, as a real process."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_dedup import __version__

for package in ("trafilatura", "semantic_text_splitter", "rich"):
    pytest.importorskip(package)

posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals and signals are POSIX here")

WORDS = "broker stream offset commit replica leader quorum segment retention consumer producer topic".split()


def write_passage(number: int, length: int = 70) -> str:
    return (
        " ".join(f"{WORDS[(number * 5 + i * i) % 12]}{'abcdefghij'[number]}{i % 7}" for i in range(length))
        + "."
    )


def write_page(title: str, *passages: str, url: str | None = None) -> str:
    mark = f"<!-- saved from url=({len(url):04d}){url} -->\n" if url else ""
    body = "".join(f"<p>{passage}</p>" for passage in passages)
    return (
        f"<!DOCTYPE html>\n{mark}<html lang=en><head><title>{title}</title></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus with everything in it: copies, near-duplicates, guards, and bad input."""
    root = tmp_path_factory.mktemp("corpus") / "site"
    base = "https://docs.example.com"
    limit = "The limit is {} requests a minute for every key. " + write_passage(6)
    files: dict[str, str | bytes] = {
        "a.html": write_page("A", write_passage(0), write_passage(1), url=f"{base}/a"),
        "a-again.html": write_page("A", write_passage(0), write_passage(1), url=f"{base}/a?utm_source=x"),
        "b/index.html": write_page("B", write_passage(2), write_passage(1), url=f"{base}/b"),
        "limit-1.html": write_page("Limit", limit.format(100), url=f"{base}/1"),
        "limit-2.html": write_page("Limit", limit.format(200), url=f"{base}/2"),
        "limit-3.html": write_page("Limit", limit.format(100) + " That is all.", url=f"{base}/3"),
        "notes.md": f"# Notes\n\n{write_passage(3)}",
        "plain.txt": write_passage(3),
        "records.jsonl": "\n".join(
            [
                json.dumps({"id": "r1", "text": write_passage(4), "url": "https://me:pw@help.example.com/x"}),
                json.dumps({"id": "r2", "text": write_passage(4) + "\ud800\0", "url": 17}),
                json.dumps({"id": "r1", "text": "another text"}),
                '{"text": "cut o',
            ]
        ),
        "app.html": "<html><script>run()</script></html>",
        "image.html": b"\x89PNG\r\n\x1a\n",
        "latin.txt": b"caf\xe9 au lait",
        "empty.md": "",
        "style.css": "p {}",
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rag_dedup", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        **options,
    )


def read_records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.fixture(scope="module")
def output(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("output")
    done = run("dedupe", site, "--out", folder / "kept.jsonl", "--decisions", folder / "decisions.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    return folder


class TestDedupe:
    def test_counts_add_up(self, output: Path) -> None:
        kept, decisions = read_records(output / "kept.jsonl"), read_records(output / "decisions.jsonl")
        actions = Counter(record["action"] for record in decisions if "action" in record)
        assert set(actions) == {"keep", "drop"}
        assert actions["keep"] == len(kept)
        assert actions.total() == len([record for record in decisions if "skipped" not in record])

    def test_every_drop_names_a_kept_survivor(self, output: Path) -> None:
        kept = {record["id"] for record in read_records(output / "kept.jsonl")}
        for record in read_records(output / "decisions.jsonl"):
            if record.get("action") == "drop":
                assert record["survivor"] in kept
                assert record["method"] in ("exact", "minhash")
                assert record["similarity"] >= 0.8

    def test_every_place_of_a_passage_is_remembered(self, output: Path) -> None:
        [shared] = [r for r in read_records(output / "kept.jsonl") if write_passage(1) in r["text"]]
        assert shared["sources"] == [
            "https://docs.example.com/a?utm_source=x",
            "https://docs.example.com/a",
            "https://docs.example.com/b",
        ]
        assert shared["canonical_url"] == "https://docs.example.com/a"
        assert (shared["title"], shared["language"], shared["scope"]) == ("A", "en", "")

    def test_numbers_are_kept_apart(self, output: Path) -> None:
        guards = {r["id"]: r["guard"] for r in read_records(output / "decisions.jsonl") if r.get("guard")}
        assert guards == {"limit-2.html#0": {"kind": "number", "here": "200", "there": "100"}}

    def test_bad_inputs_are_named(self, output: Path) -> None:
        skipped = {
            r["skipped"]: r["reason"] for r in read_records(output / "decisions.jsonl") if "skipped" in r
        }
        assert set(skipped) == {
            "app.html", "image.html", "latin.txt", "empty.md", "*.css", "r1", "records.jsonl#4",
        }  # fmt: skip
        assert skipped["latin.txt"].startswith("not UTF-8")
        assert skipped["r1"].startswith("the id was there before")

    def test_surrogates_and_nul_survive(self, tmp_path: Path) -> None:
        text = "a lone \ud800 surrogate, a NUL \0 and a line\u2028separator"
        (tmp_path / "r.jsonl").write_text(json.dumps({"text": text}))
        done = run("dedupe", tmp_path)
        assert json.loads(done.stdout)["text"] == text
        assert "lone \\ud800 surrogate, a NUL \\u0000 and a line\\u2028sep" in done.stdout

    def test_same_input_same_bytes(self, site: Path, output: Path, tmp_path: Path) -> None:
        elsewhere = shutil.copytree(site, tmp_path / "elsewhere")
        run(
            "dedupe", elsewhere, "--out", tmp_path / "kept.jsonl", "--decisions", tmp_path / "decisions.jsonl"
        )
        for name in ("kept.jsonl", "decisions.jsonl"):
            assert (tmp_path / name).read_bytes() == (output / name).read_bytes()
            assert b"\r" not in (tmp_path / name).read_bytes()

    def test_output_among_the_input_is_not_read_again(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text(write_passage(0))
        kept = tmp_path / "kept.jsonl"
        first, second = (run("dedupe", tmp_path, "--out", kept) and kept.read_bytes() for _ in range(2))
        assert first == second
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "kept.jsonl"]

    def test_standard_output(self, site: Path, output: Path) -> None:
        assert run("dedupe", site).stdout == (output / "kept.jsonl").read_text(encoding="utf-8")
        done = run("dedupe", site, "--out", os.devnull, "--decisions", "-")
        assert done.stdout == (output / "decisions.jsonl").read_text(encoding="utf-8")
        assert os.path.exists(os.devnull)

    def test_what_came_of_it_is_told(self, site: Path) -> None:
        done = run("dedupe", site, "--out", os.devnull)
        assert re.search(
            r"10 pages, \d+ chunks: \d+ kept, \d+ exact and \d+ near-duplicates dropped", done.stderr
        )
        assert "latin.txt: not UTF-8" in done.stderr

    def test_options(self, site: Path) -> None:
        count = lambda *options: len(run("dedupe", site, *options).stdout.splitlines())  # noqa: E731
        assert count("--no-guards") < count()
        assert count("--chunk-size", "200") > count()
        assert count("--threshold", "1.0") >= count()
        assert count("--seed", "7") == count()
        assert count("--keep-boilerplate") >= count()

    def test_scopes(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        lines = [{"text": write_passage(0), "team": team, "tier": 1} for team in ("red", "blue", "red")]
        path.write_text("\n".join(map(json.dumps, lines)))
        assert len(run("dedupe", path).stdout.splitlines()) == 1
        records = [
            json.loads(line) for line in run("dedupe", path, "--scope-key", "team").stdout.splitlines()
        ]
        assert [record["scope"] for record in records] == ["red", "blue"]
        assert len(run("dedupe", path, "--scope-key", "team", "--scope-key", "tier").stdout.splitlines()) == 2


class TestAudit:
    def test_the_table_equals_the_decisions(self, site: Path, output: Path) -> None:
        done = run("audit", site)
        assert (done.returncode, done.stderr) == (0, "")
        decisions = [r for r in read_records(output / "decisions.jsonl") if "action" in r]
        methods = Counter(record["method"] for record in decisions if record["survivor"])
        expected = {
            "kept": sum(record["survivor"] is None for record in decisions),
            "exact duplicates": methods["exact"],
            "near-duplicates": methods["minhash"],
        }
        for name, number in expected.items():
            assert re.search(rf" {number} +[\d.]+ % +{name}\n", done.stdout), name
        assert re.search(rf" {len(decisions)} +in all\n", done.stdout)
        assert re.search(r"pages +10 ", done.stdout)
        assert 'number  1  such as "200" and "100"' in done.stdout
        assert "https://***@help.example.com/x" in done.stdout
        assert ":pw@" not in done.stdout
        assert "latin.txt" in done.stdout

    def test_json_equals_the_decisions(self, site: Path, output: Path) -> None:
        counts = json.loads(run("audit", site, "--json").stdout)
        decisions = read_records(output / "decisions.jsonl")
        assert counts["report"]["documents"] == sum("action" in record for record in decisions)
        assert counts["report"]["dropped"] == sum(record.get("action") == "drop" for record in decisions)
        assert [s["name"] for s in counts["report"]["skipped"]] == [
            r["skipped"] for r in decisions if "skipped" in r
        ]

    def test_two_runs_are_equal(self, site: Path) -> None:
        assert run("audit", site).stdout == run("audit", site).stdout

    def test_a_terminal_that_is_not_utf8(self, site: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "rag_dedup", "audit", site],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        )
        assert done.returncode == 0
        assert b"##" in done.stdout


class TestExitStatus:
    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["audit"],
            ["nonsense", "SITE"],
            ["audit", "SITE/nope"],
            ["audit", "SITE", "SITE/nope.html"],
            ["audit", "SITE", "--threshold", "2"],
            ["audit", "SITE", "--threshold", "nan"],
            ["audit", "SITE", "--threshold", "much"],
            ["audit", "SITE", "--chunk-size", "0"],
            ["audit", "SITE", "--chunk-size", "99999999999999999999"],
            ["audit", "SITE", "--seed", "-1"],
            ["audit", "SITE", "--scope-key", "team"],
            ["audit", "SITE", "--thresh", "0.9"],
            ["dedupe", "SITE", "--out", "SITE/no/such/folder/kept.jsonl"],
            ["dedupe", "SITE", "--out", "SITE"],
            ["dedupe", "SITE", "--out", "x.jsonl", "--decisions", "./x.jsonl"],
            ["dedupe", "SITE", "--out", "-", "--decisions", "-"],
        ],
    )
    def test_two_is_for_what_the_user_can_put_right(self, site: Path, arguments: list[str]) -> None:
        done = run(*(argument.replace("SITE", str(site)) for argument in arguments))
        assert done.returncode == 2
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        last = done.stderr.splitlines()[-1]
        assert last.startswith("rag-dedup")
        assert done.stderr.count("\n") == 1 or "usage:" in done.stderr

    def test_two_is_for_a_missing_extra(self, site: Path) -> None:
        for module, command in (
            ("trafilatura", "pip install 'rag-dedup[html]'"),
            ("semantic_text_splitter", "pip install 'rag-dedup[audit]'"),
            ("rich", "pip install 'rag-dedup[audit]'"),
        ):
            code = (
                f"import sys; sys.modules[{module!r}] = None\n"
                f"from rag_dedup.cli import main; sys.exit(main(['audit', {str(site)!r}]))"
            )
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            assert done.returncode == 2
            assert done.stderr.count("\n") == 1
            assert command in done.stderr

    @pytest.mark.parametrize("command", ["audit", "dedupe"])
    def test_one_is_for_nothing_usable(self, site: Path, tmp_path: Path, command: str) -> None:
        for inputs in ([tmp_path], [site / "app.html", site / "latin.txt"]):
            done = run(command, *inputs)
            assert (done.returncode, done.stdout) == (1, "")
            assert "nothing usable" in done.stderr
        assert "latin.txt: not UTF-8" in done.stderr

    def test_nothing_usable_overwrites_nothing(self, site: Path, tmp_path: Path) -> None:
        kept = tmp_path / "kept.jsonl"
        kept.write_text("precious")
        assert run("dedupe", site / "app.html", "--out", kept).returncode == 1
        assert kept.read_text() == "precious"

    def test_all_outputs_are_written_or_none(self, site: Path, tmp_path: Path) -> None:
        kept = tmp_path / "kept.jsonl"
        kept.write_text("precious")
        decisions = tmp_path / "no" / "d.jsonl"
        done = run("dedupe", site, "--out", kept, "--decisions", decisions)
        assert done.returncode == 2
        assert done.stderr == f"rag-dedup: cannot write {decisions}: No such file or directory\n"
        assert kept.read_text() == "precious"
        assert list(tmp_path.iterdir()) == [kept]

    def test_version_and_help(self) -> None:
        assert run("--version").stdout == f"rag-dedup {__version__}\n"
        for arguments in (["--help"], ["audit", "--help"], ["dedupe", "--help"]):
            done = run(*arguments)
            assert done.returncode == 0
            assert done.stdout.startswith("usage: rag-dedup")

    def test_a_broken_pipe_is_quiet(self, site: Path) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "rag_dedup", "dedupe", str(site)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read()
        process.stderr.close()
        assert process.wait() == 141
        assert b"Traceback" not in error
        assert b"Exception" not in error


class TestImports:
    def test_help_is_fast_and_the_audit_light(self, site: Path) -> None:
        code = (
            "import sys; from rag_dedup.cli import main\n"
            "try: main(['--help'])\n"
            "except SystemExit: pass\n"
            "heavy = {'pandas', 'matplotlib', 'trafilatura', 'lxml', 'rich', 'scipy', 'langchain_core',"
            " 'llama_index', 'semantic_text_splitter'} & set(sys.modules)\n"
            "assert not heavy, heavy\n"
            f"assert main(['audit', {str(site)!r}]) == 0\n"
            "heavy = {'pandas', 'matplotlib', 'scipy', 'langchain_core', 'llama_index'} & set(sys.modules)\n"
            "assert not heavy, heavy\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@posix
class TestTerminal:
    @pytest.mark.parametrize("width", [80, 120])
    def test_it_fits(self, site: Path, width: int) -> None:
        output, status = run_in_terminal(["audit", str(site)], width)
        assert status == 0
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output)
        assert max(len(line.rpartition("\r")[2] or line) for line in plain.split("\r\n")) <= width
        assert "█" in output
        assert "\x1b[1m" in output

    def test_control_characters_of_the_corpus_do_not_get_there(self, tmp_path: Path) -> None:
        text = f"\x1b]0;owned\x07\x1b[2J\u202e {write_passage(0)}"
        for name in ("a\x1b[31m.txt", "b.txt"):
            (tmp_path / name).write_text(text)
        (tmp_path / "c\x07.txt").write_text("")
        output, status = run_in_terminal(["audit", str(tmp_path)], 100)
        assert status == 0
        for steering in ("\x1b]0", "\x07", "\x1b[31m", "\u202e"):
            assert steering not in output
        assert "\\x1b]0;owned\\x07" in output

    def test_progress_is_on_standard_error_and_goes_away(self, site: Path) -> None:
        output, _ = run_in_terminal(["dedupe", str(site), "--out", os.devnull], 80)
        assert "Reading" in output or "Comparing" in output
        assert run("dedupe", site, "--out", os.devnull).stderr.startswith("10 pages")

    def test_an_interrupt_is_130(self, tmp_path: Path) -> None:
        lines = (json.dumps({"text": f"{number} {write_passage(number % 10)}"}) for number in range(60_000))
        (tmp_path / "many.jsonl").write_text("\n".join(lines))
        output, status = run_in_terminal(["audit", str(tmp_path)], 80, interrupt=b"Reading")
        assert status == 130
        assert "Traceback" not in output


def run_in_terminal(arguments: list[str], width: int, interrupt: bytes | None = None) -> tuple[str, int]:
    """Run the command in a terminal, and interrupt it when it writes something."""
    import fcntl
    import pty
    import struct
    import termios

    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    hidden = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_dedup", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**environment, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
    )
    os.close(terminal)
    output = b""
    for part in _read_terminal(main):
        output += part
        if interrupt is not None and interrupt in output:
            process.send_signal(signal.SIGINT)
            interrupt = None
    os.close(main)
    return output.decode("utf-8", "replace"), process.wait()


def _read_terminal(main: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(main, 65_536)
        except OSError:  # how Linux says that the other end is closed
            return
        if not part:
            return
        yield part
