package io.espalier.core.loop.state;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.event.Event;
import io.espalier.core.notification.Notification;
import io.espalier.core.notification.NotifierSpec;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.status.store.StoreTransaction;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The connections of the loop to the outside.
 *
 * @param events receives events in order, once they are durable; on any thread
 * @param views receives each published view; on the scheduler thread, must not block
 * @param owner runs actions on the scheduler thread, in a later step, with its instant; in order
 * @param notifications sends notifications
 */
public record LoopPorts(
    TaskRunner runner,
    Commits commits,
    Consumer<List<Event>> events,
    Consumer<SchedulerView> views,
    Warnings warnings,
    Consumer<LongConsumer> owner,
    Notifications notifications) {

  /** Makes changes durable, in the order of the calls. */
  public interface Commits {
    /**
     * Submits a batch; never blocks. The stage completes on any thread, once the batch is durable.
     */
    CompletionStage<Void> submit(StoreTransaction batch);

    /** Returns true when no task should be started until the store has caught up. */
    boolean isSaturated();
  }

  /** Sends notifications. */
  @FunctionalInterface
  public interface Notifications {
    /** Has nothing that could send. */
    Notifications NONE =
        (to, what) -> CompletableFuture.completedFuture("nothing can be sent from here");

    /**
     * Tries once to send; never blocks. The stage completes on any thread, never with an exception:
     * with why it failed, or empty when the receiver has it.
     */
    CompletionStage<String> send(NotifierSpec to, Notification what);
  }

  /** Receives warnings for operators. Must not block. */
  @FunctionalInterface
  public interface Warnings {
    /**
     * Reports a warning.
     *
     * @param job the job concerned, or empty
     * @param node the node concerned, or empty
     */
    void warn(String message, String job, String node);
  }
}
