package io.espalier.cli.run;

import io.espalier.cli.term.Printable;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.JobProgress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reports each cause of failures once, as soon as a task has failed with it: with long back-offs a
 * run may not end for hours. Not thread-safe.
 */
final class NewCauses {
  /**
   * The maximum number of reported causes. Further ones appear only in the summary: their messages
   * differ by task.
   */
  private static final int MOST_TOLD = 10;

  private final Set<String> told = new HashSet<>();

  /** By job: the number of tasks that had not ended well when its causes were last queried. */
  private final Map<String, Long> seen = new HashMap<>();

  /** Queries the causes of a job. */
  interface Causes {
    FailureGroups of(String job) throws InterruptedException;
  }

  /** Returns lines about new causes. Queries only jobs whose counts have changed. */
  List<String> since(Collection<JobProgress> jobs, Causes causes) throws InterruptedException {
    List<String> lines = new ArrayList<>();
    for (JobProgress job : jobs) {
      long unwell = job.failed() + job.waiting();
      Long before = seen.put(job.job(), unwell);
      if (unwell > 0 && told.size() < MOST_TOLD && (before == null || before != unwell)) {
        for (FailureGroups.Group group : causes.of(job.job()).groups()) {
          if (told.size() < MOST_TOLD && told.add(job.job() + " " + group.fingerprint())) {
            lines.add(line(job.job(), group));
          }
        }
      }
    }
    return lines;
  }

  private static String line(String job, FailureGroups.Group group) {
    String where = group.samples().isEmpty() ? "" : " on " + group.samples().get(0);
    return "espalier: " + job + " failed" + where + ": " + Printable.text(group.message());
  }
}
