package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.config.Job;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.outcome.CompletionWindow;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random lives of two jobs through the loop. After each happening the states are computed again
 * from all statuses by rules that are written down a second time here, as plainly as possible.
 */
class RandomOutcomesTest {
  private static final int NODES = 12;
  private static final List<String> JOBS = List.of("a", "b");

  private final LoopWorld world = new LoopWorld();
  private final Map<String, Model> models = new HashMap<>();
  private final Map<String, String> members = new HashMap<>();
  private Random random = new Random(0);

  /** What must be remembered of a job: all else is looked up. */
  private static final class Model {
    boolean failed;
    boolean paused;
    boolean stopped;
    boolean goesOn;
    long failedBefore;
    long endedBefore;
    long countedFrom;

    /** Of the window that the rule has, since it has it. */
    final List<long[]> ends = new ArrayList<>();

    Optional<Duration> window = Optional.empty();

    /** A task has ended since the window was looked at. */
    boolean judge;
  }

  /** A window of another length begins empty. */
  private List<long[]> ends(String job) {
    Model model = model(job);
    Optional<Duration> window = config(job).outcome().window();
    if (!model.window.equals(window) && window.isPresent()) {
      model.ends.clear();
      model.window = window;
    }
    return model.ends;
  }

  /** After a restart only the latest ends of tasks that have ended are known. */
  private void restart(String job) {
    Model model = model(job);
    model.ends.clear();
    model.judge = false;
    model.window = config(job).outcome().window();
    for (StatusRow row : world.stored.values()) {
      boolean failed = row.status().main() == Main.FAILED;
      if (row.job().equals(job)
          && (failed || row.status().main() == Main.DONE)
          && row.status().sinceMillis() >= model.countedFrom) {
        model.ends.add(new long[] {row.status().sinceMillis(), failed ? 1 : 0});
      }
    }
  }

  private String config() {
    String nodes =
        IntStream.range(0, NODES)
            .mapToObj(i -> "\"n%02d\": []".formatted(i))
            .collect(Collectors.joining(", "));
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": {%s}}]},
       "resources": {"instance": {"slots": {"default": 1, "limit": 5}}},
       "backoff": [1, 2, "fail"]},
     "bistro_job->a": {"owner": "o"%s},
     "bistro_job->b": {"owner": "o"%s}}
    """
        .formatted(
            nodes,
            Objects.requireNonNull(members.get("a")),
            Objects.requireNonNull(members.get("b")));
  }

  private String someMembers() {
    String fail =
        switch (random.nextInt(6)) {
          case 0 -> "";
          case 1 -> "'fail_job_when': {'failed_tasks': 3}";
          case 2 -> "'fail_job_when': {'failed_pct': 30, 'min_samples': 4}";
          case 3 -> "'fail_job_when': {'failed_pct': 30, 'failed_tasks': 5, 'window': 640}";
          case 4 -> "'fail_job_when': {'failed_tasks': 3, 'window': '64s'}";
          default -> "'fail_job_when': {'failed_pct': 50, 'min_samples': 2}";
        };
    String succeed =
        switch (random.nextInt(5)) {
          case 0 -> "'succeed_job_when': {'done_pct': 50}";
          case 1 -> "'succeed_job_when': {'done_pct': 91.7}";
          case 2 -> "'succeed_job_when': 'never'";
          default -> "";
        };
    String enabled = random.nextInt(5) == 0 ? "'enabled': false" : "";
    String all = "";
    for (String one : List.of(fail, succeed, enabled)) {
      all += one.isEmpty() ? "" : ", " + one;
    }
    return all.replace('\'', '"');
  }

  private Model model(String job) {
    return models.computeIfAbsent(job, name -> new Model());
  }

  private Job config(String job) {
    return Objects.requireNonNull(world.core.config().job(job));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void theStatesAreWhatFollowsFromAllStatuses(long seed) {
    random = new Random(seed);
    JOBS.forEach(job -> members.put(job, someMembers()));
    world.configure(config());
    Map<String, Integer> seen = new HashMap<>();
    for (int i = 0; i < 500; i++) {
      Set<TaskKey> before = Set.copyOf(world.running.keySet());
      Map<String, Boolean> closed = new HashMap<>();
      JOBS.forEach(job -> closed.put(job, isClosed(job)));
      boolean changes = happen();
      for (String job : JOBS) {
        check(job, seed + "/" + i);
        seen.merge(
            Objects.requireNonNull(Objects.requireNonNull(world.view).jobStates().get(job))
                .state()
                .word(),
            1,
            Integer::sum);
        if (!changes && Boolean.TRUE.equals(closed.get(job))) {
          assertThat(world.running.keySet().stream().filter(key -> key.job().equals(job)))
              .as("nothing of a closed job starts")
              .allMatch(before::contains);
        }
      }
      if (i % 50 == 0) {
        world.core.verify();
      }
    }
    assertThat(seen.keySet()).contains("running", "failed", "disabled");
  }

  /** Whether it may open a job. */
  private boolean happen() {
    String job = JOBS.get(random.nextInt(2));
    switch (random.nextInt(16)) {
      case 0 -> {
        members.put(job, someMembers());
        world.configure(config());
        return true;
      }
      case 1 -> {
        does(world.run(new Command.Pause(job, 0, "ann", "")));
        model(job).paused = true;
        model(job).stopped = false;
      }
      case 2 -> {
        does(world.run(new Command.Stop(job, "ann", "")));
        model(job).paused = true;
        model(job).stopped = true;
      }
      case 3, 4 -> {
        var answer = world.run(new Command.Resume(job, "ann", "")).toCompletableFuture();
        Model model = model(job);
        boolean legal = model.paused || model.failed || restIsNotNeeded(job);
        boolean rest = restIsNotNeeded(job);
        world.settle();
        assertThat(answer.isCompletedExceptionally()).isEqualTo(!legal);
        model.paused = false;
        model.stopped = false;
        model.goesOn |= rest;
        lift(job);
        return true;
      }
      case 5, 6 -> {
        does(
            world.run(
                new Command.Forgive(
                    new TaskSelection(job, TaskSelector.ALL, false, -1, "ann", ""))));
        model(job).goesOn |= restIsNotNeeded(job);
        lift(job);
        return true;
      }
      case 7 -> {
        TaskSelection done =
            new TaskSelection(
                job,
                new TaskSelector(Set.of(StatusLabel.DONE), "n0", Set.of(), ""),
                false,
                -1,
                "",
                "");
        var answer = world.run(new Command.Rerun(done)).toCompletableFuture();
        world.settle();
        if (answer.join().changed() > 0) {
          model(job).goesOn |= restIsNotNeeded(job);
          lift(job);
        }
        return true;
      }
      case 8 -> world.advance(random.nextInt(30_000));
      case 9 -> {
        world.crashAndRestart();
        world.configure(config());
        JOBS.forEach(this::restart);
        return true;
      }
      default -> end();
    }
    return false;
  }

  private void does(CompletionStage<?> stage) {
    world.settle();
    assertThat(stage.toCompletableFuture()).isCompleted();
  }

  private void end() {
    if (world.running.isEmpty()) {
      world.advance(2_000);
      return;
    }
    List<TaskKey> running = List.copyOf(world.running.keySet());
    TaskKey key = running.get(random.nextInt(running.size()));
    String word =
        switch (random.nextInt(6)) {
          case 0 -> "failed";
          case 1 -> "error_backoff";
          case 2 -> "incomplete";
          default -> "done";
        };
    world.writes(key.job(), key.node(), word);
    model(key.job()).judge = true;
    TaskStatus status = world.row(key.job(), key.node()).status();
    if (status.main() == Main.DONE || status.main() == Main.FAILED) {
      if (config(key.job()).outcome().window().isPresent()) {
        ends(key.job()).add(new long[] {world.now, status.main() == Main.FAILED ? 1 : 0});
      }
    }
  }

  /** An operator has lifted a failure. */
  private void lift(String job) {
    Model model = model(job);
    if (!model.failed) {
      return;
    }
    model.failed = false;
    model.failedBefore = count(job, Main.FAILED);
    model.endedBefore = model.failedBefore + count(job, Main.DONE);
    model.ends.clear();
    model.countedFrom = world.now;
  }

  private long count(String job, Main main) {
    return statuses(job).getOrDefault(main, 0L);
  }

  private Map<Main, Long> statuses(String job) {
    Map<Main, Long> counts = new EnumMap<>(Main.class);
    for (int i = 0; i < NODES; i++) {
      String node = "n%02d".formatted(i);
      int bits =
          world.core.tasks().bits(world.core.findJob(job), world.core.topology().find(1, node));
      Main main = Main.UNSTARTED;
      for (Main one : Main.values()) {
        main = (bits & one.bit()) != 0 ? one : main;
      }
      counts.merge(main, 1L, Long::sum);
    }
    return counts;
  }

  private boolean isEndless(String job) {
    return config(job).outcome().donePercent() == OutcomeRules.NEVER;
  }

  private boolean isSuccess(String job) {
    return !isEndless(job)
        && count(job, Main.DONE) * 1000
            >= Math.round(config(job).outcome().donePercent() * 10) * NODES;
  }

  private boolean restIsNotNeeded(String job) {
    long ended = count(job, Main.DONE) + count(job, Main.FAILED);
    return isSuccess(job) && !model(job).goesOn && ended + count(job, Main.RUNNING) < NODES;
  }

  private boolean isClosed(String job) {
    return model(job).failed || model(job).paused || restIsNotNeeded(job);
  }

  /** What the failure rule says of all ends and statuses. */
  private boolean isBroken(String job) {
    Model model = model(job);
    OutcomeRules rules = config(job).outcome();
    long failed = count(job, Main.FAILED);
    long ended = failed + count(job, Main.DONE);
    model.failedBefore = Math.min(model.failedBefore, failed);
    model.endedBefore = Math.min(model.endedBefore, ended);
    if (rules.window().isPresent()) {
      if (!model.judge) {
        return false;
      }
      model.judge = false;
      long width = new CompletionWindow(rules.window().get().toMillis()).bucketMillis();
      failed = 0;
      ended = 0;
      for (long[] end : ends(job)) {
        if (end[0] / width > world.now / width - CompletionWindow.BUCKETS) {
          ended++;
          failed += end[1];
        }
      }
    } else {
      failed -= model.failedBefore;
      ended -= model.endedBefore;
    }
    boolean tooMany = rules.failedTasks().isPresent() && failed >= rules.failedTasks().getAsInt();
    boolean tooLarge =
        rules.failedPercent().isPresent()
            && ended >= rules.minSamples()
            && failed * 100 > rules.failedPercent().getAsDouble() * ended;
    return tooMany || tooLarge;
  }

  private void check(String job, String where) {
    Model model = model(job);
    long running = count(job, Main.RUNNING);
    long ended = count(job, Main.DONE) + count(job, Main.FAILED);
    if (!isSuccess(job) || ended == NODES) {
      model.goesOn = false;
    }
    if (!model.failed && !(isSuccess(job) && !model.goesOn)) {
      model.failed = isBroken(job);
    }
    String expected;
    if (!config(job).enabled()) {
      expected = "disabled";
    } else if (model.failed) {
      expected = "failed";
    } else if (isSuccess(job) && running == 0 && (ended == NODES || !model.goesOn)) {
      expected = "succeeded";
    } else if (ended == NODES && !isEndless(job)) {
      expected = "failed";
    } else if (model.stopped) {
      expected = "stopped";
    } else if (model.paused) {
      expected = "paused";
    } else if (isEndless(job)) {
      expected = "open";
    } else {
      expected = count(job, Main.UNSTARTED) == NODES ? "waiting" : "running";
    }
    world.advance(100);
    world.advance(100);
    JobStateRecord jobState =
        Objects.requireNonNull(Objects.requireNonNull(world.view).jobStates().get(job));
    assertThat(jobState.state().word())
        .as("%s of %s: %s", where, job, jobState)
        .isEqualTo(expected);
    assertThat(world.jobStates.get(job)).as("what is stored").isEqualTo(jobState);
  }
}
