"""Prometheus' text format: differences of histograms, and percentiles from their buckets."""

import math
import re

_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(text):
    """(name, labels, value) of each line."""
    for line in text.splitlines():
        found = _SAMPLE.match(line)
        if found:
            yield found[1], dict(_LABEL.findall(found[2] or "")), float(found[3])


def buckets(texts, histogram, **labels):
    """{upper bound: count up to it} of a histogram, summed over the texts and over all labels not given."""
    total = {}
    for text in texts:
        for name, has, value in samples(text):
            if name == histogram + "_bucket" and labels.items() <= has.items():
                bound = float(has["le"])
                total[bound] = total.get(bound, 0.0) + value
    return total


def difference(before, after):
    return {bound: count - before.get(bound, 0.0) for bound, count in after.items()}


def percentile(counts, share):
    """The value below which this share of the observations lies; None without any.

    Evenly spread inside a bucket is assumed, as Prometheus' histogram_quantile does; beyond the last bound the answer is
    that bound."""
    bounds = sorted(counts)
    total = counts[bounds[-1]] if bounds else 0
    if total <= 0:
        return None
    wanted = share * total
    below, lower = 0.0, 0.0
    for bound in bounds:
        if counts[bound] >= wanted and counts[bound] > below:
            if math.isinf(bound):
                return lower
            return lower + (bound - lower) * (wanted - below) / (counts[bound] - below)
        below, lower = counts[bound], bound if not math.isinf(bound) else lower
    return lower


def percentiles_ms(before, after, histogram, **labels):
    """{"p50", "p95", "p99"} in milliseconds of what was observed between the two readings, or None."""
    counts = difference(buckets(before, histogram, **labels), buckets(after, histogram, **labels))
    if percentile(counts, 0.5) is None:
        return None
    return {f"p{share}": round(percentile(counts, share / 100) * 1000, 3) for share in (50, 95, 99)}
