#!/usr/bin/env python3
"""summary.py RESULTS.csv [REVISION]: prints the results of bench/run as one page (Markdown): ratios with their targets,
then the figures from which they are computed.

Over several rounds it uses the median of wall and CPU time and the maximum of memory, of successful runs only. A ratio
is the median of the ratios within each round, because the speed of the machine changes over time. REVISION: uses only
rows of this revision of heapdex; by default, of the last one in the file.
"""
import csv
import re
import statistics
import sys
from collections import defaultdict

# The measured limit of each step on one idle thread, in CPU ns per object of mix (minimal prototypes that only make the
# arrays; "+": plus the cost of encoding)
LIMITS = {"scan": "19-21", "columns": "64-73", "objects": "70-75 with retained's", "references": "96-111 +",
          "dominators": "51-64", "retained": "11-18 +"}
# Minimum million rows per second, and maximum seconds of a look-up or a query about classes
SQL_ROWS = {"count": 50, "sum": 17, "sum_retained": 17, "filter": 60, "filter_retained": 60, "top": 150,
            "group_by_class": 5, "shop.class_table": 2, "strings": 1.5}
SQL_TIMES = {"by_id": 1e-3, "by_address": 1e-3, "who_refers": 1e-3, "path": 1e-3, "histogram": 1e-2,
             "class_by_name": 1e-2, "several_loaders": 1e-2}
MIB = 1048576 / 1e6


def number(text):
    return float(text) if text not in ("", None) else None


def middle(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def show(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


class Table:
    """rows by (scenario, case, tool): a dict of rounds"""

    def __init__(self, path, revision):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        ours = [r["revision"] for r in rows if r["tool"] == "heapdex"]
        self.revision = revision or (ours[-1] if ours else "")
        self.rows, self.machine, self.cores, loads = defaultdict(dict), "", "1", []
        for r in rows:
            if r["tool"] in ("heapdex", "estimate") and r["revision"] != self.revision:
                continue
            wall, user, system = (number(r[k]) for k in ("wall_s", "user_s", "sys_s"))
            self.rows[r["scenario"], r["case"], r["tool"]][r["round"]] = {
                "wall": wall, "cpu": None if user is None else user + (system or 0), "peak": number(r["peak_rss_mb"]),
                "bytes": number(r["bytes"]), "objects": number(r["objects"]), "exit": r["exit"]}
            self.cores = r["cores"]
            self.machine = f"{r['cpu']}, {r['cores']} cores, {r['memory_gib']} GiB, {r['date'][:10]}"
            loads.append(float(r["load"]))
        self.loads = f"{min(loads):.1f} to {max(loads):.1f}" if loads else "-"

    def cases(self, scenario, tool="heapdex"):
        return [c for s, c, t in self.rows if s == scenario and t == tool]

    def get(self, scenario, case, tool, what):
        values = [r[what] for r in self.rows.get((scenario, case, tool), {}).values()
                  if r[what] is not None and r["exit"] == "0"]
        return (max(values) if what == "peak" else middle(values)) if values else None

    def failed(self, scenario, case, tool="heapdex"):
        return [r["exit"] for r in self.rows.get((scenario, case, tool), {}).values() if r["exit"] != "0"]

    def ratio(self, scenario, above, below, what):
        """above and below are (case, tool); the median over rounds both have"""
        a, b = (self.rows.get((scenario, *key), {}) for key in (above, below))
        return middle([a[i][what] / b[i][what] for i in a if i in b and a[i][what] and b[i][what]
                       and a[i]["exit"] == b[i]["exit"] == "0"])


def targets(t):
    """(point, what, target, measured, met)"""
    out = []

    def add(point, what, measured, sign, target, form="{:.2f}"):
        if measured is not None:
            met = measured >= target if sign == ">=" else measured <= target
            out.append((point, what, f"{sign} {form.format(target)}", form.format(measured),
                        "yes" if met else "**no**"))

    for c in t.cases("builds"):
        add("1", f"{c}: hprof-analyzer's wall time / ours",
            t.ratio("builds", (c, "hprof-analyzer"), (c, "heapdex"), "wall"), ">=", 7)
        add("1", f"{c}: our wall time / prototype in memory",
            t.ratio("builds", (c, "heapdex"), (c, "in_memory"), "wall"), "<=", 1.5)
        add("1", f"{c}: our CPU time / prototype spilled",
            t.ratio("builds", (c, "heapdex"), (c, "spilled"), "cpu"), "<=", 1.5)
    for c in t.cases("scan"):
        add("2", f"{c}: hprof-slurp's wall time / histogram --scan",
            t.ratio("scan", (c, "hprof-slurp"), (c, "heapdex"), "wall"), ">=", 2)
        add("2", f"{c}: its peak memory / ours", t.ratio("scan", (c, "hprof-slurp"), (c, "heapdex"), "peak"), ">=", 1)
    for c in t.cases("cold"):
        if c.endswith(":scan"):
            add("2", f"{c.split(':')[0]}, cold: histogram --scan / `cat`",
                t.ratio("cold", (c, "heapdex"), (c.split(":")[0], "cat"), "wall"), "<=", 1.1)
        if c.endswith(":index"):
            other = c.replace(":index", ":warm")
            a, b, d = (t.get("cold", n, k, "wall")
                       for n, k in ((c, "heapdex"), (other, "heapdex"), (c.split(":")[0], "cat")))
            if a and b and d:
                add("2", f"{c.split(':')[0]}, cold: build / (warm build and `cat` from disk)", a / (b + d), "<=", 1.1)
    base = t.rows.get(("gc", "mix5m", "heapdex"), {})
    for c in t.cases("gc"):
        rows = t.rows["gc", c, "heapdex"]
        pairs = [rows[i]["wall"] / rows[i]["objects"] / (base[i]["wall"] / base[i]["objects"]) for i in rows
                 if i in base and rows[i]["objects"] and base[i]["objects"]]
        if c != "mix5m":
            add("3", f"{c}: ns an object / mix of 5 M", middle(pairs), "<=", 2)
    add("4", "mix: peak memory, MB", t.get("builds", "mix", "heapdex", "peak"), "<=", 1200, "{:.0f}")
    for c in t.cases("memory"):
        if c == "default":
            continue
        budget = int(re.match(r"\d+", c)[0])
        if t.failed("memory", c):
            out.append(("5", f"mix, --memory {c}", "exit 0", f"exit {t.failed('memory', c)[0]}",
                        "**no**" if c.startswith("768") else "-"))
            continue
        add("5", f"mix, --memory {c}: peak, MiB", t.get("memory", c, "heapdex", "peak") / MIB, "<=", budget, "{:.0f}")
        if c.startswith("768"):
            add("5", f"mix, --memory {c}: wall time / default",
                t.ratio("memory", (c, "heapdex"), ("default", "heapdex"), "wall"), "<=", 2)
            add("5", f"mix, --memory {c}: wall time / prototype spilled",
                t.ratio("memory", (c, "heapdex"), ("spilled", "spilled"), "wall"), "<=", 1.2)
    for c in t.cases("batch"):
        budget = re.fullmatch(r"\d+ dumps at (\d+)M( .*)?", c)
        peak = t.get("batch", c, "heapdex", "peak")
        if budget and peak and ":" not in c:
            add("5", f"batch, {c}: peak, MiB", peak / MIB, "<=", int(budget[1]), "{:.0f}")
    memory, disk, times = forecast(t)
    if memory:
        add("5", f"forecast, {len(memory)} dumps: memory, lowest forecast / taken ({min(memory)[1]})",
            min(memory)[0], ">=", 1)
    if disk:
        add("5", f"forecast, {len(disk)} dumps: disk, lowest forecast / taken ({min(disk)[1]})", min(disk)[0], ">=", 1)
    for what, ratios in (("memory", memory), ("disk", disk)):
        long = [(r, c) for r, c in ratios if c in [other for _, other in times]]
        if long:
            add("5", f"forecast, {len(long)} builds over a second: {what}, highest forecast / taken ({max(long)[1]})",
                max(long)[0], "<=", 1.5)
    if times:
        add("5", f"forecast, {len(times)} builds over a second: wall time, longest / forecast ({max(times)[1]})",
            max(times)[0], "<=", 1.5)
        add("5", f"the same, shortest / forecast ({min(times)[1]})", min(times)[0], ">=", 0.67)
    for c in t.cases("builds"):
        size, objects = t.get("builds", c, "heapdex", "bytes"), t.get("builds", c, "heapdex", "objects")
        if size and objects:
            add("7", f"{c}: index, bytes an object", size / objects, "<=", 12 if c == "mix" else 14)
    for c in t.cases("queries"):
        name, _, what = c.partition(":")
        most = {"ahead.class": 30e-9, "ahead.retained": 30e-9, "ahead.position": 30e-9,
                "ahead.address": 60e-9, "ahead.id": 60e-9, "ahead.inbound": 200e-9,
                "ahead.outbound": 200e-9, "path_again": 200e-6, "histogram": 1e-3}.get(what)
        used = t.get("queries", c, "heapdex", "cpu")
        if most and used and name == "mix":
            out.append(("7" if "." in what else "12", f"{c}, CPU", f"<= {engineering(most)}", engineering(used),
                        "yes" if used <= most else "**no**"))
    for c in t.cases("sql"):
        what = c.partition(":")[2]
        rows, used = t.get("sql", c, "heapdex", "objects"), t.get("sql", c, "heapdex", "cpu")
        if what in SQL_ROWS and rows and used:
            add("SQL", f"{c}, million rows a second of CPU", rows / used / 1e6, ">=", SQL_ROWS[what], "{:.1f}")
        most = SQL_TIMES.get(what)
        if most and used:
            out.append(("SQL", f"{c}, CPU", f"<= {engineering(most)}", engineering(used),
                        "yes" if used <= most else "**no**"))
    for c in t.cases("leaks"):
        most, peak = (0.05, 64) if c.endswith("again") else (3, 512 * MIB if c.endswith("tight") else 600)
        if t.failed("leaks", c):
            out.append(("leaks", c, "exit 0", f"exit {t.failed('leaks', c)[0]}", "**no**"))
        add("leaks", f"{c}: CPU, s", t.get("leaks", c, "heapdex", "cpu"), "<=", most)
        add("leaks", f"{c}: peak memory, MB", t.get("leaks", c, "heapdex", "peak"), "<=", peak, "{:.0f}")
    for c in t.cases("interrupted"):
        if c.startswith("killed"):
            if t.failed("interrupted", c):
                out.append(("8", f"mix, {c}", "exit 0", f"exit {t.failed('interrupted', c)[0]}", "**no**"))
            add("8", f"mix, {c}: bytes that differ from a straight build",
                t.get("interrupted", c, "heapdex", "bytes"), "<=", 0, "{:.0f}")
    return out


def engineering(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.2g} ns"


def forecast(t):
    """([forecast / memory, dump], [forecast / disk, dump], [wall time / forecast, dump]) of every dump built.

    Time where it took over a second."""
    memory, disk, times = [], [], []
    for c in t.cases("forecast", "estimate"):
        peak, wall, size = (t.get("forecast", c, "heapdex", k) for k in ("peak", "wall", "bytes"))
        said, told, room = (t.get("forecast", c, "estimate", k) for k in ("peak", "wall", "bytes"))
        if peak and said:
            memory.append((said / peak, c))
        if size and room:
            disk.append((room / size, c))
        if wall and told and wall > 1:
            times.append((wall / told, c))
    return memory, disk, times


def print_table(head, rows):
    if rows:
        print("\n| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
        for r in rows:
            print("| " + " | ".join(str(x) for x in r) + " |")


def print_figures(t):
    for scenario, title in (("builds", "Builds"), ("memory", "mix within a budget"), ("scan", "histogram --scan"),
                            ("cold", "Page cache dropped"), ("gc", "Collectors and shapes"),
                            ("leaks", "Searches for leaks"), ("interrupted", "Killed and resumed")):
        rows = []
        for (s, c, tool), rounds in t.rows.items():
            if s == scenario:
                objects, wall = t.get(s, c, tool, "objects"), t.get(s, c, tool, "wall")
                rows.append((c, tool, len(rounds), show(wall), show(t.get(s, c, tool, "cpu")),
                             show(t.get(s, c, tool, "peak"), "{:,.0f}"),
                             show(wall * 1e9 / objects if wall and objects else None, "{:.0f}"),
                             " ".join(t.failed(s, c, tool)) or "0"))
        if rows:
            print(f"\n### {title}")
        print_table(("case", "tool", "rounds", "wall s", "CPU s", "peak MB", "wall ns an object", "exit"), rows)
    print_steps(t)
    print_forecast(t)
    print_sql(t)
    print_batch(t)


def print_sql(t):
    rows = []
    for c in t.cases("sql"):
        went, wall, used = (t.get("sql", c, "heapdex", k) for k in ("objects", "wall", "cpu"))
        if wall and used:
            rows.append((c, engineering(used), engineering(wall), show(went, "{:,.0f}"),
                         show(went / used / 1e6 if went else None, "{:.1f}")))
    if rows:
        print("\n### Questions in SQL")
    print_table(("question", "CPU", "wall", "rows", "million rows a second of CPU"), rows)


def print_batch(t):
    rows = []
    for c in t.cases("batch"):
        dumps = re.fullmatch(r"(\d+) dumps at [^:]+", c)
        wall, size = (t.get("batch", c, "heapdex", k) for k in ("wall", "bytes"))
        if not dumps or not wall or not size:
            continue
        cores = float(t.cores)
        idle, cpu = t.get("batch", f"{c}:idle", "heapdex", "wall"), t.get("batch", c, "heapdex", "cpu")
        rows.append((c, show(wall), show(cpu), show(float(dumps[1]) * 3600 / wall, "{:,.0f}"),
                     show(size * 3.6e-6 / wall, "{:,.0f}"),
                     show(t.get("batch", c, "heapdex", "peak") / MIB, "{:,.0f}"),
                     show(t.get("batch", f"{c}:anonymous", "heapdex", "peak") / MIB, "{:,.0f}"),
                     show(100 * idle / wall / cores, "{:.1f}"),
                     show(100 * (1 - cpu / wall / cores), "{:.0f}")))
    if rows:
        print("\n### A night of dumps")
    print_table(("case", "wall s", "CPU s", "dumps an hour", "GB an hour", "peak, MiB", "the same without files",
                 "idle, %", "not ours, %"), rows)


def print_steps(t):
    rows = []
    for c in t.cases("steps"):
        name, _, step = c.partition(":")
        references = t.get("steps", f"{name}:reference_count", "heapdex", "objects")
        objects, wall, cpu = (t.get("steps", c, "heapdex", k) for k in ("objects", "wall", "cpu"))
        if step != "reference_count" and objects and references:
            rows.append((name, step, show(wall), show(cpu), show(wall / objects * 1e9, "{:.0f}"),
                         show(cpu / objects * 1e9, "{:.0f}"),
                         show(cpu / references * 1e9, "{:.0f}"), LIMITS.get(step, "-") if name == "mix" else ""))
    if rows:
        print("\n### Steps")
    print_table(("dump", "step", "wall s", "CPU s", "wall ns an object", "CPU ns an object", "CPU ns a reference",
                 "limit, CPU ns an object"), rows)


def print_forecast(t):
    rows = []
    for c in t.cases("forecast", "estimate"):
        said, told, disk = (t.get("forecast", c, "estimate", k) for k in ("peak", "wall", "bytes"))
        peak, wall, size = (t.get("forecast", c, "heapdex", k) for k in ("peak", "wall", "bytes"))
        if peak and wall and size and said and told:
            rows.append((c, show(said, "{:,.0f}"), show(peak, "{:,.0f}"), show(peak / said), show(told), show(wall),
                         show(wall / told), show(disk / 1e6, "{:.1f}"), show(size / 1e6, "{:.1f}"),
                         show(t.get("forecast", f"{c}:asking", "heapdex", "wall"))))
    if rows:
        print("\n### Forecast and outcome")
    print_table(("dump", "memory MB", "taken", "ratio", "time s", "taken", "ratio", "disk MB", "taken", "asking s"),
                rows)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    t = Table(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    print(f"heapdex {t.revision}; {t.machine}; load {t.loads}")
    print_table(("point", "what", "target", "measured", "met"), targets(t))
    print_figures(t)


main()
