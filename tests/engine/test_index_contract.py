"""What every index must do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from rag_dedup import open_index
from rag_dedup.document import Changes, Entry, Place, Run
from rag_dedup.errors import ConfigurationError, CorruptIndexError, SchemeMismatchError
from rag_dedup.index import Header, Index
from tests.engine.stores import STORES, make_index

Rows = list[tuple[int, int, str]]
HEADER = Header("minhash", 1, "exact", "url", 0.8, ("number",), "drop")


def make_entry(
    id: str, order: int, *, survivor: str | None = None, scope: str = "", source: str | None = None
) -> Entry:
    return Entry((scope, id), "text", source, order, Place(source), survivor)


def sign(*keys: int) -> npt.NDArray[np.uint64]:
    """Return a signature of few keys, which differ in their first bits as hashes do."""
    return np.array([(key << 48) + key for key in keys], dtype=np.uint64)


def post(*posted: tuple[Entry, npt.NDArray[np.uint64]], withdrawn: tuple[int, ...] = ()) -> Changes:
    """Return changes that put survivors with their signatures."""
    entries, signatures = zip(*posted, strict=True)
    return Changes(put=entries, posted=entries, signatures=np.stack(signatures), withdrawn=withdrawn)


def find(
    index: Index, *signatures: npt.NDArray[np.uint64], limit: int = 9, without: tuple[int, ...] = ()
) -> Rows:
    """Return (row, column, id) of everything that is found."""
    with index.snapshot() as view:
        hits = view.find(np.stack(signatures), limit, np.array(without, dtype=np.int64))
        survivors = view.survivors_at(hits.orders.tolist())
        return [
            (row, column, survivor.id)
            for row, column, survivor in zip(
                hits.rows.tolist(), hits.columns.tolist(), survivors, strict=True
            )
        ]


@pytest.fixture(params=STORES)
def index(request: pytest.FixtureRequest) -> Index:
    index = make_index(request.param)
    index.adopt(HEADER)
    return index


def apply(index: Index, changes: Changes) -> None:
    with index.transaction() as transaction:
        transaction.write(f"token {transaction.view.generation}", changes)


def put(index: Index, *entries: Entry, delete: tuple[tuple[str, str], ...] = ()) -> None:
    apply(index, Changes(entries, delete))


def ids(entries: list[Entry]) -> list[str]:
    return [entry.id for entry in entries]


class TestIndex:
    def test_identity_names_one_index(self, index: Index, request: pytest.FixtureRequest) -> None:
        other = make_index(request.node.callspec.params["index"])
        assert index.identity == index.identity != other.identity

    def test_another_header_is_refused_and_says_what(self, index: Index) -> None:
        index.adopt(HEADER)
        with pytest.raises(
            SchemeMismatchError, match=r"threshold: index 0\.8, wanted 0\.9.*ingest everything again"
        ):
            index.adopt(replace(HEADER, threshold=0.9))

    def test_entries_come_back_whole(self, index: Index) -> None:
        entry = make_entry("a", 0, scope="s", source="page")
        put(index, entry)
        with index.snapshot() as view:
            found = view.entries([("s", "a"), ("", "a"), ("s", "b")])
            assert found[0] is not None
            assert found[1:] == [None, None]
            assert (found[0].document, found[0].order, found[0].source) == (entry.document, 0, "page")
            assert view.next_order == 1

    def test_survivors_are_found_by_each_key_in_history_order(self, index: Index) -> None:
        apply(
            index,
            post((make_entry("late", 3), sign(1, 1, 7, 8)), (make_entry("early", 1), sign(2, 2, 8, 8))),
        )
        assert find(index, sign(2, 2, 7, 9), sign(3, 3, 9, 9), sign(1, 1, 7, 8)) == [
            (0, 0, "early"),
            (0, 1, "late"),
            (2, 0, "late"),
            (2, 1, "late"),
            (2, 2, "early"),
            (2, 2, "late"),
        ]

    def test_the_exact_key_has_two_halves(self, index: Index) -> None:
        apply(index, post((make_entry("a", 0), sign(1, 1, 7))))
        assert find(index, sign(1, 2, 8), sign(2, 1, 8)) == []

    def test_keys_are_compared_whole(self, index: Index) -> None:
        apply(index, post((make_entry("a", 0), sign(1, 1, 7))))
        near = sign(9, 9, 7)
        near[2] += np.uint64(1)
        assert find(index, near) == []

    def test_the_earliest_count(self, index: Index) -> None:
        apply(index, post(*((make_entry(str(i), i), sign(i, i, 7)) for i in (5, 2, 4, 1, 3))))
        assert [id for _, _, id in find(index, sign(9, 9, 7), limit=2)] == ["1", "2"]
        assert [id for _, _, id in find(index, sign(9, 9, 7), limit=2, without=(1, 3))] == ["2", "4"]
        apply(index, Changes(delete=(("", "2"),), withdrawn=(2,)))
        assert [id for _, _, id in find(index, sign(9, 9, 7), limit=3)] == ["1", "3", "4"]

    def test_a_new_text_replaces_the_old(self, index: Index) -> None:
        apply(index, post((make_entry("a", 0), sign(1, 1, 7)), (make_entry("b", 1), sign(2, 2, 8))))
        apply(index, post((make_entry("a", 0), sign(3, 3, 7)), withdrawn=(0,)))
        assert find(index, sign(1, 1, 7), sign(3, 3, 8)) == [(0, 1, "a"), (1, 0, "a"), (1, 1, "b")]

    def test_what_is_put_without_a_signature_is_found_as_before(self, index: Index) -> None:
        apply(index, post((make_entry("a", 0), sign(1, 1, 7))))
        put(index, make_entry("a", 0, source="page"))
        assert find(index, sign(1, 1, 7)) == [(0, 0, "a"), (0, 1, "a")]
        apply(index, Changes(put=(make_entry("a", 0, survivor="b"), make_entry("b", 1)), withdrawn=(0,)))
        assert find(index, sign(1, 1, 7)) == []

    @pytest.mark.parametrize("count", [3, 500])
    def test_many_that_come_and_go(self, index: Index, count: int) -> None:
        for start in (0, count):
            apply(
                index,
                post(*((make_entry(str(i), i), sign(i, i, i // 3)) for i in range(start, start + count))),
            )
        gone = [i for i in range(2 * count) if i % 4]
        new = post((make_entry("new", 2 * count), sign(7000, 7000, 2)), withdrawn=tuple(gone))
        apply(index, replace(new, delete=tuple(("", str(i)) for i in gone)))
        expected = [i for i in range(2 * count) if i % 4 == 0]
        assert find(index, *(sign(i, i, 9999) for i in range(2 * count))) == [
            (i, 0, str(i)) for i in expected
        ]
        assert [id for _, _, id in find(index, sign(9999, 9999, 2))] == ["8"] * (count > 4) + ["new"]

    def test_clusters_and_sources(self, index: Index) -> None:
        put(
            index,
            make_entry("c", 2, survivor="a", source="p"),
            make_entry("a", 0, source="p"),
            make_entry("b", 1, survivor="a", source="q"),
            make_entry("a", 3, scope="other", source="p"),
        )
        with index.snapshot() as view:
            assert ids(view.of_survivors([("", "a")])[0]) == ["b", "c"]
            assert [ids(e) for e in view.of_sources([("", "p"), ("other", "p"), ("", "x")])] == [
                ["a", "c"],
                ["a"],
                [],
            ]

    def test_replacing_leaves_no_trace_of_the_old(self, index: Index) -> None:
        put(index, make_entry("a", 0, source="p"))
        put(index, make_entry("a", 0, survivor="b", source="q"), make_entry("b", 1))
        with index.snapshot() as view:
            assert ids(view.of_sources([("", "p")])[0]) == []
            assert ids(view.of_survivors([("", "b")])[0]) == ["a"]
        put(index, delete=(("", "a"), ("", "never there")))
        with index.snapshot() as view:
            assert view.entries([("", "a")]) == [None]
            assert view.of_survivors([("", "b")]) == [[]]

    def test_orders_are_not_used_twice(self, index: Index) -> None:
        put(index, make_entry("a", 5))
        put(index, delete=(("", "a"),))
        with index.snapshot() as view:
            assert view.next_order == 6

    def test_a_transaction_that_fails_has_written_nothing(self, index: Index) -> None:
        put(index, make_entry("a", 0, source="page"))

        def fail() -> None:
            with index.transaction() as transaction:
                transaction.write("lost", Changes((make_entry("b", 1),), delete=(("", "a"),)))
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fail()
        with index.transaction() as transaction:
            assert transaction.view.generation == 1
            assert not transaction.was_written("lost")
            assert ids(list(transaction.view)) == ["a"]

    def test_a_transaction_without_a_write(self, index: Index) -> None:
        with index.transaction() as transaction:
            assert transaction.view.entries([("", "a")]) == [None]
        with index.snapshot() as view:
            assert view.generation == 0

    def test_tokens(self, index: Index) -> None:
        put(index, make_entry("a", 0))
        put(index, make_entry("b", 1))
        with index.transaction() as transaction:
            written = [transaction.was_written(token) for token in ("token 0", "token 1", "token 2")]
            assert written == [True, True, False]
            assert transaction.view.generation == 2

    def test_entries_come_in_history_order(self, index: Index) -> None:
        put(index, make_entry("b", 3), make_entry("a", 1), make_entry("c", 2, scope="s"))
        put(index, make_entry("b", 3, source="page"))
        with index.snapshot() as view:
            assert [(entry.id, entry.source) for entry in view] == [
                ("a", None),
                ("c", None),
                ("b", "page"),
            ]

    def test_runs_and_sources(self, index: Index) -> None:
        put(index, make_entry("a", 0, source="p"), make_entry("b", 1, scope="s", source="q\ud800\0"))
        apply(index, Changes(runs=(Run("", "first", 2),), seen=(("", "p"), ("", "empty"))))
        put(index, make_entry("c", 2, source="p"))
        runs = (Run("s", "first", 3), Run("", "second\ud800\0", 3))
        apply(index, Changes((make_entry("d", 3),), runs=runs, seen=(("s", "q\ud800\0"), ("", "r"))))
        late = ("", "r")  # which the second run has seen, too
        apply(index, Changes(runs=(Run("", "first", 9),), seen=(late, ("", "s"))))
        with index.snapshot() as view:
            assert view.list_runs() == [Run("", "first", 2), *runs]
            assert view.list_sources() == {
                ("", "p"): 1,
                ("", "empty"): 1,
                ("", "r"): 3,
                ("", "s"): 1,
                ("s", "q\ud800\0"): 2,
            }
        apply(index, Changes(forgotten=(("", "r"), ("", "never there"))))
        with index.snapshot() as view:
            assert ("", "r") not in view.list_sources()

    def test_compacting_changes_nothing(self, index: Index) -> None:
        index.compact()
        for start in range(0, 90, 30):
            apply(
                index,
                post(*((make_entry(str(i), i), sign(i, i, 1000 + i // 3)) for i in range(start, start + 30))),
            )
        gone = range(10, 40)
        apply(index, Changes(delete=tuple(("", str(i)) for i in gone), withdrawn=tuple(gone)))
        questions = [sign(i, i, 1000 + i // 3) for i in range(90)]
        before = find(index, *questions)
        with index.snapshot() as view:
            measures, generation = view.measure(), view.generation
        assert (measures.live, measures.dead, measures.largest_key) == (60, 30, 3)
        assert measures.bytes > 0
        index.compact()
        assert find(index, *questions) == before
        with index.snapshot() as view:
            assert view.measure()[1:] == (60, 0, 3)
            assert view.generation == generation
        assert index.check_storage() == []

    @pytest.mark.parametrize("store", STORES)
    def test_what_is_dropped_is_gone_and_can_be_made_anew(self, store: str) -> None:
        url = STORES[store]()
        first, beside = open_index(url), make_index(store)
        for index in (first, beside):
            index.adopt(HEADER)
            put(index, make_entry("a", 0))
        first.drop()
        if first.shareable:
            with pytest.raises(ConfigurationError, match="no index"):
                open_index(url, create=False)
            with pytest.raises(CorruptIndexError, match="was removed"), first.snapshot():
                pass
            again = open_index(url)
            again.adopt(replace(HEADER, threshold=0.9))
            with (
                pytest.raises((ConfigurationError, CorruptIndexError), match=r"made anew|was removed"),
                first.snapshot(),
            ):
                pass
            with (
                pytest.raises((ConfigurationError, CorruptIndexError), match=r"made anew|was removed"),
                first.transaction(),
            ):
                pass
        else:
            again = first
            again.adopt(replace(HEADER, threshold=0.9))
        with again.snapshot() as view:
            assert view.entries([("", "a")]) == [None]
            assert list(view) == []
        with beside.snapshot() as view:
            assert [entry.id for entry in view] == ["a"]

    @pytest.mark.parametrize("store", STORES)
    def test_a_header_for_what_is_filled(self, store: str) -> None:
        index = make_index(store)
        put(index, make_entry("a", 0))
        with pytest.raises(ConfigurationError, match="cut off"):
            index.adopt(HEADER)
        index.adopt(HEADER, filled=True)
        index.adopt(HEADER)
        assert index.header == HEADER

    def test_headers_come_back(self, index: Index, request: pytest.FixtureRequest) -> None:
        assert index.header == HEADER
        assert make_index(request.node.callspec.params["index"]).header is None
