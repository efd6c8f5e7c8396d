"""What the figures say: names, verdicts, the fastest, and sentences for people. Pure: no HTML, no Markdown."""

import dataclasses

MISSING = "–"
SCENARIOS = ("pins", "pin-storm", "opening-second", "hot-seat", "double-click", "coupon-queue", "coupon-per-user")
# Rates closer than this are one rate: the patience of clients decides then.
AS_FAST = 0.95
# Who sends more people away without an outcome is fast at that, not at serving them.
MOST_ERRORS = 0.01
# More people than this not sent: the load was not what it should have been.
MOST_NOT_SENT = 0.05


def number(value, digits=1):
    """For people: at most `digits` decimals, fewer for large numbers, a dash for what is not known."""
    if value is None:
        return MISSING
    if abs(value) >= 100 or float(value).is_integer():
        return f"{value:,.0f}"
    # Small is not nothing.
    while value and round(abs(value), digits) == 0 and digits < 4:
        digits += 1
    return f"{value:,.{digits}f}"


def value(of, *path):
    """The value under these names; None where anything on the way is missing."""
    for name in path:
        of = of.get(name) if isinstance(of, dict) else None
    return of


def has_backstop(cell):
    return cell.get("backstop") in ("on", "single")


def label(cell):
    text = cell["strategy"] or "as configured"
    if has_backstop(cell):
        text += " + backstop" + (", not shared" if cell["backstop"] == "single" else "")
    if cell.get("workers"):
        text += f", {cell['workers']} worker{'s' if cell['workers'] > 1 else ''}"
    return text


def place(cell):
    """Where a cell stands among those of its scenario."""
    return (cell["place"], cell["strategy"], ("off", "on", "single").index(cell.get("backstop") or "off"), cell.get("workers") or 0)


def panels(cells):
    """[(scenario, instances, its cells in order)], as they are shown."""
    rank = lambda name: SCENARIOS.index(name) if name in SCENARIOS else len(SCENARIOS)
    groups = {}
    for cell in cells:
        groups.setdefault((rank(cell["scenario"]), cell["scenario"], cell["instances"]), []).append(cell)
    return [(key[1], key[2], sorted(groups[key], key=place)) for key in sorted(groups)]


@dataclasses.dataclass(frozen=True)
class Judged:
    kind: str  # kept, broken, control (failed as it must), blind
    text: str


def runs(cell):
    """Whose sum a number is, where a cell was run several times."""
    return f" in {cell['rounds']} runs" if (cell.get("rounds") or 1) > 1 else ""


def judged(cell):
    """Of a cell or a fault. A control is there to be seen overselling. One that was not shows that the run could not have
    seen it either."""
    verdict = cell["verdict"]
    oversold, broken = verdict.get("oversold") or 0, verdict.get("violations") or []
    if verdict.get("must_fail"):
        if oversold > 0:
            return Judged("control", f"{oversold:,} oversold{runs(cell)} (control: failed as it must)")
        return Judged("blind", "blind (control: nothing was seen)")
    if verdict.get("ok") and oversold == 0:
        return Judged("kept", "kept")
    if oversold > 0:
        return Judged("broken", f"{oversold:,} oversold{runs(cell)}")
    return Judged("broken", f"{len(broken):,} broken promise{'s' if len(broken) != 1 else ''}")


def facts(cell):
    """What else was found, of a cell or a fault; of several runs the most."""
    found = cell["verdict"].get("facts") or {}
    return ", ".join(f"{name.replace('_', ' ')}: {number(count)}" for name, count in found.items()) or MISSING


def answered(cell):
    """Answers a second that a client can rely on: accepted, or refused for good; None if that was not measured."""
    if cell.get("accepted_per_s") is None or cell.get("rejected_per_s") is None:
        return None
    return cell["accepted_per_s"] + cell["rejected_per_s"]


def claims_to_protect(cell):
    """The others are controls: where they did no harm, something else prevented it."""
    return not cell["lab_only"] or has_backstop(cell)


def _error_share(cell):
    errors = cell.get("errors_per_s") or 0
    return errors / (errors + answered(cell))


def fastest(cells):
    """(the fastest that kept its promise, the slowest); None where nothing can be compared.

    By answers a second of those with few errors; among those that are as fast, by the 95th percentile of what accepted people
    waited."""
    good = [cell for cell in cells
            if judged(cell).kind == "kept" and claims_to_protect(cell) and answered(cell)]
    good = [cell for cell in good if _error_share(cell) <= MOST_ERRORS] or good
    if not good:
        return None
    top = max(map(answered, good))
    waited = lambda cell: value(cell, "latency_ms", "accepted", "p95")
    level = [cell for cell in good if answered(cell) >= AS_FAST * top]
    best = min(level, key=lambda cell: (waited(cell) is None, waited(cell) or 0, -answered(cell)))
    return best, min(good, key=answered)


def _instances(count):
    return "one instance" if count == 1 else f"{count} instances"


def _about_verdicts(cells):
    kinds = [judged(cell).kind for cell in cells]
    name = lambda cell: f"{label(cell)} ({cell['scenario']}, {_instances(cell['instances'])})"
    broken = [name(cell) for cell, kind in zip(cells, kinds) if kind == "broken"]
    blind = [name(cell) for cell, kind in zip(cells, kinds) if kind == "blind"]
    controls = kinds.count("control")
    if broken:
        yield (f"{len(broken)} of {len(cells) - controls - len(blind)} combinations that claim to protect did not: "
               + ", ".join(broken) + ".")
    elif kinds.count("kept"):
        yield f"All {kinds.count('kept')} combinations that claim to protect kept their promise in the database."
    if controls:
        yield (f"{controls} control{'s' if controls > 1 else ''} without protection oversold, as they must: "
               "so this load does find a broken lock.")
    if blind:
        yield "Blind: " + ", ".join(blind) + " should have oversold and did not, so the rows beside it prove little."


def _about_speed(scenario, instances, cells):
    found = fastest(cells)
    if not found:
        return f"{scenario}, {_instances(instances)}: nothing that kept its promise was measured."
    best, slow = found
    text = f"{scenario}, {_instances(instances)}: {label(best)}, {number(answered(best))} answers a second"
    waited = value(best, "latency_ms", "accepted", "p95")
    if waited is not None:
        text += f", 95 % of the accepted ones within {number(waited)} ms"
    ratio = answered(best) / answered(slow)
    if ratio > 1 / AS_FAST:
        text += f"; {number(ratio)} times as many as {label(slow)}, the slowest"
    elif slow is not best:
        text += "; all others gave about as many"
    return text + "."


def fastest_words(cells):
    """For the heading of a scenario's figures."""
    found = fastest(cells)
    return f"{label(found[0])} was fastest of {len(cells)}" if found else f"{len(cells)} measured"


def verdict_kind(results):
    """Of the whole run: broken, blind or kept."""
    kinds = {judged(one).kind for one in [*(results.get("cells") or []), *(results.get("faults") or [])]}
    return next((kind for kind in ("broken", "blind") if kind in kinds), "kept")


def _fastest_of_all(cells):
    """One sentence for each number of instances."""
    by_count = {}
    for scenario, instances, found in panels(cells):
        if fastest(found):
            by_count.setdefault(instances, []).append(f"{scenario}: {label(fastest(found)[0])}")
    for instances, names in sorted(by_count.items()):
        yield f"Fastest that kept its promise on {_instances(instances)}: {'; '.join(names)}."


def _about_load(cells):
    short = []
    for cell in cells:
        missing, came = cell.get("dropped_iterations") or 0, sum((cell.get("outcomes") or {}).values())
        if missing > MOST_NOT_SENT * (missing + came):
            short.append(cell)
    if short:
        yield (f"In {len(short)} of {len(cells)} combinations more than 5 % of the people were not sent, because the machine "
               "was too busy: the tables say how many. Their rates are those of a smaller rush.")


def _about_faults(faults):
    if not faults:
        return
    broken = [fault.get("title") or fault["fault"] for fault in faults if judged(fault).kind == "broken"]
    if broken:
        yield f"Faults: promises were broken by {', '.join(broken)}."
    else:
        yield f"Faults: nothing was lost or sold twice in any of {len(faults)}."
    times = [(fault["recovery_s"], fault.get("title") or fault["fault"]) for fault in faults
             if fault.get("recovery_s") is not None]
    if times:
        yield f"The longest recovery took {number(max(times)[0])} s ({max(times)[1]})."
    never = [fault.get("title") or fault["fault"] for fault in faults if fault.get("recovery_s") is None]
    if never:
        yield f"No recovery was seen: {', '.join(never)}."


def first_sentences(results):
    cells = results.get("cells") or []
    return [*_about_verdicts(cells), *_fastest_of_all(cells), *_about_load(cells), *_about_faults(results.get("faults") or [])]


SPEED = ("The fastest that kept its promise, by answers a second (accepted and rejected); of those within 5 % of it, the one "
         "whose accepted people waited least (for a queue's answer until the claim was seen to be over). Those that left more "
         "than 1 % without an outcome (5xx) do not count, unless all did. Where people arrive at a fixed rate, many strategies "
         "keep up with it and only waiting differs.")


def speed_sentences(results):
    return [_about_speed(*panel) for panel in panels(results.get("cells") or [])]


def warning(results):
    machine = results.get("machine") or {}
    text = (f"These are ratios on one machine ({machine.get('cores') or 'some'} cores) on which clients, proxy, service, "
            "database and Redis share the processor. Compare rows with each other; do not expect these rates elsewhere.")
    if results.get("quick"):
        text += " This was a quick run, a tenth of the size: the verdicts count, small differences do not."
    return text


def violations(results):
    """[(what, its sentences)] of everything that broke a promise, controls included."""
    found = []
    for cell in sorted(results.get("cells") or [], key=lambda cell: judged(cell).kind != "broken"):
        if cell["verdict"].get("violations"):
            found.append((f"{cell['scenario']}, {label(cell)}, {_instances(cell['instances'])}: "
                          f"{judged(cell).text}", cell["verdict"]["violations"]))
    for fault in results.get("faults") or []:
        if fault["verdict"].get("violations"):
            found.append((f"{fault.get('title') or fault['fault']}: {judged(fault).text}",
                          fault["verdict"]["violations"]))
    return found


def matrix(cells):
    """([(scenario, instances)], [(row's name, [cell or None])])."""
    shown = panels(cells)
    rows = {}
    for cell in sorted(cells, key=place):
        rows.setdefault(label(cell), {})[(cell["scenario"], cell["instances"])] = cell
    columns = [(scenario, instances) for scenario, instances, _ in shown]
    return columns, [(name, [found.get(column) for column in columns]) for name, found in rows.items()]
