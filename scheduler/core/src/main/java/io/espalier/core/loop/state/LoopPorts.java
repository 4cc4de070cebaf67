package io.espalier.core.loop.state;

import io.espalier.core.api.SchedulerView;
import io.espalier.core.event.Event;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.status.StoreTransaction;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The world as the loop sees it.
 *
 * @param events receives what has happened, in order, once it is durable; on any thread
 * @param views receives each published view; on the scheduler thread, must not block
 * @param owner runs work on the scheduler thread, after the current step
 */
public record LoopPorts(
    TaskRunner runner,
    Commits commits,
    Consumer<List<Event>> events,
    Consumer<SchedulerView> views,
    Warnings warnings,
    Executor owner) {

  /** Makes changes durable, in the order of the calls. */
  public interface Commits {
    /** Never blocks; the stage completes once the batch is durable, on any thread. */
    CompletionStage<Void> submit(StoreTransaction batch);

    /** Whether nothing new should be started until the store has caught up. */
    boolean isSaturated();
  }

  /** Receives what an operator should read. Must not block. */
  @FunctionalInterface
  public interface Warnings {
    /**
     * @param job the job it is about, or empty
     * @param node the node it is about, or empty
     */
    void warn(String message, String job, String node);
  }
}
