package io.espalier.testkit.api;

import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.config.Config;
import io.espalier.core.health.ProbeView;
import io.espalier.core.notification.NotifierView;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Changes what the test has set in a {@link FakeScheduler}, which locks itself around each call.
 */
final class FakeCommands implements Command.Handler {
  private final FakeTasks tasks;
  private final Map<String, WorkerView> workers;
  private final FakeBrakes brakes;
  private final Supplier<SchedulerView> view;
  private final Consumer<SchedulerView> publish;
  private final Map<String, Pause> paused = new TreeMap<>();
  private final Map<LimitOverride.Key, LimitView> limits = new LinkedHashMap<>();
  private final Map<Quarantine.Key, Quarantine> quarantines = new LinkedHashMap<>();

  /**
   * @param workers by shard, as they are now
   * @param publish replaces the view
   */
  FakeCommands(
      FakeTasks tasks,
      Map<String, WorkerView> workers,
      FakeBrakes brakes,
      Supplier<SchedulerView> view,
      Consumer<SchedulerView> publish) {
    this.tasks = tasks;
    this.workers = workers;
    this.brakes = brakes;
    this.view = view;
    this.publish = publish;
  }

  Map<String, Pause> pauses() {
    return paused;
  }

  List<LimitView> limits() {
    return List.copyOf(limits.values());
  }

  @Override
  public CompletionStage<SelectionResult> forgive(Command.Forgive command, long nowMillis) {
    return done(tasks.change(command.tasks(), Set.of("failed"), TaskStatus.Main.ERROR));
  }

  @Override
  public CompletionStage<SelectionResult> cancel(Command.Cancel command, long nowMillis) {
    Set<String> from = Set.of("unstarted", "failed", "running");
    return done(tasks.change(command.tasks(), from, TaskStatus.Main.CANCELLED));
  }

  @Override
  public CompletionStage<SelectionResult> rerun(Command.Rerun command, long nowMillis) {
    return done(tasks.select(command.tasks(), Set.of("failed", "done")));
  }

  @Override
  public CompletionStage<Void> kill(Command.Kill command, long nowMillis) {
    tasks.kill(command);
    return CompletableFuture.allOf();
  }

  @Override
  public CompletionStage<SelectionResult> killTasks(Command.KillTasks command, long nowMillis) {
    return done(tasks.select(command.tasks(), Set.of("running")));
  }

  @Override
  public CompletionStage<TaskDeadlines> extend(Command.Extend command, long nowMillis) {
    return done(tasks.extend(command));
  }

  @Override
  public CompletionStage<Void> pause(Command.Pause command, long nowMillis) {
    String job = tasks.known(command.job()).name();
    long until = command.millis() == 0 ? 0 : nowMillis + command.millis();
    paused.put(job, new Pause(job, command.author(), command.reason(), nowMillis, until));
    publish.accept(view.get().withPauses(paused));
    return CompletableFuture.allOf();
  }

  @Override
  public CompletionStage<Rollout> halt(Command.Halt command, long nowMillis) {
    return done(rollout(command.job()).halted(command.reason(), command.author()));
  }

  @Override
  public CompletionStage<Rollout> promote(Command.Promote command, long nowMillis) {
    Rollout now = rollout(command.job());
    return done(now.opened(now.next(), 0, nowMillis));
  }

  private static Rollout firstStage(String job) {
    return Rollout.begun(job, 1, List.of("1", "100%"), List.of(1L, 3L), 1);
  }

  private Rollout rollout(String job) {
    return view.get().rollouts().getOrDefault(tasks.known(job).name(), firstStage(job));
  }

  @Override
  public CompletionStage<Void> resume(Command.Resume command, long nowMillis) {
    paused.remove(tasks.known(command.job()).name());
    publish.accept(view.get().withPauses(paused));
    return CompletableFuture.allOf();
  }

  @Override
  public CompletionStage<Long> stop(Command.Stop command, long nowMillis) {
    String job = command.job();
    return pause(new Command.Pause(job, 0, command.author(), command.reason()), nowMillis)
        .thenApply(done -> tasks.running().stream().filter(task -> task.job().equals(job)).count());
  }

  @Override
  public CompletionStage<LimitView> setLimit(Command.SetLimit command, long nowMillis) {
    LimitOverride override = command.override();
    Config config = view.get().config();
    if (config == null || config.settings().levels().find(override.level()) < 0) {
      throw unknown("there is no level \"" + override.level() + "\"");
    }
    LimitView set =
        new LimitView(
            new LimitOverride(
                override.level(),
                override.resource(),
                override.node(),
                override.limit(),
                override.author(),
                override.reason(),
                nowMillis,
                command.millis() == 0 ? 0 : nowMillis + command.millis()),
            2);
    limits.put(override.key(), set);
    return done(set);
  }

  @Override
  public CompletionStage<LimitView> endLimit(Command.EndLimit command, long nowMillis) {
    LimitView ended = limits.remove(command.key());
    if (ended == null) {
      throw unknown("no override");
    }
    return done(ended);
  }

  @Override
  public CompletionStage<Integer> pushProbe(Command.PushProbe command, long nowMillis) {
    ProbeView found =
        view.get().probes().stream()
            .filter(each -> each.probe().equals(command.probe()))
            .findFirst()
            .orElseThrow(() -> unknown("there is no probe \"" + command.probe() + "\""));
    return done(found.resources().size());
  }

  @Override
  public CompletionStage<String> testNotifier(Command.TestNotifier command, long nowMillis) {
    NotifierView found =
        FakeReadings.notifiers().stream()
            .filter(each -> each.name().equals(command.notifier()))
            .findFirst()
            .orElseThrow(() -> unknown("there is no notifier \"" + command.notifier() + "\""));
    return done(found.lastError());
  }

  @Override
  public CompletionStage<BrakeView> brake(Command.SetBrake command, long nowMillis) {
    BrakeView set = brakes.set(command, nowMillis);
    publish.accept(view.get().withBrakes(brakes.all()));
    return done(set);
  }

  @Override
  public CompletionStage<BrakeView> release(Command.ReleaseBrake command, long nowMillis) {
    BrakeView released = brakes.release(command, nowMillis);
    publish.accept(view.get().withBrakes(brakes.all()));
    return done(released);
  }

  @Override
  public CompletionStage<Quarantine> quarantine(Command.SetQuarantine command, long nowMillis) {
    Quarantine set =
        Quarantine.ordered(command.key(), command.author(), command.reason(), nowMillis);
    quarantines.put(set.key(), set);
    publish.accept(view.get().with().quarantines(List.copyOf(quarantines.values())).build());
    return done(set);
  }

  @Override
  public CompletionStage<Quarantine> lift(Command.LiftQuarantine command, long nowMillis) {
    Quarantine lifted = quarantines.remove(command.key());
    if (lifted == null) {
      throw unknown("no quarantine");
    }
    publish.accept(view.get().with().quarantines(List.copyOf(quarantines.values())).build());
    return done(lifted);
  }

  @Override
  public CompletionStage<WorkerView> cordon(Command.Cordon command, long nowMillis) {
    WorkerCordon cordon =
        new WorkerCordon(
            command.worker(), command.kind(), command.author(), command.reason(), nowMillis);
    boolean drains = command.kind() == WorkerCordon.Kind.DRAIN;
    return done(cordoned(command.worker(), drains ? "draining" : "healthy", cordon));
  }

  @Override
  public CompletionStage<Boolean> report(Command.Report command, long nowMillis) {
    return done(true);
  }

  @Override
  public CompletionStage<WorkerView> uncordon(Command.Uncordon command, long nowMillis) {
    return done(cordoned(command.worker(), "healthy", null));
  }

  private WorkerView cordoned(String id, String state, @Nullable WorkerCordon cordon) {
    WorkerView old = workers.get(id);
    if (old == null) {
      throw unknown("no such worker: " + id);
    }
    WorkerView worker =
        new WorkerView(
            old.ref(),
            old.host(),
            old.address(),
            old.labels(),
            state,
            cordon == null,
            cordon,
            old.tasks(),
            old.maxTasks(),
            old.slots(),
            old.sinceMillis(),
            old.lastSeenMillis(),
            old.note(),
            old.load(),
            old.figures(),
            old.measuredMillis());
    workers.put(id, worker);
    return worker;
  }

  private static RefusedException unknown(String what) {
    return new RefusedException(RefusedException.Reason.UNKNOWN, what);
  }

  private static <T> CompletionStage<T> done(T answer) {
    return CompletableFuture.completedFuture(answer);
  }
}
