#!/usr/bin/env python3
"""Batch: compacts the shards of one host over one connection to it.

The "host" is a database file of its own, and a shard is one row of it, so that the example needs
no server. What counts is that the connection is opened once for a whole batch.
"""

import os
import sqlite3
import sys
import time

# The helper lies beside the example of tasks in Python; copy it beside your own program.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import espalier_task  # noqa: E402

batch = espalier_task.Batch()
host = batch.tasks[0].description["path_to_node"][-2]
connection = sqlite3.connect(host + ".db", isolation_level=None, timeout=30)
connection.execute("CREATE TABLE IF NOT EXISTS compacted (shard TEXT, token TEXT, process INT)")
print("connected to %s for %d shards" % (host, len(batch.tasks)), flush=True)
for task in batch:
    with task:
        connection.execute(
            "INSERT INTO compacted VALUES (?, ?, ?)", (task.node, task.token, os.getpid())
        )
        time.sleep(task.config["seconds_per_shard"])  # The work.
        task.count(shards=1)
