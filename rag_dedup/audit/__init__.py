"""The audit of a corpus: what is in it twice, what is boilerplate, and why.

``run``      the whole thread, from pages to decisions: :func:`audit_pages` gives an :class:`Audit`
``table``    an audit for the terminal
``frames``   pandas DataFrames in, DataFrames out, for notebooks
``plots``    figures of those frames
``url``      the keys of a URL and the rules behind them, for the terminal
``diff``     what two texts do not share, for people
"""

from rag_dedup.audit.diff import diff_texts
from rag_dedup.audit.run import Audit, Cluster, Host, audit_pages

__all__ = ["Audit", "Cluster", "Host", "audit_pages", "diff_texts"]
