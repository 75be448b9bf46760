"""The part of Markdown that the example site uses, as HTML.

Headings, paragraphs, lists, tables, fenced code, ``::: kind`` ... ``:::`` for notes and warnings; inline:
code, bold, italics, links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

_HEADING = re.compile(r"(#{1,3}) (.*)")
_ITEM = re.compile(r"(- |\d+\. )(.*)")
_FENCE = re.compile(r"( *)```(\w*)")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*|\[(?P<text>[^\]]+)\]\((?P<href>[^)]+)\)"
)


def render_markdown(text: str, titles: dict[str, str]) -> str:
    """Return ``text`` as HTML; ``titles`` are the headings of notes and warnings by kind.

    >>> render_markdown("# Ports\\n\\nUse `80` or *none*.", {})
    '<h1 id="ports">Ports</h1>\\n<p>Use <code>80</code> or <em>none</em>.</p>'
    """
    lines = text.split("\n")
    blocks = []
    start = 0
    while start < len(lines):
        if not lines[start]:
            start += 1
            continue
        read = _find_reader(lines[start])
        block, start = read(lines, start, titles)
        blocks.append(block)
    return "\n".join(blocks)


Reader = Callable[[list[str], int, dict[str, str]], tuple[str, int]]
"""Takes lines, the number of the first one and titles; returns HTML and the number after the last one."""


def _find_reader(line: str) -> Reader:
    if _HEADING.fullmatch(line):
        return _read_heading
    if _FENCE.fullmatch(line):
        return _read_code
    if line.startswith(":::"):
        return _read_admonition
    if line.startswith("|"):
        return _read_table
    if _ITEM.fullmatch(line):
        return _read_list
    return _read_paragraph


def _read_heading(lines: list[str], start: int, titles: dict[str, str]) -> tuple[str, int]:
    marks, text = _HEADING.fullmatch(lines[start]).groups()  # type: ignore[union-attr]
    anchor = re.sub(r"[^\w]+", "-", text.lower()).strip("-")
    level = len(marks)
    return f'<h{level} id="{escape(anchor)}">{_render_inline(text)}</h{level}>', start + 1


def _read_code(lines: list[str], start: int, titles: dict[str, str]) -> tuple[str, int]:
    language = lines[start].strip().removeprefix("```")
    end = lines.index("```", start + 1)
    code = escape("\n".join(lines[start + 1 : end]), quote=False)
    return f'<pre><code class="language-{language}">{code}</code></pre>', end + 1


def _read_admonition(lines: list[str], start: int, titles: dict[str, str]) -> tuple[str, int]:
    kind = lines[start].removeprefix(":::").strip()
    end = lines.index(":::", start + 1)
    text = render_markdown("\n".join(lines[start + 1 : end]), titles)
    title = f'<p class="admonition-title">{titles[kind]}</p>'
    return f'<div class="admonition {kind}">\n{title}\n{text}\n</div>', end + 1


def _read_table(lines: list[str], start: int, titles: dict[str, str]) -> tuple[str, int]:
    end = _find_end(lines, start, lambda line: not line.startswith("|"))
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:end])
    rows = "\n".join(_render_row("td", cells) for cells in body)
    head_row = _render_row("th", head)
    return f"<table>\n<thead>\n{head_row}\n</thead>\n<tbody>\n{rows}\n</tbody>\n</table>", end


def _render_row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_render_inline(cell)}</{tag}>" for cell in cells) + "</tr>"


def _read_list(lines: list[str], start: int, titles: dict[str, str]) -> tuple[str, int]:
    tag = "ul" if lines[start].startswith("- ") else "ol"
    end = _find_end(lines, start, lambda line: not line)
    items: list[str] = []
    for line in lines[start:end]:
        if item := _ITEM.fullmatch(line):
            items.append(item[2])
        else:
            items[-1] += "\n" + line.strip()
    # A list that goes on after a block of code keeps its numbers.
    first = lines[start].split(".")[0]
    number = f' start="{first}"' if tag == "ol" and first != "1" else ""
    inner = "\n".join(f"<li>{_render_inline(item)}</li>" for item in items)
    return f"<{tag}{number}>\n{inner}\n</{tag}>", end


def _read_paragraph(lines: list[str], start: int, titles: dict[str, str]) -> tuple[str, int]:
    end = _find_end(lines, start, lambda line: not line)
    return f"<p>{_render_inline(chr(10).join(lines[start:end]))}</p>", end


def _find_end(lines: list[str], start: int, is_end: Callable[[str], bool]) -> int:
    return next((i for i in range(start, len(lines)) if is_end(lines[i])), len(lines))


# Chinese has no spaces: lines are joined without one.
_LINE_END = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\n")


def _render_inline(text: str) -> str:
    return "".join(_render_spans(_LINE_END.sub("", text).replace("\n", " ")))


def _render_spans(text: str) -> Iterator[str]:
    position = 0
    for match in _INLINE.finditer(text):
        yield escape(text[position : match.start()], quote=False)
        if match["href"]:
            yield f'<a href="{escape(match["href"])}">{_render_inline(match["text"])}</a>'
        else:
            tag = str(match.lastgroup)
            yield f"<{tag}>{escape(match[tag], quote=False)}</{tag}>"
        position = match.end()
    yield escape(text[position:], quote=False)
