"""``python -m rag_dedup``."""

import sys

from rag_dedup.cli import main

if __name__ == "__main__":
    sys.exit(main())
