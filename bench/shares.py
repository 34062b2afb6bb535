#!/usr/bin/env python3
"""shares.py TIMELINE [CORES ...] - computes build times on more cores from the output of bench_timeline.

Prints CSV: cores,wall_s,speedup,alone_share. A task is a list of stretches: work of its own thread, pieces that can be
shared by as many threads as there were workers, and calls with their own tasks. Cores are assigned to tasks in the
order in which these could begin, as in the library: first one to each task, then the remaining ones to pieces.
alone_share is the share of all CPU time during which only one core could be used even if there were unlimited cores:
the sequential share of the build.
"""
import collections
import csv
import sys

END = 1e-12


def read(path):
    """Returns the build as stretches: ("alone", s), ("pieces", s, workers) or ("tasks", [(after, stretches), ...])."""
    calls, functions = collections.defaultdict(list), collections.defaultdict(list)
    for row in csv.reader(open(path)):
        if row and row[0] == "call":
            calls[int(row[2])].append((int(row[4]), int(row[5]), int(row[1]), row[3]))
        elif row and row[0] == "function":
            functions[int(row[2])].append((int(row[3]), int(row[4]), int(row[1]), int(row[5]), int(row[6])))

    def whole(function):
        """CPU time of a function with all that others did for it."""
        _, _, number, begin, end = function
        time = end - begin
        for began, ended, call, _ in calls[number]:
            time += sum(map(whole, functions[call])) - (ended - began)
        return time

    def stretches(number, begin, end):
        out, at = [], begin
        for began, ended, call, kind in sorted(calls[number]):
            out.append(("alone", (began - at) / 1e9))
            done = sorted(functions[call])
            if kind == "tasks":
                out.append(("tasks", [(f[1], stretches(f[2], f[3], f[4])) for f in done]))
            else:
                out.append(("pieces", sum(map(whole, done)) / 1e9, max(1, len(done))))
            at = ended
        out.append(("alone", (end - at) / 1e9))
        return out

    _, _, number, begin, end = functions[0][0]
    return stretches(number, begin, end)


class Run:
    """A list of stretches on its way; a call with tasks waits for the runs of these."""

    def __init__(self, stretches, parent=None, number=0):
        self.left, self.parent, self.number = collections.deque(stretches), parent, number
        self.waiting, self.done, self.now = [], set(), None

    def step(self, ready):
        """To the next stretch with work in it, which goes to `ready`."""
        while self.left:
            stretch = self.left.popleft()
            if stretch[0] == "tasks":
                self.waiting = [(i, after, inner) for i, (after, inner) in enumerate(stretch[1])]
                self.done, self.open = set(), len(self.waiting)
                if self.waiting:
                    self.now = None
                    return self.begin(ready)
            elif stretch[1] > END:
                self.now = [stretch[1], 1 if stretch[0] == "alone" else stretch[2]]
                ready.append(self)
                return None
        if self.parent is not None:
            self.parent.done.add(self.number)
            self.parent.open -= 1
            if self.parent.open == 0:
                self.parent.step(ready)
            else:
                self.parent.begin(ready)
        return None

    def begin(self, ready):
        free = [t for t in self.waiting if all(t[1] >> i & 1 == 0 or i in self.done for i in range(64))]
        self.waiting = [t for t in self.waiting if t not in free]
        for i, _, inner in free:
            Run(inner, self, i).step(ready)


def simulate(build, cores):
    """Wall time, and how much of it one thread worked alone."""
    ready, wall, alone = [], 0.0, 0.0
    Run(build).step(ready)
    while ready:
        given = [1.0 if i < cores else 0.0 for i in range(len(ready))]
        left = cores - sum(given)
        for i, run in enumerate(ready):
            more = min(left, run.now[1] - 1) if given[i] else 0
            given[i] += more
            left -= more
        span = min(run.now[0] / g for run, g in zip(ready, given) if g > 0)
        wall += span
        alone += span if sum(given) <= 1 else 0
        before, ready = ready, []
        finished = []
        for run, g in zip(before, given):
            run.now[0] -= g * span
            (finished if run.now[0] <= END else ready).append(run)
        for run in finished:
            run.step(ready)
    return wall, alone


def main():
    build = read(sys.argv[1])
    cpu, _ = simulate(build, 1)
    _, alone = simulate(build, 1 << 20)
    print("cores,wall_s,speedup,alone_share")
    for cores in map(int, sys.argv[2:] or ["1", "2", "4", "8", "16"]):
        wall, _ = simulate(build, cores)
        print(f"{cores},{wall:.3f},{cpu / wall:.2f},{alone / cpu:.3f}")


if __name__ == "__main__":
    main()
