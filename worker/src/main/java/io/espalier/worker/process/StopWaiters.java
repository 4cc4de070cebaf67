package io.espalier.worker.process;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Tracks the commands that wait for tasks to end; confined to the supervisor's thread. */
final class StopWaiters {
  private final List<Wait> waits = new ArrayList<>();

  private record Wait(Set<JournalKey> left, CompletableFuture<Set<JournalKey>> answer) {
    boolean isOver() {
      return answer.isDone() || (left.isEmpty() && answer.complete(Set.of()));
    }
  }

  /**
   * Completes the future with an empty set when all tasks have ended.
   *
   * @return action for the timeout: it completes the future with the tasks that have not ended
   */
  Runnable add(Collection<JournalKey> tasks, CompletableFuture<Set<JournalKey>> answer) {
    Wait wait = new Wait(new HashSet<>(tasks), answer);
    if (!wait.isOver()) {
      waits.add(wait);
    }
    return () -> {
      boolean unused = answer.complete(Set.copyOf(wait.left()));
      waits.remove(wait);
    };
  }

  void ended(JournalKey task) {
    if (!waits.isEmpty()) {
      waits.forEach(wait -> wait.left().remove(task));
      waits.removeIf(Wait::isOver);
    }
  }
}
