"""Time ``canonicalize_url``, and w3lib's beside it where it is installed.

    python tests/benchmarks/urls.py [--urls 20000] [--rounds 7]

The URLs are made, always the same ones, in the shapes that pages link to: one in three has a query, one in
seven a fragment, one in six needs work on its escapes, host or path. The contestants run interleaved, so
that a busy machine slows them all, and the median round counts.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from rag_dedup.url import SAFE, WEB, canonicalize_url

_WORDS = (
    "about account api archive article blog book city code data default design docs download en events faq "
    "features forum free guide help home how image index install intro item kubernetes latest library list "
    "manual media model music network news open page post pricing product python query reference release "
    "report research review science search security service setup shop show start static story support table "
    "tag team test tool topic tutorial update user v1 v2.3 video view wiki work world"
).split()
_SUFFIXES = (".com", ".org", ".net", ".io", ".de", ".co.uk", ".dev", ".gov", ".edu", ".readthedocs.io")
_NAMES = "id page q lang sort view ref category utm_source utm_medium utm_campaign fbclid v t format".split()
_ODD_WORDS = (
    "caf%c3%a9",
    "%7Euser",
    "a%20b",
    "x+y",
    "C%2B%2B",
    "naïve",
    "%E4%BD%A0%E5%A5%BD",
    "..",
    ";v=1",
    "(old)",
)


def make_urls(count: int, seed: int = 7) -> list[str]:
    """Make ``count`` URLs."""
    chance = random.Random(seed)
    return [_make_url(chance) for _ in range(count)]


def _make_url(chance: random.Random) -> str:
    scheme = chance.choices(["https", "http", "HTTP"], [80, 19, 1])[0]
    host = "-".join(chance.sample(_WORDS, chance.randint(1, 2))) + chance.choice(_SUFFIXES)
    host = chance.choices(["www.", "", "docs.", "blog."], [40, 45, 8, 7])[0] + host
    host = chance.choices([host, host.title(), host + ":443", "bücher." + host], [96, 2, 1, 1])[0]
    segments = chance.sample(_WORDS, chance.randint(0, 5))
    if chance.random() < 0.12:
        segments.append(chance.choice(_ODD_WORDS))
    if chance.random() < 0.5:
        segments.append(f"{'-'.join(chance.sample(_WORDS, chance.randint(2, 6)))}-{chance.randint(1, 99999)}")
    url = f"{scheme}://{host}/{'/'.join(segments)}"
    if chance.random() < 0.35:
        names = chance.sample(_NAMES, chance.randint(1, 4))
        values = [chance.choice((*_WORDS, *_ODD_WORDS, str(chance.randint(1, 10**6)))) for _ in names]
        url += "?" + "&".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
    if chance.random() < 0.15:
        url += "#" + chance.choice(["/route/", "", "section-"]) + chance.choice(_WORDS)
    return url


def find_contestants() -> dict[str, Callable[[str], str]]:
    """Return what can run here, by name."""
    contestants: dict[str, Callable[[str], str]] = {
        "SAFE": partial(canonicalize_url, policy=SAFE),
        "WEB": partial(canonicalize_url, policy=WEB),
    }
    try:
        from w3lib.url import canonicalize_url as w3lib_canonicalize_url
    except ImportError:
        print("w3lib is not installed: no comparison")
    else:
        contestants["w3lib"] = w3lib_canonicalize_url
    return contestants


def main() -> None:
    """Print URLs per second and, with w3lib, the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    urls = make_urls(arguments.urls)
    print(f"{len(urls)} URLs, {sum(map(len, urls)) / len(urls):.0f} characters on average; median round")
    contestants = find_contestants()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(arguments.rounds):
        for name, canonicalize in contestants.items():
            start = time.process_time()
            for url in urls:
                canonicalize(url)
            seconds[name].append(time.process_time() - start)
    for name, rounds in seconds.items():
        ratio = f"  {median(seconds['w3lib']) / median(rounds):.2f} x w3lib" if "w3lib" in seconds else ""
        print(f"{name:6} {len(urls) / median(rounds):>9,.0f} URLs/s{ratio}")


if __name__ == "__main__":
    main()
