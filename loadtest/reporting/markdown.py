"""The report as Markdown: the same words and figures, without plots."""

from . import figures
from .figures import MISSING, judged, label, number, value

BOLD = {"broken", "control", "blind"}


def escape(text):
    """Text that stays text in a table, too."""
    text = str(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in "|*_`[]":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


def table(heads, rows):
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def verdict_text(cell):
    found = judged(cell)
    return f"**{found.text}**" if found.kind in BOLD else found.text


def _matrix(cells):
    columns, rows = figures.matrix(cells)
    return table(["strategy"] + [f"{escape(scenario)} × {instances}" for scenario, instances in columns],
                 [[escape(name)] + [verdict_text(cell) if cell else MISSING for cell in found]
                  for name, found in rows])


def _percentiles(cell, *path):
    found = value(cell, *path)
    return " / ".join(number(found.get(name)) for name in ("p50", "p95", "p99")) if found else MISSING


def _scenario(cells):
    heads = ["strategy", "verdict", "accepted/s", "rejected/s", "errors/s", "accepted ms", "rejected ms", "lock wait ms",
             "hold ms", "pool wait ms", "Redis/request", "CPU ms/request", "RSS MB", "not sent", "facts"]
    rows = []
    for cell in cells:
        rows.append([escape(label(cell)), verdict_text(cell), number(cell.get("accepted_per_s")),
                     number(cell.get("rejected_per_s")), number(cell.get("errors_per_s")),
                     *(_percentiles(cell, "latency_ms", kind) for kind in ("accepted", "rejected")),
                     *(_percentiles(cell, "lock_ms", kind) for kind in ("wait", "hold", "pool_wait")),
                     number(cell.get("redis_commands_per_request"), 2), number(cell.get("cpu_ms_per_request"), 2),
                     number(value(cell, "rss_mb", "max")), number(cell.get("dropped_iterations")),
                     escape(figures.facts(cell))])
    return table(heads, rows)


def _pools(series):
    rows = [[number(one["pool"]), ", ".join(number(pins) for pins in one.get("pins") or []) or MISSING,
             number(one.get("limit"))] for one in series]
    return table(["connections", "pinned in each run", "limit"], rows)


def _faults(faults):
    rows = [[escape(fault.get("title") or fault["fault"]), escape(fault.get("strategy") or "as configured"),
             verdict_text(fault), number(fault.get("recovery_s")),
             escape(", ".join(f"{name}: {number(count)}" for name, count in (fault.get("outcomes") or {}).items())) or MISSING,
             escape(figures.facts(fault))] for fault in faults]
    return table(["fault", "strategy", "verdict", "recovery s", "outcomes", "facts"], rows)


def render(results):
    machine = results.get("machine") or {}
    versions = ", ".join(f"{name} {version or MISSING}" for name, version in (machine.get("versions") or {}).items())
    cells = results.get("cells") or []
    parts = ["# Strategies under load\n",
             escape(f"Commit {results.get('commit') or MISSING}, {results.get('date') or MISSING}, "
                    f"{'quick' if results.get('quick') else 'full'} run; {machine.get('cpu') or 'unknown processor'}, "
                    f"{number(machine.get('cores'))} cores, {number(machine.get('memory_gb'))} GB; {versions}") + "\n",
             "".join(f"- {escape(sentence)}\n" for sentence in figures.first_sentences(results)),
             f"> {escape(figures.warning(results))}\n"]
    if cells:
        parts += ["## Who kept the promise\n", _matrix(cells), "## Who was fast\n", figures.SPEED + "\n",
                  "".join(f"- {escape(sentence)}\n" for sentence in figures.speed_sentences(results)),
                  "Times are p50 / p95 / p99.\n"]
    for scenario, instances, found in figures.panels(cells):
        parts += [f"### {escape(scenario)} × {instances}: {escape(found[0].get('title') or '')}\n", _scenario(found)]
    if results.get("pools"):
        parts += ["## No lock, more connections\n", _pools(results["pools"])]
    if results.get("faults"):
        parts += ["## When something fails under load\n", _faults(results["faults"])]
    broken = figures.violations(results)
    if broken:
        parts.append("## What was broken\n")
        parts += [f"- {escape(what)}\n" + "".join(f"  - {escape(sentence)}\n" for sentence in sentences)
                  for what, sentences in broken]
    return "\n".join(part for part in parts if part)
