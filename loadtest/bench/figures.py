"""What was measured, and how it is told."""
import datetime
import os
import pathlib
import platform
import statistics


def say(text):
    print(text, flush=True)


class StolenTime:
    """How much of the processors' time the host gave to others since this was made; where it is much, absolute times say little."""

    def __init__(self, read=lambda: pathlib.Path("/proc/stat").read_text()):
        self._read = read
        self._stolen, self._all = self._ticks()

    def _ticks(self):
        ticks = [int(one) for one in self._read().splitlines()[0].split()[1:9]]  # user nice system idle iowait irq softirq steal
        return ticks[7], sum(ticks)

    def percent(self):
        stolen, all_ = self._ticks()
        return 100 * (stolen - self._stolen) / max(1, all_ - self._all)


class Figures:
    def __init__(self, commit):
        self.commit, self.stolen = commit, StolenTime()
        self.results = {"commit": commit, "date": datetime.date.today().isoformat(),
                        "machine": f"{os.cpu_count()} cores, {platform.release()}", "ratios": [], "figures": [], "tables": [], "seconds": {}}

    def result(self, name, ratios, goal=None, detail=""):
        middle = statistics.median(ratios)
        self.results["ratios"].append({"name": name, "ratio": round(middle, 3), "rounds": [round(r, 3) for r in ratios],
                                       "goal": goal, "reached": goal is None or middle >= goal, "detail": detail})
        say(f"  = {name}: {middle:.2f}" + (f" (goal {goal:.2f})" if goal else "") + (f"; {detail}" if detail else ""))

    def figure(self, name, value, unit, goal=None, detail=""):
        self.results["figures"].append({"name": name, "value": round(value, 2), "unit": unit, "goal": goal,
                                        "reached": goal is None or value < goal, "detail": detail})
        say(f"  = {name}: {value:.2f} {unit}" + (f" (goal < {goal})" if goal else "") + (f"; {detail}" if detail else ""))

    def table(self, name, rows):
        self.results["tables"].append({"name": name, "rows": rows})

    def took(self, part, seconds):
        self.results["seconds"][part] = round(seconds, 1)
        say(f"  {part} took {seconds:.0f} s")

    def seconds(self):
        return sum(self.results["seconds"].values())

    def all_reached(self):
        return all(one["reached"] for one in self.results["ratios"] + self.results["figures"])

    def summary(self):
        lines = [f"festabook {self.commit or 'of this folder'}, {self.results['date']}, {self.results['machine']}; "
                 f"{self.stolen.percent():.0f} % of their time went to other guests of the host.", "",
                 "| ratio | median | rounds | goal | |", "|---|---|---|---|---|"]
        mark = {True: "", False: "**missed**"}
        for one in self.results["ratios"]:
            goal = f"≥ {one['goal']:.2f} {mark[one['reached']]}".strip() if one["goal"] else "–"
            lines.append(f"| {one['name']} | {one['ratio']:.2f} | {min(one['rounds']):.2f}–{max(one['rounds']):.2f} | {goal}"
                         f" | {one['detail']} |")
        if self.results["figures"]:
            lines += ["", "| figure | value | goal | |", "|---|---|---|---|"]
        for one in self.results["figures"]:
            goal = f"< {one['goal']} {mark[one['reached']]}".strip() if one["goal"] else "–"
            lines.append(f"| {one['name']} | {one['value']} {one['unit']} | {goal} | {one['detail']} |")
        for table in self.results["tables"]:
            names = list(table["rows"][0])
            lines += ["", table["name"], "", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
            lines += ["| " + " | ".join(f"{row[n]:.1f}" if isinstance(row[n], float) else str(row[n]) for n in names) + " |"
                      for row in table["rows"]]
        if self.results["seconds"]:
            parts = ", ".join(f"{part} {seconds:.0f}" for part, seconds in self.results["seconds"].items())
            lines += ["", f"It took {self.seconds() / 60:.1f} minutes; seconds of each part: {parts}."]
        return "\n".join(lines) + "\n"
