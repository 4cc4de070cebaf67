#!/usr/bin/env python3
"""count.py CONFIG LOG [--workers N | --beside] [--unfinished]: whether tasks kept to the limits, from what they wrote themselves.

Reads the limits from the configuration and the log of watched.sh. Prints the highest use per resource; the exit code is 1
when a limit was passed, when a task ran twice at once, or when a limit was never reached, as such a run proves nothing.

--workers N: as many workers must have run tasks. --beside: each task must have run on the host that its node lies under.
--unfinished: tasks may still have run when the log ended.
"""
import argparse
import collections
import json
import re
import sys

parser = argparse.ArgumentParser()
parser.add_argument("config")
parser.add_argument("log")
parser.add_argument("--workers", type=int)
parser.add_argument("--beside", action="store_true")
parser.add_argument("--unfinished", action="store_true")
args = parser.parse_args()

# Comments of these files are whole lines.
settings = json.loads(re.sub(r"(?m)^\s*//.*$", "", open(args.config).read()))["bistro_settings"]
limits = {name: values["limit"] for level in settings["resources"].values() for name, values in level.items()}

used = collections.Counter()
highest = collections.Counter()
running = {}
workers = set()
wrong = []
for line in sorted(open(args.log), key=lambda line: int(line.split()[0])):
    _, sign, job, node, *rest = line.split(" ", 4)
    task = job, node.strip()
    if sign == "-":
        used.subtract(running.pop(task))
        continue
    if task in running:
        wrong.append(f"{task} runs twice")
    told = json.loads(rest[0])
    workers.add(told["worker_node"])
    if args.beside and told["worker_host"] not in told["path_to_node"]:
        wrong.append(f"{task} runs on {told['worker_host']}")
    needs = told["resources_by_node"]
    running[task] = {(at, name): slots for at, all_of_it in needs.items() for name, slots in all_of_it.items()}
    used.update(running[task])
    for (at, name) in running[task]:
        highest[name] = max(highest[name], used[at, name])
        if used[at, name] > limits[name]:
            wrong.append(f"{name} of {at}: {used[at, name]} of {limits[name]}")
if running and not args.unfinished:
    wrong.append(f"without an end: {sorted(running)}")
if args.workers is not None and len(workers) != args.workers:
    wrong.append(f"tasks ran on {sorted(workers)}")
for name, limit in sorted(limits.items()):
    print(f"  {name}: {highest[name]} of {limit}")
    if highest[name] < limit:
        wrong.append(f"{name} was never used up")
for each in wrong:
    print(f"  WRONG: {each}")
sys.exit(bool(wrong))
