"""Figures of the frames of an audit.

Each function takes a frame and returns a :class:`matplotlib.figure.Figure` of its own, or draws into
the axes it is given; ``pyplot`` and its global state are not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_dedup.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from pandas import DataFrame

__all__ = ["plot_boilerplate", "plot_clusters", "plot_similarity", "plot_sweep"]

# Distinct for the colour-blind and in grey: Okabe and Ito, Color Universal Design, 2008.
_EXACT, _NEAR, _GUARD, _GREY = "#0072B2", "#56B4E9", "#D55E00", "#BBBBBB"


def _open_axes(axes: Axes | None, height: float = 3.2) -> Axes:
    if axes is None:
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("audit", "matplotlib") from error
        axes = Figure(figsize=(7, height), layout="constrained").add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _add_legend(axes: Axes) -> None:
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def plot_boilerplate(hosts: DataFrame, axes: Axes | None = None) -> Figure | SubFigure:
    """Draw the share of boilerplate of each host.

    Args:
        hosts: from :func:`rag_dedup.audit.frames.boilerplate_frame`.
        axes: where to draw; default: a new figure.
    """
    hosts = hosts.iloc[::-1]
    axes = _open_axes(axes, height=1.2 + 0.3 * len(hosts))
    names = [name or "(no URL)" for name in hosts["host"]]
    bars = axes.barh(names, 100 * hosts["share"], color=_GREY)
    axes.bar_label(bars, fmt="%.1f %%", padding=3)
    axes.set_xlabel("boilerplate, % of characters")
    axes.set_xlim(0, max(1.0, 115 * hosts["share"].max()) if len(hosts) else 1.0)
    axes.tick_params(axis="y", length=0)
    return axes.figure


def plot_similarity(
    decisions: DataFrame, axes: Axes | None = None, *, threshold: float = 0.8
) -> Figure | SubFigure:
    """Draw how similar near-duplicates are: those that were dropped, and those that a guard kept.

    Args:
        decisions: from :func:`rag_dedup.audit.frames.decisions_frame`.
        axes: where to draw; default: a new figure.
        threshold: the one that was used; the scale begins there.
    """
    axes = _open_axes(axes)
    near = decisions.loc[decisions["method"] == "minhash", "similarity"]
    guarded = decisions.loc[decisions["guard"].notna() & decisions["survivor"].isna(), "similarity"]
    axes.hist(
        [near.to_numpy(float), guarded.to_numpy(float)],
        bins=20,
        range=(threshold, 1.0) if threshold < 1 else (0.5, 1.0),
        stacked=True,
        color=[_NEAR, _GUARD],
        label=["near-duplicates", "kept by a guard"],
    )
    axes.set_xlabel("similarity to the survivor (Jaccard)")
    axes.set_ylabel("chunks")
    _add_legend(axes)
    return axes.figure


def plot_sweep(sweep: DataFrame, axes: Axes | None = None) -> Figure | SubFigure:
    """Draw what each threshold drops, and what the guards keep apart.

    Args:
        sweep: from :func:`rag_dedup.audit.frames.threshold_sweep`.
        axes: where to draw; default: a new figure.
    """
    axes = _open_axes(axes)
    exact, near, guarded = (sweep[kind].to_numpy(float) for kind in ("exact", "near", "guarded"))
    for counts, color, label in (
        (exact + near, _NEAR, "all duplicates"),
        (exact, _EXACT, "exact duplicates"),
        (guarded, _GUARD, "kept by a guard"),
    ):
        axes.plot(sweep["threshold"].to_numpy(float), counts, color=color, marker="o", label=label)
    axes.set_xlabel("threshold")
    axes.set_ylabel("chunks")
    axes.set_ylim(bottom=0)
    _add_legend(axes)
    return axes.figure


def plot_clusters(clusters: DataFrame, axes: Axes | None = None) -> Figure | SubFigure:
    """Draw how many clusters there are of each size.

    Args:
        clusters: from :func:`rag_dedup.audit.frames.clusters_frame`.
        axes: where to draw; default: a new figure.
    """
    axes = _open_axes(axes)
    from matplotlib.ticker import MaxNLocator  # there, since the axes are

    sizes = clusters.groupby(["scope", "cluster"], sort=False)["size"].first().value_counts().sort_index()
    axes.bar([f"{size:,}" for size in sizes.index], sizes.to_numpy(), color=_EXACT)
    axes.set_xlabel("places of one passage")
    axes.set_ylabel("clusters")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return axes.figure
