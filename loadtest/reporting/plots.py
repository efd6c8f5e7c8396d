"""Plots as inline SVG. Colours are classes, so that the page decides them for light and dark; text is escaped here."""

import dataclasses
import html
import math

from .figures import MISSING, number

WIDTH = 420  # of a panel; a phone shows it at three quarters
ROW = 19
LETTER = 6.8  # of the labels' 11 px font, on the wide side


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    good: bool  # it kept its promise; others are drawn pale and marked
    values: object  # a number or None for bars, a dict of percentiles or None for ranges


def escape(text):
    return html.escape(str(text), quote=True)


def at(value):
    """A coordinate in half pixels, as short as it can be: a report has ten thousands of them."""
    return f"{round(value * 2) / 2:g}"


def text(x, y, content, css="", anchor="start"):
    css = f' class="{css}"' if css else ""
    anchor = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{at(x)}" y="{at(y)}"{css}{anchor}>{escape(content)}</text>'


def line(x1, y1, x2, y2, css):
    return f'<path d="M{at(x1)} {at(y1)}L{at(x2)} {at(y2)}" class="{css}"/>'


def dot(x, y, radius, css):
    return f'<circle cx="{at(x)}" cy="{at(y)}" r="{radius:g}" class="{css}"/>'


def svg(width, height, parts, title):
    return f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _shorter(name, letters):
    return name if len(name) <= letters else name[:letters - 1] + "…"


def _names(rows, top):
    """The labels of all rows, and where the plot begins."""
    shown = [_shorter(row.name, 28) + ("" if row.good else " ✗") for row in rows]
    left = max((len(name) for name in shown), default=0) * LETTER + 8
    parts = [text(left - 8, top + ROW * i + 13, name, "name" if row.good else "name bad", "end")
             for i, (name, row) in enumerate(zip(shown, rows))]
    return left, parts


def bars(rows, title, css="one", unit="", digits=1):
    """One bar per row from zero on, its value beside it."""
    left, parts = _names(rows, 0)
    room = WIDTH - left - 50
    most = max((row.values for row in rows if row.values is not None), default=0)
    for i, row in enumerate(rows):
        top = ROW * i
        length = room * row.values / most if row.values and most else 0
        if length > 0:
            length = max(length, 1.5)
            parts.append(f'<rect x="{at(left)}" y="{at(top + 3)}" width="{at(length)}" height="12" rx="2" '
                         f'class="bar {css}{"" if row.good else " pale"}"/>')
        parts.append(text(left + length + 5, top + 13, number(row.values, digits), "value"))
    parts.append(line(left, 0, left, ROW * len(rows), "base"))
    return svg(WIDTH, ROW * len(rows) + 2, parts, f"{title}{f', {unit}' if unit else ''}")


class Scale:
    """Positions of values on an axis: linear from zero, or logarithmic where the range is wide."""

    def __init__(self, values, left, right):
        positive = [value for value in values if value > 0]
        self._left, self._right = left, right
        self._most = max(positive, default=1)
        self.is_log = bool(positive) and self._most / min(positive) > 30
        if self.is_log:
            self._low = math.floor(math.log10(min(positive)))
            self._high = max(math.ceil(math.log10(self._most) - 1e-9), self._low + 1)

    def at(self, value):
        if not self.is_log:
            return self._left + (self._right - self._left) * value / self._most
        # Zero has no place on such an axis; it stands at its beginning.
        power = math.log10(value) if value > 0 else self._low
        return self._left + (self._right - self._left) * (power - self._low) / (self._high - self._low)

    def ticks(self):
        if self.is_log:
            return [10.0 ** power for power in range(self._low, self._high + 1)]
        step = 10.0 ** math.floor(math.log10(self._most))
        step = next(step * part for part in (0.2, 0.5, 1, 2) if self._most / (step * part) <= 5)
        return [step * i for i in range(int(self._most / step + 1e-9) + 1)]


def ranges(rows, title, css="one", most="max"):
    """From p50 (filled) over p95 (a stroke) to p99 (open) in milliseconds; `most` is a small dot beyond."""
    left, parts = _names(rows, 0)
    height = ROW * len(rows)
    names = [name for name in ("p50", "p95", "p99", most) if name]
    found = [row.values[name] for row in rows if row.values for name in names if row.values.get(name) is not None]
    scale = Scale(found, left + 6, WIDTH - 86)
    if found:
        for tick in scale.ticks():
            parts.append(line(scale.at(tick), 0, scale.at(tick), height, "grid"))
            parts.append(text(scale.at(tick), height + 13, number(tick, 3 if tick < 0.1 else 1), "tick", "middle"))
    for i, row in enumerate(rows):
        parts += _range(row, ROW * i + 9, scale, f'{css}{"" if row.good else " pale"}', most, left)
    how = "log scale" if scale.is_log else "linear scale"
    parts.append(text(left - 8, height + 13, f"ms, {how}" if found else "nothing measured", "tick", "end"))
    return svg(WIDTH, height + 18, parts, f"{title} in milliseconds, {how}")


def _range(row, y, scale, css, most, left):
    get = (row.values or {}).get
    p50, p95, p99 = get("p50"), get("p95"), get("p99")
    if p50 is None:
        return [text(left + 6, y + 4, MISSING, "value")]
    parts = []
    if p99 is not None:
        parts.append(line(scale.at(p50), y, scale.at(p99), y, f"reach {css}"))
        parts.append(dot(scale.at(p99), y, 3.2, f"open {css}"))
    if p95 is not None:
        parts.append(line(scale.at(p95), y - 4, scale.at(p95), y + 4, f"reach {css}"))
    if most and get(most) is not None:
        parts.append(dot(scale.at(get(most)), y, 1.4, f"dot {css}"))
    parts.append(dot(scale.at(p50), y, 3.8, f"dot {css}"))
    parts.append(text(WIDTH, y + 4, f"{number(p50)} / {number(p99)}", "value", "end"))
    return parts


def pools(series, title):
    """A dot for each run over the number of connections; the limit as a line."""
    left, bottom, width, top = 44, 190, WIDTH, 22
    runs = [pins for one in series for pins in one.get("pins") or [] if pins is not None]
    limits = [one["limit"] for one in series if one.get("limit") is not None]
    scale = Scale([*runs, *limits, 1], bottom, top)
    scale.is_log = False
    parts = []
    for tick in scale.ticks():
        parts.append(line(left, scale.at(tick), width - 4, scale.at(tick), "grid"))
        parts.append(text(left - 6, scale.at(tick) + 4, number(tick), "tick", "end"))
    step = (width - left) / max(len(series), 1)
    for i, one in enumerate(series):
        x = left + step * (i + 0.5)
        pins = [value for value in one.get("pins") or [] if value is not None]
        for j, value in enumerate(pins):
            shift = (j - (len(pins) - 1) / 2) * min(11, step / (len(pins) + 1))
            css = "two" if one.get("limit") is not None and value > one["limit"] else "one"
            parts.append(dot(x + shift, scale.at(value), 4.5, f"dot ring {css}"))
        said = f"most {number(max(pins))}" if pins else MISSING
        parts.append(text(x, bottom + 17, f"{one['pool']} connection{'s' if one['pool'] != 1 else ''}", "name", "middle"))
        parts.append(text(x, bottom + 32, said, "tick", "middle"))
    if limits:
        y = scale.at(limits[0])
        parts.append(line(left, y, width - 4, y, "limit"))
        parts.append(text(left + 4, y - 5, f"limit {number(limits[0])}", "limit-text"))
    return svg(width, bottom + 38, parts, title)


def thinned(points, most):
    """At most so many of them: the largest value of each part, so that peaks stay."""
    size = -(-len(points) // most)
    return [max(points[i:i + size], key=lambda point: point[1]) for i in range(0, len(points), size)]


def sparkline(points, title):
    """A small line of the values over time; a dash without two of them."""
    points = [(t, value) for t, value in points if value is not None]
    if len(points) < 2:
        return MISSING
    points = thinned(points, 30)
    first, last = points[0][0], points[-1][0]
    most = max(value for _, value in points) or 1
    across = lambda t: 2 + 76 * (t - first) / ((last - first) or 1)
    path = " ".join(f"{at(across(t))},{at(20 - 17 * value / most)}" for t, value in points)
    return (f'<svg viewBox="0 0 80 22" class="spark" role="img" aria-label="{escape(title)}">'
            f'<polyline points="{path}" class="curve one"/></svg>')
