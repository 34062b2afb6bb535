#!/usr/bin/env python3
"""families.py BENCH_FAMILIES FOLDER [N [FAMILY]] - checks that cost is proportional to the bytes of a dump.

Runs bench_families (each build and query in a separate process) and prints, for each family and query, CPU time and
peak memory of n and 4n records and their ratios, the highest first. The limit for both ratios is 5; times below 20 ms
are mostly the start of a process and are not judged. Exit code 1: a ratio exceeds the limit.
"""
import csv
import subprocess
import sys

BAR, LEAST_MS = 5.0, 20.0


def main():
    if len(sys.argv) not in (3, 4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    records = sys.argv[3:] or ["10000"]
    run = subprocess.run([sys.argv[1], sys.argv[2], *records], stdout=subprocess.PIPE, text=True, check=True)
    pairs = {}
    for row in csv.DictReader(run.stdout.splitlines()):
        pairs.setdefault((row["family"], row["what"]), []).append((float(row["cpu_ms"]), float(row["peak_rss_mb"])))
    found = []
    for (family, what), (small, large) in pairs.items():
        cpu = large[0] / max(small[0], LEAST_MS / 4)
        found.append((cpu, large[1] / small[1], family, what, small, large))
    found.sort(reverse=True)
    above = 0
    print("| family | question | cpu ms, n | 4n | ratio | peak MB, n | 4n | ratio | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for cpu, memory, family, what, small, large in found:
        over = what.endswith("_FAILED") or memory > BAR or (cpu > BAR and large[0] > LEAST_MS)
        above += over
        print(f"| {family} | {what} | {small[0]:.1f} | {large[0]:.1f} | {cpu:.1f} | {small[1]:.1f} | {large[1]:.1f} "
              f"| {memory:.1f} | {'above' if over else ''} |")
    print(f"\n{above} of {len(found)} above {BAR:.0f} times")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
