package io.espalier.core.loop;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.event.EventKind;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.json.Json;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.loop.query.ImpactQuery;
import io.espalier.core.loop.query.SnapshotCopy;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.StatusRow;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A message to the {@link SchedulerLoop}. It takes effect in a step, at the instant of that step
 * and in the order of the queue. Any thread may create one.
 */
public sealed interface LoopInput {
  /** Takes effect; called by the loop. */
  void apply(InputParts loop, long nowMillis);

  /**
   * An operator's command.
   *
   * @param answer completes, on any thread, once the change is durable
   */
  record Execute<T>(Command<T> command, CompletableFuture<T> answer) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      try {
        complete(answer, command.execute(loop.commands(), nowMillis));
      } catch (RefusedException e) {
        answer.completeExceptionally(e);
      }
    }
  }

  /**
   * A query.
   *
   * @param answer completes on the owner's thread; what it reports may not be durable yet
   */
  record Answer<T>(Query<T> query, CompletableFuture<T> answer) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      try {
        complete(answer, query.answer(loop.queries()));
      } catch (RuntimeException e) {
        // This is either a refusal or a bug of ours, which must not stop the scheduler.
        answer.completeExceptionally(e);
      }
    }
  }

  /**
   * Copies the state of the scheduler, in slices.
   *
   * @param mostTasks the number of tasks above which it is refused
   * @param answer completes on the owner's thread; what it contains may not be durable yet
   */
  record TakeSnapshot(long mostTasks, CompletableFuture<SchedulerSnapshot> answer)
      implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.chores()
          .accept(
              new SnapshotCopy(
                  loop.shared().core(),
                  loop.shared().live(),
                  loop.throughput(),
                  loop.brakes()::all,
                  mostTasks,
                  answer));
    }
  }

  /**
   * Waits for the store.
   *
   * @param durable completes, on any thread, once everything done in the earlier steps is durable
   */
  record AwaitDurable(CompletableFuture<@Nullable Void> durable) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      complete(durable, loop.shared().committer().written());
    }
  }

  /**
   * Waits for a view of everything that was done before.
   *
   * @param shown completes, on the owner's thread, once monitors have that view
   */
  record AwaitView(CompletableFuture<@Nullable Void> shown) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.shared().views().await(shown);
    }
  }

  /**
   * Reads the state of the effects.
   *
   * @param read runs on the owner's thread at the end of the step; must not change anything
   */
  record Inspect(Runnable read) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.inspections().accept(read);
    }
  }

  /**
   * Looks, in slices, at what a configuration would do; nothing changes.
   *
   * @param answer completes on the owner's thread; with null when the comparison is no longer with
   *     what is in force
   */
  record Measure(
      TaskDifference difference, CompletableFuture<ImpactQuery.@Nullable Measured> answer)
      implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.chores()
          .accept(
              new ImpactQuery(
                  loop.shared().core(),
                  difference,
                  loop.shared().live(),
                  loop.throughput(),
                  answer));
    }
  }

  /**
   * Something that others have done to what this scheduler follows; it becomes an event.
   *
   * @param data as the kind of event has it
   */
  record Announce(EventKind kind, Json.Obj data) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.shared().events().add(nowMillis, kind, data);
    }
  }

  /** The newest values of a probe; those of a probe that is not configured are ignored. */
  record Probed(ProbeAnswer answer) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.health().take(answer, nowMillis);
    }
  }

  /** A runner has confirmed that it starts none of these any more, unless it had begun. */
  record Recalled(List<Invocation> invocations) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.brakes().recalled(invocations);
      loop.shared().views().changed();
    }
  }

  /** The end of an invocation. */
  record TaskEnded(TaskResult end) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.ended(end, nowMillis);
    }
  }

  /** The runner has started an invocation. */
  record TaskStarted(Invocation invocation) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.starting().confirmed(invocation, nowMillis);
    }
  }

  /** The real outcome of an invocation that was recorded as lost. */
  record TaskEndedLate(TaskResult end) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.completion().endedLate(end, nowMillis);
    }
  }

  /**
   * The progress of a live invocation; progress of any other invocation is ignored.
   *
   * @param newest returns the newest progress when this takes effect; null: nothing is new
   */
  record TaskProgressed(TaskKey task, Invocation invocation, Supplier<@Nullable Progress> newest)
      implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.reports().progressed(task, invocation, newest.get(), nowMillis);
    }
  }

  /** The resource usage of a live invocation; usage of any other invocation is ignored. */
  record TaskUsage(TaskKey task, Invocation invocation, ResourceUsage usage) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.shared().live().usage(task, invocation, usage);
    }
  }

  /** All workers in the runner's pool; sent after every change of the pool. */
  record Workers(List<WorkerInfo> workers) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.pool().set(workers, nowMillis);
      loop.starting().workers(workers);
    }
  }

  /** All problems of the newest configuration. */
  record ConfigProblems(List<Problem> problems) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.shared().views().configProblems(problems);
    }
  }

  /**
   * The current error of a source. Monitors see it until it is cleared.
   *
   * @param message null: the source has no error
   */
  record SourceError(String source, @Nullable String message) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.shared().views().error(source, message);
    }
  }

  /**
   * Announces that the stored rows of the update's new tasks are about to be read. To be sent
   * before each read, even before another read for the same update. Only one update may be in
   * progress at a time.
   *
   * @param durable completes once everything written before is durable. The rows may be read from
   *     then on: nothing that happens until the update is in force can be lost.
   */
  record WillRead(UpdatePlan plan, CompletableFuture<@Nullable Void> durable) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.updates().willRead(plan);
      complete(durable, loop.shared().committer().commit());
    }
  }

  /**
   * A new configuration and its nodes.
   *
   * @param inForce completes, on the owner's thread, when they are in force
   */
  record Update(PreparedUpdate update, CompletableFuture<Void> inForce) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.forgetting().forgetReplaced(update.forgotten(), nowMillis);
      update.incarnations().forEach(loop.shared().committer().batch()::incarnation);
      loop.updates().begin(update, inForce);
    }
  }

  /**
   * Stored rows of the {@link Update} that was sent last, if more were to follow.
   *
   * @param last whether no more follow
   * @param unreadable jobs whose rows cannot be read, each with the reason: they stay blocked
   */
  record StoredRows(List<StatusRow> rows, boolean last, Map<String, String> unreadable)
      implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.updates().take(rows, last, unreadable);
    }
  }

  /**
   * Finds jobs that are not configured. The loop remembers them until their rows are read for a new
   * configuration, or until the next such input.
   *
   * @param jobs the jobs to look at
   * @param answer completes on the owner's thread with those of them that are not configured and
   *     have no live task; with none before the first configuration is in force
   */
  record FindAbsent(Set<String> jobs, CompletableFuture<Set<String>> answer) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.chores().accept(loop.forgetting().findAbsent(jobs, answer));
    }
  }

  /**
   * Forgets the statuses of a job if it has been absent since the last {@link FindAbsent}.
   *
   * @param archive where they can be read from now on
   * @param answer completes, on any thread, when that is durable; with whether they are forgotten
   */
  record ForgetAbsent(String job, String reason, String archive, CompletableFuture<Boolean> answer)
      implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      complete(answer, loop.forgetting().forgetAbsent(job, reason, archive, nowMillis));
    }
  }

  /**
   * Closes the subtrees that are to go to other schedulers, and opens all others.
   *
   * @param reasons by the name of a node directly under the instance, a sentence
   */
  record CloseSubtrees(Map<String, String> reasons) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.subtrees().close(reasons, nowMillis);
    }
  }

  /**
   * Stores the statuses of a subtree that another scheduler has released. Tasks that this scheduler
   * has in its tree are left alone.
   *
   * @param createTimes which jobs of their names the rows belong to, where that is known and the
   *     store has no rows of the job
   * @param durable completes, on any thread, when they are durable
   */
  record PutStatuses(
      List<StatusRow> rows,
      Map<String, Long> createTimes,
      CompletableFuture<@Nullable Void> durable)
      implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.subtrees().put(rows, row -> loop.shared().committer().changed(row, nowMillis));
      createTimes.forEach(loop.shared().committer().batch()::incarnation);
      complete(durable, loop.shared().committer().commit());
    }
  }

  /** No more tasks start. Live tasks that the shutdown ends count as interrupted, not as killed. */
  record Stop() implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      loop.stop().run();
    }
  }

  /**
   * An action that the loop itself has put off.
   *
   * @param action receives the instant of the step
   */
  record Deferred(LongConsumer action) implements LoopInput {
    @Override
    public void apply(InputParts loop, long nowMillis) {
      action.accept(nowMillis);
    }
  }

  private static <T extends @Nullable Object> void complete(
      CompletableFuture<T> answer, CompletionStage<? extends T> from) {
    from.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            answer.complete(value);
          } else {
            answer.completeExceptionally(failure);
          }
        });
  }
}
