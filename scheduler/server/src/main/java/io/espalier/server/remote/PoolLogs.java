package io.espalier.server.remote;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogReader;
import io.espalier.core.logs.LogStore;
import io.espalier.core.logs.MergedLogs;
import io.espalier.core.running.WorkerInfo;
import io.espalier.thrift.rpc.RpcException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the task output of a whole pool. It queries all workers in parallel, and the scheduler's
 * own store for tasks that ran there before, and merges the results by time
 * (docs/design/bistro.md#log-queries). The page names workers that do not answer in time; they do
 * not delay the others.
 */
public final class PoolLogs implements LogReader, AutoCloseable {
  /** The key of the scheduler's own store among names of workers; no shard has this name. */
  private static final String OWN = "";

  private static final int CALLS_AT_ONCE = 32;

  private final Supplier<List<WorkerInfo>> pool;
  private final WorkerCalls calls;
  private final LogStore own;
  private final int patienceMillis;
  private final ThreadPoolExecutor threads;

  /**
   * @param pool the newest view of the workers
   * @param own the scheduler's own store, which the caller closes
   * @param patienceMillis the time after which a worker counts as not answering
   */
  PoolLogs(Supplier<List<WorkerInfo>> pool, WorkerCalls calls, LogStore own, int patienceMillis) {
    this.pool = pool;
    this.calls = calls;
    this.own = own;
    this.patienceMillis = patienceMillis;
    this.threads =
        new ThreadPoolExecutor(
            CALLS_AT_ONCE,
            CALLS_AT_ONCE,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "pool-logs");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** The answer of one store; exactly one of the two is set. */
  private record Answer(@Nullable LogPage page, String why) {}

  @Override
  public CompletionStage<LogPage> query(LogQuery query) {
    List<WorkerInfo> workers = pool.get();
    LogQuery each = query.withLimit(MergedLogs.limitOfEach(query.limit(), workers.size() + 1));
    return ask(workers, store -> each, Function.identity())
        .thenApply(answers -> MergedLogs.merge(query, answers.pages(), answers.unreachable()));
  }

  @Override
  public CompletionStage<LogPage> follow(LogQuery query, Map<String, Long> positions) {
    List<WorkerInfo> workers = pool.get();
    boolean begins = query.from() < 0;
    // A worker that joins later is followed from its beginning: all its output is new.
    long from = begins && !positions.isEmpty() ? 0 : query.from();
    LogQuery each = query.withLimit(MergedLogs.limitOfEach(query.limit(), workers.size() + 1));
    return ask(
            workers,
            store -> {
              long position = positions.getOrDefault(store, from);
              return position < 0 ? LogReader.newest(query) : each.withFrom(position);
            },
            page ->
                begins && positions.isEmpty()
                    ? new LogPage(List.of(), MergedLogs.behind(page), page.missing())
                    : page)
        .thenApply(
            answers -> {
              LogPage page =
                  MergedLogs.followed(from, positions, answers.pages(), answers.unreachable());
              return begins && positions.isEmpty()
                  ? new LogPage(List.of(), LogPage.END, page.missing(), page.positions())
                  : page;
            });
  }

  private record Answers(Map<String, LogPage> pages, Map<String, String> unreachable) {}

  private CompletionStage<Answers> ask(
      List<WorkerInfo> workers,
      Function<String, LogQuery> question,
      Function<LogPage, LogPage> taken) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    Map<String, LogPage> pages = new ConcurrentHashMap<>();
    Map<String, String> unreachable = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> all = new ArrayList<>(workers.size() + 1);
    // Our own store refuses an invalid query too: that failure is the answer.
    all.add(
        CompletableFuture.supplyAsync(() -> own.query(question.apply(OWN)), threads)
            .thenAccept(page -> pages.put(OWN, taken.apply(page))));
    for (WorkerInfo worker : workers) {
      String shard = worker.ref().shard();
      if (worker.state() == WorkerInfo.State.LOST) {
        unreachable.put(shard, "it is lost: " + worker.note());
        continue;
      }
      all.add(
          CompletableFuture.supplyAsync(
                  () -> call(worker, question.apply(shard), deadline), threads)
              .completeOnTimeout(
                  new Answer(null, "no answer within " + patienceMillis + " ms"),
                  patienceMillis,
                  TimeUnit.MILLISECONDS)
              .thenAccept(
                  answer -> {
                    if (answer.page() == null) {
                      unreachable.put(shard, answer.why());
                    } else {
                      pages.put(shard, taken.apply(answer.page()));
                    }
                  }));
    }
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
        .thenApply(done -> new Answers(pages, unreachable));
  }

  private Answer call(WorkerInfo worker, LogQuery query, long deadline) {
    if (millisUntil(deadline) < 1) {
      return new Answer(null, "too many workers to ask them all in time");
    }
    try {
      return new Answer(asked(worker, query, deadline), "");
    } catch (RpcException e) {
      return new Answer(null, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      return new Answer(null, "while calling " + worker.ref().shard() + ": " + e);
    }
  }

  /**
   * Repeats the query while there is time when a kept-alive connection has died; reading has no
   * side effects.
   */
  private LogPage asked(WorkerInfo worker, LogQuery query, long deadline) throws RpcException {
    try {
      return calls.logs(worker, query, millisUntil(deadline));
    } catch (RpcException e) {
      int left = millisUntil(deadline);
      if (e.kind() != RpcException.Kind.UNKNOWN || left < 1) {
        throw e;
      }
      return calls.logs(worker, query, left);
    }
  }

  private static int millisUntil(long deadline) {
    return (int) TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
