package io.espalier.core.loop.watch;

import io.espalier.core.api.Explanation.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.SchedulingCore;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Closes jobs whose {@code complete_by} has passed, and reopens them when it is moved. */
public final class JobDeadlines {
  private final SchedulingCore core;
  private final Map<String, String> closed = new TreeMap<>();
  private long next = Long.MAX_VALUE;

  public JobDeadlines(SchedulingCore core) {
    this.core = core;
  }

  /** Checks all jobs again, because a new configuration is in force. */
  public void recheck(long nowMillis) {
    closed.keySet().forEach(job -> core.reopen(job, Kind.DEADLINE));
    closed.clear();
    close(nowMillis);
  }

  /** Closes the jobs that are due. Returns true when it closed one. */
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

  /** Why the job is closed; empty when it is not. */
  String why(String job) {
    return closed.getOrDefault(job, "");
  }

  /** When the next job is due; {@link Long#MAX_VALUE} when none is. */
  public long nextMillis() {
    return next;
  }
}
