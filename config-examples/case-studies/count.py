#!/usr/bin/env python3
"""count.py CONFIG LOG: whether tasks ever used more of a node than its limit, from what they wrote themselves.

Reads the limits from the configuration and the log of watched.sh. Prints the highest use per resource; the exit code is 1
when a limit was passed, when a task ran twice at once, or when a limit was never reached, as such a run proves nothing.
"""
import collections
import json
import re
import sys

config, log = sys.argv[1:]
# Comments of these files are whole lines.
settings = json.loads(re.sub(r"(?m)^\s*//.*$", "", open(config).read()))["bistro_settings"]
limits = {name: values["limit"] for level in settings["resources"].values() for name, values in level.items()}

used = collections.Counter()
highest = collections.Counter()
running = {}
wrong = []
for line in sorted(open(log), key=lambda line: int(line.split()[0])):
    _, sign, job, node, *rest = line.split(" ", 4)
    task = job, node.strip()
    if sign == "-":
        used.subtract(running.pop(task))
        continue
    if task in running:
        wrong.append(f"{task} runs twice")
    needs = json.loads(rest[0])["resources_by_node"]
    running[task] = {(at, name): slots for at, all_of_it in needs.items() for name, slots in all_of_it.items()}
    used.update(running[task])
    for (at, name) in running[task]:
        highest[name] = max(highest[name], used[at, name])
        if used[at, name] > limits[name]:
            wrong.append(f"{name} of {at}: {used[at, name]} of {limits[name]}")
if running:
    wrong.append(f"without an end: {sorted(running)}")
for name, limit in sorted(limits.items()):
    print(f"  {name}: {highest[name]} of {limit}")
    if highest[name] < limit:
        wrong.append(f"{name} was never used up")
for each in wrong:
    print(f"  WRONG: {each}")
sys.exit(bool(wrong))
