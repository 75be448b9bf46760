"""``rag-dedup url``, as a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_dedup.audit.url import describe_url, format_description
from rag_dedup.url import WebPage, judge_canonical, read_page
from tests.url.case_files import read_cases

MAIL = "https://www.Example.com/a/?utm_source=mail&b=1#top"


def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "rag_dedup", "url", *map(str, arguments)],
        capture_output=True,
        input=stdin,
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
    )
    stdout, stderr = (text.decode("utf-8").replace(os.linesep, "\n") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr)


def test_both_keys_and_the_rules_are_shown() -> None:
    done = run(MAIL)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"{MAIL}\n"
        "  SAFE   https://www.example.com/a/?b=1\n"
        "  WEB    https://example.com/a?b=1\n"
        "  rules  SAFE  spelling\n"
        "         SAFE  drop_tracking: utm_source\n"
        "         SAFE  drop_anchors\n"
        "         WEB   drop_www\n"
        "         WEB   drop_trailing_slash\n"
    )


def test_the_same_as_json_lines() -> None:
    done = run("--json", MAIL, "N/A", "https://example.com/é\ud800".encode("utf-8", "replace").decode())
    mail, placeholder, last = map(json.loads, done.stdout.splitlines())
    assert (mail["url"], mail["safe"], mail["web"]) == (
        MAIL,
        "https://www.example.com/a/?b=1",
        "https://example.com/a?b=1",
    )
    assert mail["rules"][1] == {
        "rule": "drop_tracking",
        "policy": "SAFE",
        "parameters": ["utm_source"],
        "why": "",
    }
    assert "canonical" not in mail
    assert (placeholder["safe"], placeholder["web"]) == (None, None)
    assert last["safe"].startswith("https://example.com/%C3%A9")


def test_a_page_is_judged(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text('<link rel="canonical" href="/b">', encoding="utf-8")
    done = run("https://example.com/a", "--html", page)
    assert done.stdout.splitlines()[-2:] == [
        "  says   tag        https://example.com/b",
        "  page   stands under https://example.com/b: same site, if that page is there",
    ]
    done = run("https://example.com/a", "--html", page, "--header", 'Link: </c>; rel="canonical"', "--json")
    verdict = json.loads(done.stdout)["canonical"]
    assert (verdict["accepted"], verdict["reason"], verdict["target"]) == (
        False,
        "header and tag disagree",
        None,
    )
    assert [hint["url"] for hint in verdict["hints"]] == ["https://example.com/c", "https://example.com/b"]


def test_a_page_comes_in_any_encoding_and_from_standard_input() -> None:
    html = '<meta charset="iso-8859-1"><link rel=canonical href="/é">'.encode("latin-1")
    done = run("https://example.com/a", "--html", "-", "--json", stdin=html)
    assert json.loads(done.stdout)["canonical"]["target"] == "https://example.com/é"


def test_several_headers_with_and_without_their_name() -> None:
    done = run("https://example.com/a", "--header", "</b>; rel=canonical", "--header", "LINK: </c>; rel=next")
    assert "stands under https://example.com/b: same site" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: URL"),
        (("https://e.org/", "--html", "none.html"), "none.html: No such file or directory"),
        (("https://e.org/", "https://e.org/a", "--html", "a.html"), "belong to one page: give one URL"),
        (("https://e.org/", "--header", "Location: /a"), "--header takes a Link header, such as"),
    ],
)
def test_usage_errors_say_what_to_do(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_usable() -> None:
    done = run("N/A", "unknown")
    assert done.returncode == 1
    assert "no key: this names no page" in done.stdout


def test_help_has_examples() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "rag-dedup url 'https://www.example.com/a/?utm_source=mail#top'" in done.stdout


def test_nothing_steers_the_terminal() -> None:
    assert "\x1b" not in format_description(describe_url("https://example.com/\x1b[2J"))


def test_every_verdict_has_words() -> None:
    reasons = set()
    for case in read_cases("verdicts")["case"]:
        given: Any = case["page"]
        html = given.get("html", "") + (
            f'<link rel=canonical href="{given["says"]}">' if "says" in given else ""
        )
        page: WebPage = read_page(given["url"].split()[0].lstrip("!"), html, given.get("header", ""))
        assert "  page   stands under " in format_description(describe_url(page.url, page))
        reasons.add(judge_canonical(page).reason)
    assert len(reasons) >= 10


def test_it_needs_no_extra() -> None:
    code = (
        "import sys\n"
        "for name in ('rich', 'trafilatura', 'lxml', 'pandas', 'semantic_text_splitter', 'w3lib'):\n"
        "    sys.modules[name] = None\n"
        "from rag_dedup.cli import main\n"
        "raise SystemExit(main(['url', 'https://example.com/a', '--html', '-']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, input=b"<link>")
    assert done.returncode == 0, done.stderr
