"""Helper for tasks in Python: status, progress, checkpoint, counters and deadline.

Copy this one file beside your task; it needs Python 3.7 and nothing else. docs/writing-tasks.md
says what the lines mean.

    import espalier_task

    with espalier_task.Task() as task:
        start = int(task.checkpoint.get("cursor", 0))
        for row in range(start, 1000):
            work(row)
            task.count(rows=1)
            task.progress(done=row + 1, total=1000, cursor=row + 1)
            if task.seconds_left() < 10:
                task.incomplete()   # the next attempt goes on from the checkpoint
                break

Of a job with "batch" (docs/batches.md) the program runs several tasks, one after the other:

    for task in espalier_task.Batch():
        with task:
            work(task.node)

The task is done when the block ends, unless it has said otherwise. An exception that leaves the
block makes the attempt fail, with its text as the reason, and the next attempt comes after a wait.
"""

import json
import os
import sys
import threading
import time


class Task:
    """One attempt of a task. Not for use by several threads at once."""

    def __init__(self, arguments=None, environment=None):
        """Reads the three arguments that Espalier appends to the command: NODE FILE JSON."""
        arguments = sys.argv if arguments is None else arguments
        environment = os.environ if environment is None else environment
        if len(arguments) < 4:
            raise SystemExit("a task of Espalier gets NODE FILE JSON behind its command")
        self.node, self._file, text = arguments[-3:]
        self._describe(json.loads(text))
        self.job = environment.get("ESPALIER_TASK_JOB", "")
        self.attempt = int(environment.get("ESPALIER_TASK_ATTEMPT", "1"))
        #: The fencing token, greater with each start of the task.
        self.token = environment.get("ESPALIER_TASK_TOKEN", "")
        deadline = environment.get("ESPALIER_TASK_DEADLINE")
        #: When the task will be stopped at the latest, seconds since 1970; None without a limit.
        self.deadline = float(deadline) if deadline else None
        self._throttle = environment.get("ESPALIER_TASK_THROTTLE", "")
        self._ended = False

    def _describe(self, description):
        #: What Espalier says about this attempt.
        self.description = description
        #: The "config" of the job.
        self.config = self.description.get("config") or {}
        #: The newest progress of the attempts before, {} at the first.
        self.checkpoint = self.description.get("checkpoint") or {}
        #: The data of the status before, {} at the first attempt.
        self.previous = (self.description.get("prev_status") or {}).get("data") or {}

    def seconds_left(self):
        """Returns how long the attempt may go on; infinity without a limit."""
        return float("inf") if self.deadline is None else self.deadline - time.time()

    def throttle(self):
        """Returns how fast to work and why, such as (0.5, "probe lag is 9"): 1 is full speed, 0 is
        a pause. Cheap enough to be asked before each unit of work."""
        try:
            with open(self._throttle, encoding="utf-8") as said:
                ratio, _, reason = said.read().strip().partition(" ")
            return float(ratio), reason
        except (OSError, ValueError):
            # There is no file until something else than full speed is said.
            return 1.0, ""

    def progress(self, done=None, total=None, cursor=None, **more):
        """Says how far the work is. The next attempt finds it as the checkpoint."""
        said = dict(more)
        for name, value in (("done", done), ("total", total)):
            if value is not None:
                said[name] = int(value)
        if cursor is not None:
            said["cursor"] = str(cursor)
        self._write({"progress": said})

    def count(self, **counters):
        """Adds to counters, such as count(rows=1200)."""
        self._write({"count": {name: int(value) for name, value in counters.items()}})

    def done(self, **data):
        """Ends the task for good. Say it when the work is done, not before."""
        self._end("done", data)

    def incomplete(self, **data):
        """Ends the attempt without an error; the next one starts at once."""
        self._end("incomplete", data)

    def wait(self, **data):
        """Ends the attempt without an error; the next one starts after a wait."""
        self._end("incomplete_backoff", data)

    def error(self, reason, **data):
        """Ends the attempt with an error; the next one starts after a growing wait."""
        self._end("error_backoff", dict(data, exception=str(reason)))

    def failed(self, reason, **data):
        """Ends the task until an operator forgives it."""
        self._end("failed", dict(data, exception=str(reason)))

    def _end(self, result, data):
        self._ended = True
        self._write({"result": result, "data": data} if data else {"result": result})

    def _write(self, line):
        # One write of one whole line: a task that is killed leaves no half of one behind.
        with open(self._file, "ab", buffering=0) as out:
            out.write((json.dumps(line) + "\n").encode("utf-8"))

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, trace):
        if failure is None:
            if not self._ended:
                self.done()
        elif isinstance(failure, Exception):
            self.error("%s: %s" % (kind.__name__, failure))
        return False


class Batch:
    """The tasks of a batch: a loop over it gives one after the other, none that was cancelled."""

    def __init__(self, arguments=None, environment=None):
        """Reads the three arguments that Espalier appends to the command: BATCH FILE JSON."""
        self._arguments = sys.argv if arguments is None else arguments
        self._environment = os.environ if environment is None else environment
        if len(self._arguments) < 4:
            raise SystemExit("a batch of Espalier gets BATCH FILE JSON behind its command")
        self._cancelled = set()
        with open(self._arguments[-3], encoding="utf-8") as lines:
            self.tasks = [BatchTask(self, json.loads(line)) for line in lines]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in sys.stdin:
            self._cancelled.add(json.loads(line)["cancel"])

    def __iter__(self):
        for task in self.tasks:
            if task.cancelled:
                task.wait()
            else:
                yield task


class BatchTask(Task):
    """One task of a batch. It has begun when its block is entered."""

    def __init__(self, batch, line):
        super().__init__(batch._arguments, batch._environment)
        self._batch = batch
        self._describe(dict(self.description, **line))
        self.node = line["node"]
        self.attempt = line["attempt"]
        self.token = line["token"]

    @property
    def cancelled(self):
        """Whether it is to be given up: end it soon, for example with wait()."""
        return self.node in self._batch._cancelled

    def _end(self, result, data):
        self._ended = True
        self._write({"status": result, "data": data} if data else {"status": result})

    def _write(self, line):
        super()._write(dict({"node": self.node}, **line))

    def __enter__(self):
        timeout = self.description.get("timeout_sec")
        if timeout:
            end = time.time() + timeout
            self.deadline = end if self.deadline is None else min(self.deadline, end)
        self._write({"started": True})
        return self
