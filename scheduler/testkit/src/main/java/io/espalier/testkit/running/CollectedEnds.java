package io.espalier.testkit.running;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Collects the ends that a runner delivers, and the progress before them; thread-safe. */
public final class CollectedEnds implements TaskListener {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<TaskResult> ends = new ArrayList<>();
  private final List<Invocation> started = new ArrayList<>();
  private final Set<Invocation> recalled = new HashSet<>();
  private final Map<Invocation, Progress> progress = new HashMap<>();

  @Override
  public synchronized void ended(TaskResult end) {
    ends.add(end);
    notifyAll();
  }

  @Override
  public synchronized void started(String job, String node, Invocation invocation) {
    started.add(invocation);
  }

  @Override
  public synchronized void progress(
      String job, String node, Invocation invocation, Progress newest) {
    if (ends.stream().noneMatch(end -> end.invocation().equals(invocation))) {
      progress.put(invocation, newest);
    }
  }

  /** Returns the last progress that was heard before the end of a launch; null: none was. */
  public synchronized @Nullable Progress progressOf(LaunchSpec launch) {
    return progress.get(launch.invocation());
  }

  @Override
  public synchronized void recalled(List<Invocation> invocations) {
    recalled.addAll(invocations);
    notifyAll();
  }

  /** Waits until the recall of a launch is confirmed. */
  public synchronized void awaitRecalled(LaunchSpec launch) {
    awaitUntil(() -> recalled.contains(launch.invocation()), "not recalled: " + launch);
  }

  /** Returns the invocations whose start was confirmed. */
  public synchronized List<Invocation> started() {
    return List.copyOf(started);
  }

  public synchronized List<TaskResult> all() {
    return List.copyOf(ends);
  }

  /** Returns the ends of one launch; there should never be more than one. */
  public synchronized List<TaskResult> of(LaunchSpec launch) {
    return ends.stream()
        .filter(
            end ->
                end.job().equals(launch.job())
                    && end.node().equals(launch.node())
                    && end.invocation().equals(launch.invocation()))
        .toList();
  }

  /** Waits for the end of a launch. */
  public synchronized TaskResult await(LaunchSpec launch) {
    awaitUntil(() -> !of(launch).isEmpty(), "no end of " + launch);
    return of(launch).get(0);
  }

  public synchronized List<TaskResult> awaitCount(int count) {
    awaitUntil(() -> ends.size() >= count, "fewer than " + count + " ends");
    return List.copyOf(ends);
  }

  private synchronized void awaitUntil(BooleanSupplier condition, String otherwise) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        throw new AssertionError(otherwise + " within " + PATIENCE + "; there are " + ends);
      }
      try {
        wait(left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted", e);
      }
    }
  }
}
