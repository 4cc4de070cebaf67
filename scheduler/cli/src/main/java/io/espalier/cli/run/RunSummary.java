package io.espalier.cli.run;

import static io.espalier.core.outcome.JobState.FAILED;
import static io.espalier.core.outcome.JobState.SUCCEEDED;

import io.espalier.cli.term.Printable;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.FailureGroups.Group;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.scheduling.query.PeakUsage;
import io.espalier.server.ExitCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The result of a run.
 *
 * @param jobStates states of the jobs, by name
 * @param invalidJobs jobs that could not run, with their first problem
 * @param blocked some of the tasks that can never start
 * @param failures causes of failures, by job with failed tasks
 * @param dataDir directory with the logs of failed tasks
 * @param startedHere number of tasks started in this run
 */
record RunSummary(
    Collection<JobProgress> jobs,
    Map<String, JobStateRecord> jobStates,
    List<PeakUsage> peaks,
    Map<String, String> invalidJobs,
    List<Blocked> blocked,
    List<FailureGroups> failures,
    String dataDir,
    long startedHere,
    double seconds) {

  /** The most nodes that are named for one reason. */
  private static final int NODES_SHOWN = 3;

  /** A task that can never start. */
  record Blocked(String job, String node, String why) {}

  /**
   * Returns the exit code (docs/design/design.md#exit-codes): 2 for an invalid job, 1 for failed or
   * blocked tasks. A job that succeeded by its own rule counts as succeeded.
   */
  int exitCode() {
    if (!invalidJobs.isEmpty()) {
      return ExitCode.USAGE;
    }
    boolean ended =
        jobs.stream()
            .allMatch(
                j ->
                    isState(j, SUCCEEDED)
                        || (j.done() + j.cancelled() == j.total()
                            && !isState(j, JobState.VERIFYING)));
    return ended ? ExitCode.OK : ExitCode.FAILED;
  }

  /** Returns the final object of {@code run --json} (docs/design/design.md#output-of-commands). */
  Json.Obj toJson() {
    Json.Builder byJob = Json.object();
    for (JobProgress job : jobs) {
      Json.Builder counts =
          Json.object()
              .put("done", job.done())
              .put("failed", job.failed())
              .put("cancelled", job.cancelled())
              .put("blocked", blockedCount(job))
              .put("running", job.running())
              .put("total", job.total())
              .put("state", state(job).word());
      if (isState(job, FAILED) || isState(job, JobState.STUCK)) {
        counts.put("state_reason", reason(job));
      }
      if (job.failed() > 0) {
        counts.put("failures", causes(job.job()));
      }
      byJob.put(job.job(), counts.build());
    }
    Json.Builder byLevel = Json.object();
    List<String> levels = peaks.stream().map(PeakUsage::level).distinct().toList();
    for (String level : levels) {
      Json.Builder resources = Json.object();
      for (PeakUsage peak : peaks) {
        if (peak.level().equals(level)) {
          resources.put(
              peak.resource(),
              Json.object()
                  .put("used", peak.used())
                  .put("limit", peak.limit())
                  .put("node", peak.node())
                  .build());
        }
      }
      byLevel.put(level, resources.build());
    }
    return Json.object()
        .put("jobs", byJob.build())
        .put("peak", byLevel.build())
        .put("exit", exitCode())
        .build();
  }

  private Json.Arr causes(String job) {
    List<Json> causes = new ArrayList<>();
    for (FailureGroups of : failures) {
      for (FailureGroups.Group group : of.job().equals(job) ? of.groups() : List.<Group>of()) {
        causes.add(
            Json.object()
                .put("count", group.count())
                .put("message", group.message())
                .put("nodes", Json.strings(group.samples()))
                .build());
      }
    }
    return new Json.Arr(causes);
  }

  private boolean isState(JobProgress job, JobState state) {
    return state(job) == state;
  }

  private JobState state(JobProgress job) {
    JobStateRecord standing = jobStates.get(job.job());
    return standing == null ? JobState.WAITING : standing.state();
  }

  private String reason(JobProgress job) {
    JobStateRecord standing = jobStates.get(job.job());
    return standing == null ? "" : standing.reason();
  }

  /** Returns the number of blocked tasks, without those that are no longer needed. */
  private long blockedCount(JobProgress job) {
    return isState(job, SUCCEEDED) ? 0 : job.ready() + job.waiting() + job.blocked();
  }

  /** Returns why there was no task at all, for people; null: there was one. */
  @Nullable String noTasks() {
    if (exitCode() != ExitCode.OK || jobs.stream().anyMatch(job -> job.total() > 0)) {
      return null;
    }
    return "There is no task to run: "
        + (jobs.isEmpty()
            ? "the configuration has no job that is enabled."
            : "the nodes of the configuration have none.");
  }

  /** Returns the summary as lines for people. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    String noTasks = noTasks();
    if (noTasks != null) {
      lines.add(noTasks);
    } else if (startedHere == 0 && exitCode() == ExitCode.OK) {
      lines.add("Nothing is left to do: all tasks were done before. (--fresh forgets that.)");
    } else {
      lines.add(
          String.format(
              Locale.ROOT, "Ended after %.1f s, %d tasks started.", seconds, startedHere));
    }
    int width = jobs.stream().mapToInt(j -> j.job().length()).max().orElse(0);
    for (JobProgress job : jobs) {
      StringBuilder line = new StringBuilder("  ");
      line.append(String.format(Locale.ROOT, "%-" + Math.max(1, width) + "s", job.job()))
          .append(String.format(Locale.ROOT, "  %d of %d done", job.done(), job.total()));
      if (job.failed() > 0) {
        line.append(", ").append(job.failed()).append(" failed");
      }
      if (job.cancelled() > 0) {
        line.append(", ").append(job.cancelled()).append(" cancelled");
      }
      if (blockedCount(job) > 0) {
        line.append(", ").append(blockedCount(job)).append(" blocked");
      }
      if (isState(job, FAILED)) {
        line.append("; the job has failed: ").append(reason(job));
      } else if (isState(job, SUCCEEDED) && job.done() + job.cancelled() < job.total()) {
        line.append("; enough for the job");
      }
      lines.add(line.toString());
    }
    invalidJobs.forEach((job, problem) -> lines.add("  " + job + "  not run: " + problem));
    failures.forEach(of -> addCauses(of, lines));
    addBlocked(lines);
    List<PeakUsage> used = peaks.stream().filter(p -> p.used() > 0).toList();
    if (!used.isEmpty()) {
      boolean kept = used.stream().allMatch(p -> p.used() <= p.limit());
      lines.add(
          kept
              ? "No limit was passed. Highest use against its limit:"
              : "LIMITS WERE PASSED. Highest use against its limit:");
      int levelWidth = used.stream().mapToInt(p -> p.level().length()).max().orElse(1);
      int nameWidth = used.stream().mapToInt(p -> p.resource().length()).max().orElse(1);
      for (PeakUsage peak : used) {
        lines.add(
            String.format(
                Locale.ROOT,
                "  %-" + levelWidth + "s  %-" + nameWidth + "s  %d of %d  (%s)",
                peak.level(),
                peak.resource(),
                peak.used(),
                peak.limit(),
                peak.node()));
      }
    }
    return lines;
  }

  /** Adds a line for all listed tasks of a job that are blocked for the same reason. */
  private void addBlocked(List<String> lines) {
    Map<String, List<Blocked>> alike = new LinkedHashMap<>();
    for (Blocked task : blocked) {
      alike.computeIfAbsent(task.job() + "\n" + task.why(), key -> new ArrayList<>()).add(task);
    }
    for (List<Blocked> tasks : alike.values()) {
      String nodes =
          tasks.stream().limit(NODES_SHOWN).map(Blocked::node).collect(Collectors.joining(", "));
      String others = tasks.size() > NODES_SHOWN ? " and others" : "";
      Blocked first = tasks.get(0);
      lines.add("  blocked: " + first.job() + " on " + nodes + others + ": " + first.why());
    }
  }

  /** Adds each cause with an example task and the command that shows more. */
  private void addCauses(FailureGroups of, List<String> lines) {
    String in = " --data-dir " + Printable.word(dataDir);
    String job = Printable.word(of.job());
    for (Group group : of.groups()) {
      lines.add(
          "  failed: "
              + of.job()
              + on(group)
              + ": "
              + (group.message().isEmpty()
                  ? "no reason is known"
                  : Printable.text(group.message())));
      if (!group.samples().isEmpty()) {
        String node = Printable.word(group.samples().get(0));
        lines.add("    espalier logs " + job + " " + node + " --stream stdout,stderr" + in);
      }
    }
    if (of.groupsTotal() > of.groups().size()) {
      long more = of.groupsTotal() - of.groups().size();
      lines.add(
          "  failed: " + of.job() + ", " + more + (more == 1 ? " more cause" : " more causes"));
      lines.add("    espalier failures " + job + in);
    }
  }

  private static String on(Group group) {
    String first = group.samples().isEmpty() ? "" : group.samples().get(0);
    if (first.isEmpty()) {
      return ", " + group.count() + (group.count() == 1 ? " task" : " tasks");
    }
    return " on " + first + (group.count() > 1 ? " and " + (group.count() - 1) + " more" : "");
  }
}
