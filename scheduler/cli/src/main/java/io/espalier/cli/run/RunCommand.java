package io.espalier.cli.run;

import io.espalier.cli.flags.ProcessFlags;
import io.espalier.cli.term.Printable;
import io.espalier.cli.term.Terminal;
import io.espalier.core.api.Query;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.WindowView;
import io.espalier.core.config.Job;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.SchedulerProcess;
import io.espalier.server.app.options.ProcessOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code espalier run}: runs one process until nothing is left to do
 * (docs/design/design.md#the-end-of-a-run).
 */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    description = "Run the jobs of a configuration here, until nothing is left to do.",
    footer = {
      "",
      "Statuses are kept under --data-dir: a second run goes on where the first one ended.",
      "Exit codes: 0 all tasks done; 1 some failed or can never start; 2 a job or the",
      "configuration is invalid, or the program of a command is missing; 130 interrupted.",
      "",
      "EXAMPLES",
      "  espalier run config-examples/quickstart.json"
    })
public final class RunCommand implements Callable<Integer> {
  private static final long REDRAW_MILLIS = 100;
  private static final int BLOCKED_LISTED = 10;
  private static final int CAUSES_LISTED = 5;

  @Parameters(paramLabel = "CONFIG", description = "File, directory or URL of the configuration.")
  private String config = "";

  @Mixin private final ProcessFlags flags = new ProcessFlags();

  @Option(names = "--fresh", description = "Forget all statuses and start from the beginning.")
  private boolean fresh;

  @Option(
      names = "--max-attempts",
      paramLabel = "N",
      defaultValue = "0",
      description = "A task fails for good after N attempts. 0: as its back-off says.")
  private int maxAttempts;

  @Option(names = "--json", description = "Print one JSON object on standard output at the end.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    if (maxAttempts < 0) {
      throw new CommandException(ExitCode.USAGE, "--max-attempts must be 0 or more");
    }
    ProcessOptions options = flags.options(config, true, fresh, maxAttempts);
    long start = System.nanoTime();
    Terminal terminal = Terminal.detect(Boolean.getBoolean("espalier.terminal"), System.getenv());
    try (SchedulerProcess process = SchedulerProcess.startUntilSignal(options, false)) {
      process.problems().forEach(problem -> System.err.println("espalier: " + problem));
      process.httpUri().ifPresent(uri -> System.err.println("espalier: listening on " + uri));
      ProgressRenderer screen = new ProgressRenderer(System.err, terminal);
      NewCauses causes = new NewCauses();
      Set<String> said = new HashSet<>();
      while (!process.awaitQuiet(REDRAW_MILLIS)) {
        List<JobProgress> jobs = progress(process);
        for (String line : causes.since(jobs, job -> failures(process, job))) {
          screen.print(line);
        }
        for (BrakeView brake : process.api().view().brakes()) {
          if (said.add(brake.message())) {
            screen.print("espalier: brake: " + Printable.text(brake.message()));
          }
        }
        for (WindowView window : process.api().view().windows()) {
          if (said.add(window.message())) {
            screen.print("espalier: " + Printable.text(window.message()));
          }
        }
        screen.show(jobs, process.nextAttempt());
      }
      screen.last(progress(process));
      RunSummary summary = summary(process, options, (System.nanoTime() - start) / 1e9);
      String noTasks = summary.noTasks();
      if (json && noTasks != null) {
        System.err.println("espalier: " + noTasks);
      }
      if (json) {
        System.out.println(JsonWriter.pretty(summary.toJson()));
      } else {
        summary.lines().forEach(System.out::println);
      }
      return summary.exitCode();
    }
  }

  /**
   * Returns the progress of jobs that can run; the others are listed as invalid, or were disabled
   * on purpose.
   */
  private static List<JobProgress> progress(SchedulerProcess process) throws InterruptedException {
    return process.progress().stream()
        .filter(
            p -> {
              Job job = process.config().job(p.job());
              return job != null && job.canRun();
            })
        .toList();
  }

  private static FailureGroups failures(SchedulerProcess process, String job)
      throws InterruptedException {
    return process.await(process.api().ask(new Query.Failures(job, CAUSES_LISTED)));
  }

  private static RunSummary summary(
      SchedulerProcess process, ProcessOptions options, double seconds)
      throws InterruptedException {
    Map<String, String> invalid = new TreeMap<>();
    for (Job job : process.config().jobs().values()) {
      job.problems().stream()
          .filter(Problem::isError)
          .findFirst()
          .ifPresent(p -> invalid.put(job.name(), p.toString()));
    }
    List<JobProgress> jobs = progress(process);
    List<RunSummary.Blocked> blocked = new ArrayList<>();
    Map<String, JobStateRecord> jobStates = process.jobStates();
    for (JobProgress job : jobs) {
      JobStateRecord standing = jobStates.get(job.job());
      if (standing != null && standing.state().isEnd()) {
        continue; // as a whole: its tasks have no reasons of their own
      }
      if (job.ready() + job.blocked() > 0 && blocked.size() < BLOCKED_LISTED) {
        addBlocked(process, job.job(), blocked);
      }
    }
    List<FailureGroups> failures = new ArrayList<>();
    for (JobProgress job : jobs) {
      if (job.failed() > 0) {
        failures.add(failures(process, job.job()));
      }
    }
    return new RunSummary(
        jobs,
        jobStates,
        process.peaks(),
        invalid,
        blocked,
        failures,
        options.store().dataDir().toString(),
        process.started(),
        seconds);
  }

  private static void addBlocked(
      SchedulerProcess process, String job, List<RunSummary.Blocked> blocked)
      throws InterruptedException {
    String cursor = "";
    do {
      TaskPage page = process.await(process.api().ask(Query.Tasks.all(job, cursor, 1000)));
      for (TaskView task : page.tasks()) {
        Explanation why = process.await(process.api().ask(new Query.Explain(job, task.node())));
        boolean waitsForSomething =
            why.reasons().stream()
                .noneMatch(
                    r ->
                        r.kind() == Explanation.Kind.DONE
                            || r.kind() == Explanation.Kind.FAILED
                            || r.kind() == Explanation.Kind.FILTERED
                            || r.kind() == Explanation.Kind.NODE_DISABLED);
        if (waitsForSomething && blocked.size() < BLOCKED_LISTED) {
          String reason = why.reasons().isEmpty() ? "" : why.reasons().get(0).message();
          blocked.add(new RunSummary.Blocked(job, task.node(), reason));
        }
      }
      cursor = page.next();
    } while (!cursor.isEmpty() && blocked.size() < BLOCKED_LISTED);
  }
}
