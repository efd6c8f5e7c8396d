"""What happened over time while something was broken: curves with marks."""

from .figures import number
from .plots import LETTER, Scale, at, line, svg, text

WIDTH = 960
LEFT, RIGHT = 46, 950
PLOT = 150
LEVEL = 15  # a line of marks' texts


def _levels(marks, across):
    """[(mark, x, level, anchor)]: texts that would overlap are put on different levels."""
    ends, placed = [], []
    for mark in sorted(marks, key=lambda mark: mark["t"]):
        x, length = across(mark["t"]), len(str(mark["text"])) * LETTER + 10
        anchor = "end" if x + length > RIGHT and x - length > LEFT else "start"
        begin, end = (x - length, x) if anchor == "end" else (x, x + length)
        level = next((i for i, taken in enumerate(ends) if taken <= begin), len(ends))
        ends[level:level + 1] = [end]
        placed.append((mark, x, level, anchor))
    return placed, len(ends)


def _curve(points, name, css, across, scale):
    """Broken where nothing was measured."""
    parts, run = [], []
    for point in [*points, {"t": None}]:
        if point.get(name) is None:
            if run:
                parts.append(f'<polyline points="{" ".join(run)}" class="curve {css}"/>')
            run = []
        else:
            run.append(f"{at(across(point['t']))},{at(scale.at(point[name]))}")
    return parts


def timeline(points, marks, title):
    points = [point for point in points or [] if point.get("t") is not None]
    marks = [mark for mark in marks or [] if mark.get("t") is not None]
    if not points:
        return '<p class="none">No timeline was recorded.</p>'
    times = [point["t"] for point in points] + [mark["t"] for mark in marks]
    first, last = min(times), max(times)
    across = lambda t: LEFT + (RIGHT - LEFT) * (t - first) / ((last - first) or 1)
    placed, levels = _levels(marks, across)
    top = 8 + LEVEL * levels
    bottom = top + PLOT
    values = [point[name] for point in points for name in ("accepted_per_s", "errors_per_s")
              if point.get(name) is not None]
    scale = Scale([*values, 1], bottom, top)
    scale.is_log = False
    parts = []
    for tick in scale.ticks():
        parts.append(line(LEFT, scale.at(tick), RIGHT, scale.at(tick), "grid"))
        parts.append(text(LEFT - 6, scale.at(tick) + 4, number(tick), "tick", "end"))
    along = Scale([last - first or 1], 0, 1)
    for tick in along.ticks():
        parts.append(text(across(first + tick), bottom + 15, f"{number(first + tick)} s", "tick", "middle"))
    for mark, x, level, anchor in placed:
        y = 12 + LEVEL * level
        parts.append(line(x, y - 8, x, bottom, "mark"))
        parts.append(text(x + (4 if anchor == "start" else -4), y, mark["text"], "mark-text", anchor))
    parts += _curve(points, "accepted_per_s", "one", across, scale)
    parts += _curve(points, "errors_per_s", "two", across, scale)
    return svg(WIDTH, bottom + 22, parts, title)
