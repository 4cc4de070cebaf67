package io.espalier.core.loop.watch;

import io.espalier.core.api.Explanation.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.SchedulingCore;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Closes jobs whose {@code complete_by} is over, and opens them again when it was moved. */
public final class JobDeadlines {
  private final SchedulingCore core;
  private final Map<String, String> closed = new TreeMap<>();
  private long next = Long.MAX_VALUE;

  public JobDeadlines(SchedulingCore core) {
    this.core = core;
  }

  /** Looks at all jobs anew: another configuration is in force. */
  public void recheck(long nowMillis) {
    closed.keySet().forEach(job -> core.reopen(job, Kind.DEADLINE));
    closed.clear();
    close(nowMillis);
  }

  /** Whether one was closed. */
  public boolean step(long nowMillis) {
    if (nowMillis < next) {
      return false;
    }
    close(nowMillis);
    return true;
  }

  private void close(long nowMillis) {
    next = Long.MAX_VALUE;
    for (Job job : core.config().jobs().values()) {
      Optional<Instant> completeBy = job.timeLimits().completeBy();
      if (completeBy.isEmpty()) {
        continue;
      }
      long deadline = completeBy.get().toEpochMilli();
      if (deadline > nowMillis) {
        next = Math.min(next, deadline);
      } else if (closed.put(job.name(), "the job was to be complete by " + completeBy.get())
          == null) {
        core.close(job.name(), Kind.DEADLINE, why(job.name()) + ": nothing more starts");
      }
    }
  }

  /** Why it is closed; empty: it is not. */
  String why(String job) {
    return closed.getOrDefault(job, "");
  }

  /** When the next job is to be closed; {@link Long#MAX_VALUE} when none is. */
  public long nextMillis() {
    return next;
  }
}
