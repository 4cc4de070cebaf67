package io.espalier.webui.fleet.action;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** Runs an asynchronous operation for each of many items, with limited concurrency. */
public final class Fanout<T> {
  private final List<T> items;
  private final Function<T, CompletableFuture<?>> work;
  private final Executor executor;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicInteger left;
  private final CompletableFuture<Void> all = new CompletableFuture<>();

  private Fanout(List<T> items, Function<T, CompletableFuture<?>> work, Executor executor) {
    this.items = items;
    this.work = work;
    this.executor = executor;
    this.left = new AtomicInteger(items.size());
  }

  /**
   * Starts the operations.
   *
   * @param work must record its result and its failure itself
   * @param executor continues with the next item when one has ended
   * @return a stage that completes, without failure, when all operations have ended
   */
  public static <T> CompletableFuture<Void> each(
      List<T> items, int atATime, Executor executor, Function<T, CompletableFuture<?>> work) {
    Fanout<T> fanout = new Fanout<>(List.copyOf(items), work, executor);
    if (items.isEmpty()) {
      fanout.all.complete(null);
    }
    for (int i = 0; i < Math.min(atATime, items.size()); i++) {
      fanout.lane();
    }
    return fanout.all;
  }

  private void lane() {
    int index = next.getAndIncrement();
    if (index >= items.size()) {
      return;
    }
    CompletableFuture<?> one;
    try {
      one = work.apply(items.get(index));
    } catch (RuntimeException e) {
      one = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<?> followed =
        one.handle((result, failure) -> left.decrementAndGet())
            .thenAcceptAsync(
                stillLeft -> {
                  if (stillLeft == 0) {
                    all.complete(null);
                  } else {
                    lane();
                  }
                },
                executor);
    // The pool is closed: nobody waits any more.
    if (followed.isCompletedExceptionally()) {
      all.complete(null);
    }
  }
}
