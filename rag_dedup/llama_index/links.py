"""Links between nodes: previous and next, parent and child."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from llama_index.core.schema import BaseNode, IndexNode, NodeRelationship, RelatedNodeInfo

__all__ = ["find_ancestors", "get_link", "list_links", "redirect", "relink", "rename"]

_MOST_ANCESTORS = 16
"""Real hierarchies have three levels; a chain of many thousand parents must not take quadratic time."""


def get_link(node: BaseNode, relation: NodeRelationship) -> RelatedNodeInfo | None:
    """Return the one link of a kind, ``None`` if there is none."""
    info = node.relationships.get(relation)
    return info if isinstance(info, RelatedNodeInfo) else None


def list_links(node: BaseNode) -> Iterator[RelatedNodeInfo]:
    """Yield the links of a node to other nodes; that to its document is none."""
    for relation, infos in node.relationships.items():
        if relation != NodeRelationship.SOURCE:
            yield from infos if isinstance(infos, list) else [infos]


def find_ancestors(nodes: Sequence[BaseNode]) -> list[tuple[int, ...]]:
    """Return for each node where in the list its parent is, then its parent's parent and so on."""
    places = {node.id_: i for i, node in reversed(list(enumerate(nodes)))}
    links = [get_link(node, NodeRelationship.PARENT) for node in nodes]
    parents = [None if link is None else places.get(link.node_id) for link in links]
    found = []
    for i, parent in enumerate(parents):
        above: list[int] = []
        while parent is not None and parent != i and parent not in above and len(above) < _MOST_ANCESTORS:
            above.append(parent)
            parent = parents[parent]
        found.append(tuple(above))
    return found


def rename(nodes: Iterable[BaseNode], names: Mapping[str, str]) -> None:
    """Let all links, and all references of index nodes, use new ids."""
    for node in nodes:
        for infos in node.relationships.values():
            for info in infos if isinstance(infos, list) else [infos]:
                info.node_id = names.get(info.node_id, info.node_id)
        redirect(node, names)


def redirect(node: BaseNode, targets: Mapping[str, str]) -> None:
    """Let the reference of an index node lead to another node."""
    if isinstance(node, IndexNode):
        node.index_id = targets.get(node.index_id, node.index_id)


def relink(nodes: Iterable[BaseNode], known: Mapping[str, BaseNode], live: set[str]) -> None:
    """Remove links that lead nowhere; previous and next skip nodes that are gone.

    Args:
        nodes: what to change.
        known: all nodes by id, those that are gone too.
        live: ids of nodes that links may lead to.

    >>> from llama_index.core.schema import TextNode
    >>> a, b, c = (TextNode(id_=id) for id in "abc")
    >>> a.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id="b")
    >>> b.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id="c")
    >>> relink([a, c], {"a": a, "b": b, "c": c}, {"a", "c"})
    >>> a.next_node.node_id
    'c'
    """
    chains = {
        relation: _Chain(relation, known, live)
        for relation in (NodeRelationship.PREVIOUS, NodeRelationship.NEXT)
    }
    for node in nodes:
        for relation, infos in list(node.relationships.items()):
            if relation == NodeRelationship.SOURCE:
                continue
            if isinstance(infos, list):
                found = [info for info in infos if info.node_id in live]
                target: RelatedNodeInfo | list[RelatedNodeInfo] | None = found or None
            elif relation in chains:
                target = chains[relation].follow(infos)
            else:
                target = infos if infos.node_id in live else None
            if target is None:
                del node.relationships[relation]
            else:
                node.relationships[relation] = target


class _Chain:
    """Follow links of one kind to the next node that is live, each only once."""

    def __init__(self, relation: NodeRelationship, known: Mapping[str, BaseNode], live: set[str]) -> None:
        self._relation = relation
        self._known = known
        self._live = live
        self._ends: dict[str, RelatedNodeInfo | None] = {}

    def follow(self, info: RelatedNodeInfo) -> RelatedNodeInfo | None:
        """Return a link past what is gone, ``None`` if nothing behind it is live."""
        passed = []
        at: RelatedNodeInfo | None = info
        while at is not None and at.node_id not in self._live and at.node_id not in self._ends:
            self._ends[at.node_id] = None  # so that a circle ends
            passed.append(at.node_id)
            node = self._known.get(at.node_id)
            at = None if node is None else get_link(node, self._relation)
        if at is not None and at.node_id not in self._live:
            at = self._ends[at.node_id]
        self._ends.update(dict.fromkeys(passed, at))
        return at if at is info or at is None else at.model_copy(deep=True)
