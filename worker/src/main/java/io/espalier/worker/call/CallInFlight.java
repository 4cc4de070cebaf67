package io.espalier.worker.call;

import io.espalier.core.call.CallClient;
import io.espalier.core.call.CallCourse;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.Counters;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.status.ProgressParser;
import io.espalier.worker.process.JournalKey;
import io.espalier.worker.process.TaskTimeLimits;
import org.jspecify.annotations.Nullable;

/** A call without an end; confined to the thread of the calls, unless a field says otherwise. */
final class CallInFlight {
  final JournalKey key;
  final Call call;
  final CallClient client;
  final String service;
  final CallCourse course;
  final TaskTimeLimits limits;

  /** The trouble that its log has. */
  String trouble = "";

  private Progress progress = Progress.NONE;

  /** When it was sent, epoch milliseconds; 0: by somebody else. */
  long startedMillis;

  /** Whether it waits to be sent. */
  boolean isUnsent;

  /** Whether a question is due, and too many others are unanswered. */
  boolean isWaiting;

  /** Read by the thread that sends. */
  volatile boolean isOver;

  /** When it is looked at next; null: when something happens. */
  CallTimers.@Nullable Timer timer;

  CallInFlight(LaunchSpec launch, Call call, CallClient client, CallCourse course) {
    this.key = JournalKey.of(launch);
    this.call = call;
    this.client = client;
    this.service = client.service(call);
    this.course = course;
    this.limits = new TaskTimeLimits(launch.limits(), System.nanoTime());
  }

  /**
   * Returns what the newest answer says, or why a call that cannot be polled is in doubt, and when
   * its service is polled again; null: it has ended.
   *
   * @param atMillis when the answer or the doubt came, by the clock of its course
   */
  @Nullable Progress poll(long atMillis) {
    if (course.end() != null) {
      return null;
    }
    long clock = System.currentTimeMillis();
    long next = course.nextMillis();
    String now = course.trouble();
    CallPoll poll =
        new CallPoll(
            clock,
            now.isEmpty() ? CallPoll.RUNNING : now,
            next == CallCourse.NEVER || !client.canPoll(call)
                ? 0
                : clock + Math.max(0, next - atMillis));
    return Progress.NONE.withCounters(progress.counters()).withPoll(poll);
  }

  /** Returns the progress since the last call of this method, a sign of life; null: none. */
  @Nullable Progress takeProgress() {
    Json.Obj newest = course.takeProgress();
    Counters counters = course.counters();
    if (newest == null && counters.equals(progress.counters())) {
      return null;
    }
    limits.sign(System.nanoTime());
    progress = (newest == null ? progress : ProgressParser.of(newest)).withCounters(counters);
    return progress;
  }
}
