#!/usr/bin/env python3
"""Task: fills the rows of a shard in batches, and goes on where the attempt before has ended."""

import time

import espalier_task

with espalier_task.Task() as task:
    rows = task.config["rows"]
    row = int(task.checkpoint.get("cursor", 0))
    while row < rows:
        batch = min(task.config["rows_per_batch"], rows - row)
        time.sleep(0.1)  # The work. Doing a batch again must do no harm.
        row += batch
        task.count(rows=batch)
        task.progress(done=row, total=rows, cursor=row)
        if row < rows and task.seconds_left() < 1:
            task.incomplete()
            break
