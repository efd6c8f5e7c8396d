"""The report as one HTML file: no script, nothing loaded from elsewhere."""

import pathlib

from . import figures
from .figures import MISSING, judged, label, number, value
from .plots import Row, bars, escape, pools, ranges, sparkline
from .timelines import timeline

STYLE = pathlib.Path(__file__).with_name("style.css")
SIGNS = {"kept": "✓", "broken": "✗", "control": "✗", "blind": "?"}
NAMES = {1: "one instance"}


def tag(cell):
    found = judged(cell)
    return f'<span class="tag {found.kind}">{SIGNS[found.kind]} {escape(found.text)}</span>'


def listed(sentences):
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>" if sentences else ""


def figure(caption, note, plot, css=""):
    return (f'<figure class="{css}"><figcaption>{escape(caption)}<small>{escape(note)}</small></figcaption>{plot}</figure>')


def _verdict_cell(cell):
    if cell is None:
        return f'<td class="absent" title="not run">{MISSING}</td>'
    found = judged(cell)
    words = {"kept": "✓ kept", "broken": f"✗ {found.text}", "blind": "? blind<small>control: saw nothing</small>",
             "control": f"✗ {cell['verdict'].get('oversold') or 0:,}<small>oversold{figures.runs(cell)}; "
             "control: failed as it must</small>"}
    hint = "; ".join(cell["verdict"].get("violations") or [])[:300]
    return f'<td class="{found.kind}" title="{escape(hint)}">{words[found.kind]}</td>'


def verdict_matrix(cells):
    if not cells:
        return '<p class="none">No strategies were compared in this run.</p>'
    columns, rows = figures.matrix(cells)
    scenarios = []
    for scenario, _ in columns:
        if not scenarios or scenarios[-1][0] != scenario:
            scenarios.append([scenario, 0])
        scenarios[-1][1] += 1
    head = "".join(f'<th colspan="{count}">{escape(name)}</th>' for name, count in scenarios)
    below = "".join(f"<th>× {instances}</th>" for _, instances in columns)
    body = "".join(f"<tr><th>{escape(name)}</th>{''.join(map(_verdict_cell, found))}</tr>" for name, found in rows)
    return (f'<div class="scroll"><table class="matrix"><thead><tr><th rowspan="2">strategy</th>{head}</tr>'
            f"<tr>{below}</tr></thead><tbody>{body}</tbody></table></div>"
            f'<p class="key">× 1, × 3: instances of the service. {MISSING}: not run, or it does not apply. Without “+ backstop” '
            "a strategy protects alone, without fence and constraints. Read from the database afterwards.</p>")


def _rows(cells, *path):
    return [Row(label(cell), judged(cell).kind == "kept", value(cell, *path)) for cell in cells]


def _has(cells, *path):
    return any(value(cell, *path) is not None for cell in cells)


def scenario_plots(cells):
    """What people ask first; all the rest is in the table."""
    shown = []
    add = lambda *arguments: shown.append(figure(*arguments))
    add("Accepted a second", "what people wanted and got", bars(_rows(cells, "accepted_per_s"), "Accepted a second"))
    if any(cell.get("errors_per_s") for cell in cells):
        add("Errors a second", "no outcome: 5xx, among them 503 “come back later”, or no answer",
            bars(_rows(cells, "errors_per_s"), "Errors a second", "two"))
    if _has(cells, "latency_ms", "accepted"):
        add("Time to the answer, accepted", "● p50   ❘ p95   ○ p99   · slowest; at the right p50 / p99",
            ranges(_rows(cells, "latency_ms", "accepted"), "Latency of accepted ones"))
    if _has(cells, "lock_ms", "wait"):
        add("Waiting for the lock", "from asking to the grant; from histograms",
            ranges(_rows(cells, "lock_ms", "wait"), "Waiting for the lock", "one", None))
    if _has(cells, "redis_commands_per_request"):
        asked = [cell for cell in cells if cell.get("redis_commands_per_request") is not None]
        add("Redis commands per request", "sent by clients; strategies that use Redis",
            bars(_rows(asked, "redis_commands_per_request"), "Redis commands per request", digits=2))
    return f'<div class="panels">{"".join(shown)}</div>'


def _over_time(cell, name, title):
    return sparkline([(point.get("t") or 0, point.get(name)) for point in cell.get("timeline") or []], title)


def _of(cell, *path, parts=("p50", "p95", "p99")):
    found = value(cell, *path)
    return " / ".join(number(found.get(part)) for part in parts) if found else MISSING


def scenario_table(cells):
    heads = ("strategy", "verdict", "runs", "not sent", "seconds", "accepted/s", "rejected/s", "errors/s",
             "accepted p50 / p95 / p99 / max ms", "rejected p50 / p95 / p99 / max ms", "lock wait ms", "hold ms", "pool wait ms",
             "Redis", "CPU ms", "RSS MB from → to", "accepted over time", "outcomes",
             "facts")
    all_four = ("p50", "p95", "p99", "max")
    lines = []
    for cell in cells:
        outcomes = ", ".join(f"{name}: {number(count)}" for name, count in (cell.get("outcomes") or {}).items())
        words = [number(cell.get("rounds")), number(cell.get("dropped_iterations")), number(cell.get("seconds"), 2),
                 number(cell.get("accepted_per_s")), number(cell.get("rejected_per_s")),
                 number(cell.get("errors_per_s")), _of(cell, "latency_ms", "accepted", parts=all_four),
                 _of(cell, "latency_ms", "rejected", parts=all_four), _of(cell, "lock_ms", "wait"), _of(cell, "lock_ms", "hold"),
                 _of(cell, "lock_ms", "pool_wait"), number(cell.get("redis_commands_per_request"), 2),
                 number(cell.get("cpu_ms_per_request"), 2),
                 f"{number(value(cell, 'rss_mb', 'start'))} → {number(value(cell, 'rss_mb', 'max'))}"]
        curve = _over_time(cell, "accepted_per_s", "accepted a second over time")
        lines.append(f"<tr><th>{escape(label(cell))}</th><td>{tag(cell)}</td>"
                     + "".join(f"<td>{escape(word)}</td>" for word in words)
                     + f"<td>{curve}</td>"
                     + f'<td class="words">{escape(outcomes) or MISSING}</td>'
                     + f'<td class="words">{escape(figures.facts(cell))}</td></tr>')
    return ("<details><summary>All figures as a table</summary>"
            f'<div class="scroll"><table><thead><tr>{"".join(f"<th>{escape(head)}</th>" for head in heads)}</tr></thead>'
            f'<tbody>{"".join(lines)}</tbody></table></div></details>')


def scenarios(results):
    parts, last = [], None
    for scenario, instances, cells in figures.panels(results.get("cells") or []):
        if scenario != last:
            parts.append(f"<h2>{escape(scenario)}</h2><p>{escape(cells[0].get('title') or '')}</p>")
        last = scenario
        parts.append(f'<details class="card"><summary>On {NAMES.get(instances, f"{instances} instances")}: '
                     f"{escape(figures.fastest_words(cells))}</summary>"
                     f'<p class="key">Pale with ✗: did not keep its promise, so its speed is worth nothing.</p>'
                     + scenario_plots(cells) + scenario_table(cells) + "</details>")
    return "".join(parts)


def pools_part(series):
    if not series:
        return ""
    return ("<h2>No lock, more connections</h2><p>The same creates without any protection, on pools of different sizes. With "
            "one connection transactions follow one another, and such a mistake stays hidden.</p>"
            f'<div class="panels">{figure("Pinned announcements left", "a dot for each run", pools(series, "Pins over pool sizes"))}'
            "</div>")


def _fault(fault):
    recovery = fault.get("recovery_s")
    recovered = f"recovered after {number(recovery)} s" if recovery is not None else "no recovery was seen"
    outcomes = ", ".join(f"{name}: {number(count)}" for name, count in (fault.get("outcomes") or {}).items())
    name = fault.get("title") or fault["fault"]
    note = f"{fault.get('strategy') or 'as configured'}, {fault.get('instances') or MISSING} instances; {recovered}"
    key = '<span class="swatch one"></span>accepted/s<span class="swatch two"></span>errors/s'
    return (figure(name, note, f'<p class="key">{tag(fault)}{key}</p>'
                   + '<div class="over">'
                   + timeline(fault.get("timeline"), fault.get("marks"), f"{name}: accepted and errors a second") + "</div>"
                   + f'<p class="key">{escape(outcomes)}</p><p class="key">{escape(figures.facts(fault))}</p>', "wide"))


def faults_part(faults):
    if not faults:
        return ""
    return ("<h2>When something fails under load</h2><p>Every request has an Idempotency-Key and is repeated until its outcome is "
            "known; afterwards the database is compared with what people were told.</p>"
            f'<div class="panels">{"".join(map(_fault, faults))}</div>')


def violations_part(results):
    found = figures.violations(results)
    if not found:
        return ""
    return ("<h2>What was broken</h2>" + "".join(
        f"<details><summary>{escape(what)}</summary>{listed(sentences)}</details>" for what, sentences in found))


def machine_part(results):
    machine = results.get("machine") or {}
    versions = ", ".join(f"{name} {version or MISSING}" for name, version in (machine.get("versions") or {}).items())
    words = [f"commit {results.get('commit') or MISSING}", str(results.get("date") or MISSING),
             "quick run" if results.get("quick") else "full run", machine.get("cpu") or "unknown processor",
             f"{number(machine.get('cores'))} cores", f"{number(machine.get('memory_gb'))} GB",
             f"Linux {machine.get('kernel') or MISSING}", versions]
    return f'<p class="meta">{escape(" · ".join(word for word in words if word))}</p>'


def render(results):
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><title>festabook: strategies under load</title>'
            f"<style>{STYLE.read_text()}</style></head><body><h1>Strategies under load</h1>"
            + f'<section class="verdict {figures.verdict_kind(results)}">{listed(figures.first_sentences(results))}</section>'
            + "<h2>Who kept the promise</h2>" + verdict_matrix(results.get("cells") or [])
            + f'<p class="warning">{escape(figures.warning(results))}</p>' + machine_part(results)
            + (f"<h2>Who was fast</h2><p>{escape(figures.SPEED)}</p>" + listed(figures.speed_sentences(results)) if results.get("cells") else "")
            + scenarios(results) + pools_part(results.get("pools") or []) + faults_part(results.get("faults") or [])
            + violations_part(results) + "</body></html>\n")
