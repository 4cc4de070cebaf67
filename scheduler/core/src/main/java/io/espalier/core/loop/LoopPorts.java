package io.espalier.core.loop;

import io.espalier.core.api.SchedulerView;
import io.espalier.core.json.Json;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.status.Batch;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * The world as the loop sees it.
 *
 * @param owner runs work on the scheduler thread, after the current step
 * @param views receives each published view; on the scheduler thread, must not block
 */
public record LoopPorts(
    TaskRunner runner,
    Commits commits,
    Events events,
    java.util.function.Consumer<SchedulerView> views,
    Warnings warnings,
    Executor owner) {

  /** Makes changes durable, in the order of the calls. */
  @FunctionalInterface
  public interface Commits {
    /** Never blocks; the stage completes once the batch is durable, on any thread. */
    CompletionStage<Void> submit(Batch batch);
  }

  /** Receives what has happened, in order, after it is durable. Thread-safe. */
  @FunctionalInterface
  public interface Events {
    void publish(long timeMillis, String kind, Json.Obj data);
  }

  /** Receives what an operator should read. */
  @FunctionalInterface
  public interface Warnings {
    /**
     * @param job the job it is about, or empty
     * @param node the node it is about, or empty
     */
    void warn(String message, String job, String node);
  }
}
