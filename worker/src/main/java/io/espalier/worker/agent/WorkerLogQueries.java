package io.espalier.worker.agent;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Reads the output of tasks for the scheduler: two queries at a time, with a bounded queue behind
 * them. Thread-safe.
 */
final class WorkerLogQueries implements AutoCloseable {
  private final LogStore logs;
  private final ExecutorService readers =
      new ThreadPoolExecutor(
          2,
          2,
          1,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(64),
          work -> {
            Thread reader = new Thread(work, "log-queries");
            reader.setDaemon(true);
            return reader;
          });

  /**
   * @param logs the caller closes it
   */
  WorkerLogQueries(LogStore logs) {
    this.logs = logs;
  }

  /**
   * Runs a query. The stage completes with an error when too many queries are waiting or the logs
   * cannot be read.
   */
  CompletionStage<LogPage> ask(LogQuery query) {
    CompletableFuture<LogPage> answer = new CompletableFuture<>();
    try {
      readers.execute(
          () -> {
            try {
              answer.complete(LogPages.bounded(logs.query(query)));
            } catch (RuntimeException e) {
              answer.completeExceptionally(e);
            }
          });
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(new IllegalStateException("too many questions about logs", e));
    }
    return answer;
  }

  @Override
  public void close() {
    readers.shutdownNow();
  }
}
