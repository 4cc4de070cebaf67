#!/usr/bin/env python3
"""check-ledger.py LEDGER RULES: whether tasks kept to the limits, the windows and the pauses, from what they wrote themselves.

LEDGER is that of noted.sh. Each line of RULES is one rule; instants are seconds since 1970:

  limit all|host|schema SLOTS    so many tasks at once at most; and once at least, as a run that never does proves nothing
  window FROM TO                 tasks begin in one of these only
  quiet WHAT all|HOST FROM TO    none begins there in this time: no first step of an attempt

Prints what it has found; the exit code is 1 when a rule was broken.
"""
import collections
import sys

rules = [line.split() for line in open(sys.argv[2])]
events = sorted((float(at), sign, pid, node, attempt) for at, sign, pid, node, attempt in map(str.split, open(sys.argv[1])))
# An attempt begins with its first step; the others belong to what is under way.
begun = {}
for at, sign, _, node, attempt in events:
    begun.setdefault((node, attempt), at)
wrong = []


def owner(level, node):
    return {"all": "all", "host": node.split(".")[0], "schema": node}[level]


def most_at_once(level):
    running, used, most = {}, collections.Counter(), 0
    for _, sign, pid, node, _ in events:
        if sign == "+":
            running[pid] = owner(level, node)
            used[running[pid]] += 1
            most = max(most, used[running[pid]])
        elif pid in running:
            used[running.pop(pid)] -= 1
    if running:
        wrong.append(f"{len(running)} tasks have no end")
    return most


for level, slots in (rule[1:] for rule in rules if rule[0] == "limit"):
    most = most_at_once(level)
    print(f"tasks at once, {level}: at most {most} of {slots}")
    if most != int(slots):
        wrong.append(f"{most} tasks at once in place of {slots} ({level})")

windows = [(float(first), float(last)) for _, first, last in (rule for rule in rules if rule[0] == "window")]
for first, last in windows:
    inside = sum(first <= at < last for at in begun.values())
    print(f"{inside} attempts began in the window of {last - first:.0f} s")
    if not inside:
        wrong.append("nothing began in a window")
for (node, _), at in begun.items():
    if not any(first <= at < last for first, last in windows):
        wrong.append(f"{node} began at {at}, outside the windows")

for _, what, where, first, last in (rule for rule in rules if rule[0] == "quiet"):
    found = [node for (node, _), at in begun.items() if float(first) <= at <= float(last) and where in ("all", node.split(".")[0])]
    print(f"{what}: {len(found)} attempts began on {where} in {float(last) - float(first):.1f} s")
    wrong += [f"{node} began during {what}" for node in found]

for each in wrong:
    print(f"WRONG: {each}")
sys.exit(bool(wrong))
