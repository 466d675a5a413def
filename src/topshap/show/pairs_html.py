"""The network and the matrix of interactions as inline SVG and an HTML table, for the report.

All text in them is escaped, since names come from users. They need no script, and no style attributes.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from topshap.show.network import Network, leading_players, player_labels
from topshap.show.numbers import cell_number, short_number

if TYPE_CHECKING:
    from topshap.core.pairs_result import TopPairs
    from topshap.show.network import Edge

_RADIUS, _WIDTH, _HEIGHT = 150.0, 600, 380
"""The radius of the circle, and the size of the drawing, in its units."""


def html_network(top: TopPairs) -> str:
    """Return the network of a result as an SVG.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1]], [2.0], n_players=3)
    >>> svg = html_network(topshap.identify(game, k=1, order=2, player_names=["<b>", "sex", "bmi"]))
    >>> "&lt;b&gt;" in svg, "<b>" in svg, svg.count("<line")
    (True, False, 1)
    """
    network = Network.of(top)
    scale = float(np.abs(top.estimates).max())
    places = network.places * (_RADIUS, -_RADIUS) + (_WIDTH / 2, _HEIGHT / 2)
    lines = "".join(_line(network, edge, places.tolist(), scale) for edge in network.edges)
    nodes = []
    for i, ((x, y), label) in enumerate(zip(places.tolist(), network.labels, strict=True)):
        side = float(network.places[i, 0])
        anchor = "middle" if abs(side) < 0.2 else "start" if side > 0.0 else "end"
        dx = 0.0 if anchor == "middle" else 12.0 if side > 0.0 else -12.0
        dy = 4.0 if anchor != "middle" else -12.0 if network.places[i, 1] > 0.0 else 20.0
        kind = ' class="ts-in"' if i in network.in_top else ""
        nodes.append(
            f'<circle{kind} cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
            f'<text{kind} x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
        )
    about = f"Network of the leading interactions of {len(network.players)} players; the table below has the numbers"
    return (
        f'<svg class="network" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{about}">'
        f"{lines}{''.join(nodes)}</svg>"
    )


def _line(network: Network, edge: Edge, places: list[list[float]], scale: float) -> str:
    (x1, y1), (x2, y2) = (places[end] for end in edge.ends)
    kind = ("plus" if edge.estimate > 0.0 else "minus") + (" ts-in" if edge.in_top else "")
    names = " x ".join(network.labels[end] for end in edge.ends)
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke-width="{0.6 + 8.4 * edge.strength:.2f}">'
        f"<title>{edge.rank}. {escape(names)}: {short_number(edge.estimate, scale, digits=4)}</title></line>"
    )


def html_matrix(top: TopPairs, most: int = 16) -> str:
    """Return the interactions of the leading players as a table; classes have the shade of each cell, in percent.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1]], [2.0], n_players=3)
    >>> html_matrix(topshap.identify(game, k=1, order=2)).count('class="p100 plus dark ts-in"')
    2
    """
    players = leading_players(top, most)
    labels = [escape(label) for label in player_labels(top, players, 24)]
    values = top.matrix[np.ix_(players, players)]
    top_pairs = {tuple(pair) for pair in top.pairs.tolist()}
    largest = float(np.abs(values).max()) or 1.0
    head = "".join(f'<th scope="col"><span><bdi>{label}</bdi></span></th>' for label in labels)
    rows = []
    for i, label in enumerate(labels):
        cells = [
            _cell(float(value), largest, i == j, tuple(sorted((int(players[i]), int(players[j])))) in top_pairs)
            for j, value in enumerate(values[i])
        ]
        rows.append(f'<tr><th scope="row"><bdi>{label}</bdi></th>{"".join(cells)}</tr>')
    return f'<table class="pairs matrix"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _cell(value: float, largest: float, same: bool, in_top: bool) -> str:
    if same:
        return '<td class="p0 plus"></td>'
    share = 100.0 * abs(value) / largest
    sign = "minus" if value < 0.0 else "plus"
    names = f"p{share:.0f} {sign}{' dark' if share > 70 else ''}{' ts-in' if in_top else ''}"
    return f'<td class="{names}">{cell_number(value, largest)}</td>'


def network_note(top: TopPairs, shown: int) -> str:
    """Return the explanation of the network."""
    some = f" {shown} of {top.n_players:,} players are shown." if shown < top.n_players else ""
    return (
        "The wider a line, the stronger the interaction. Solid blue lines are positive: the two players are worth more "
        "together than alone. Dashed orange lines are negative: one can replace the other. The top "
        f"{top.k} are strong, other pairs pale.{some}"
    )


def matrix_note(top: TopPairs) -> str:
    """Return the explanation of the matrix."""
    return (
        "Each cell is the interaction of the player in its row with the player in its column. Blue is positive, orange "
        f"negative; the top {top.k} have a frame."
    )


def pairs_sections(top: TopPairs) -> str:
    """Return the sections of a report with the network and the matrix."""
    shown = len(leading_players(top, 16))
    return (
        '<section aria-labelledby="h-network">\n<h2 id="h-network">Network</h2>\n'
        f'<p class="note">{escape(network_note(top, shown))}</p>\n<div id="network">{html_network(top)}</div>\n'
        '</section>\n\n<section aria-labelledby="h-matrix">\n<h2 id="h-matrix">Matrix</h2>\n'
        f'<p class="note">{escape(matrix_note(top))}</p>\n'
        f'<div class="wide" tabindex="0" role="region" aria-labelledby="h-matrix">{html_matrix(top)}</div>\n</section>'
    )
