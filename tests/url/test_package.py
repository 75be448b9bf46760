"""What the package offers."""

from __future__ import annotations

import subprocess
import sys

import rag_dedup.url
from rag_dedup.url import KEY_SCHEME


def test_public_names_are_there() -> None:
    assert len(set(rag_dedup.url.__all__)) == len(rag_dedup.url.__all__)
    assert all(hasattr(rag_dedup.url, name) for name in rag_dedup.url.__all__)


def test_keys_have_a_version() -> None:
    assert KEY_SCHEME == "url-2"


def test_tables_of_idna_are_loaded_when_they_are_needed() -> None:
    code = (
        "import sys; from rag_dedup.url import canonicalize_url as c\n"
        "c('https://example.com/é'); assert 'idna' not in sys.modules\n"
        "c('https://bücher.example/'); assert 'idna' in sys.modules"
    )
    subprocess.run([sys.executable, "-X", "utf8", "-c", code], check=True)
