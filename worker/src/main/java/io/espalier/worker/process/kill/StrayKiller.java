package io.espalier.worker.process.kill;

import io.espalier.worker.process.os.Signals;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signals processes that have left the group of their task, or whose group has lost its leader.
 * Finding them requires a search through all processes of the host, so one search, on a thread of
 * its own, serves all tasks that need one at that moment. {@link #request} is called and answered
 * on the supervisor's thread.
 */
public final class StrayKiller implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(StrayKiller.class);

  private final String cookie;
  private final Consumer<Runnable> supervisor;
  private final Search search;
  private final List<Request> waiting = new ArrayList<>();
  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          work -> {
            Thread made = new Thread(work, "task-sweeper");
            made.setDaemon(true);
            return made;
          });
  private boolean sweeping;

  /** What the last search could not examine, so that each is logged once; of the thread. */
  private String lastUnknown = "[]";

  private record Request(Journal.Entry entry, int signal, IntConsumer answer) {}

  /** Looks for processes and signals them; blocks. */
  interface Search {
    JournalKiller.Found round(Journal.Left left, ToIntFunction<String> signals);
  }

  public StrayKiller(String cookie, Consumer<Runnable> supervisor) {
    this(
        cookie,
        supervisor,
        (left, signals) ->
            new JournalKiller().round(left, JournalKiller.Reach.INVOCATIONS, signals));
  }

  StrayKiller(String cookie, Consumer<Runnable> supervisor, Search search) {
    this.cookie = cookie;
    this.supervisor = supervisor;
    this.search = search;
    // When a task has used up the processes of its user, it must be killed without a new thread.
    boolean unused = thread.prestartCoreThread();
  }

  /**
   * @param signal what the processes get; 0: nothing
   * @param answer receives the number of processes found
   */
  public void request(Journal.Entry entry, int signal, IntConsumer answer) {
    waiting.add(new Request(entry, signal, answer));
    next();
  }

  private void next() {
    if (sweeping || waiting.isEmpty()) {
      return;
    }
    sweeping = true;
    List<Request> requests = List.copyOf(waiting);
    waiting.clear();
    try {
      thread.execute(
          () -> {
            Map<String, Integer> found = sweep(requests);
            supervisor.accept(
                () -> {
                  sweeping = false;
                  requests.forEach(
                      request ->
                          request
                              .answer()
                              .accept(found.getOrDefault(request.entry().invocation(), 0)));
                  next();
                });
          });
    } catch (RejectedExecutionException e) {
      log.debug("closed: nothing is swept any more");
    }
  }

  private Map<String, Integer> sweep(List<Request> requests) {
    Map<String, Integer> signals = new HashMap<>();
    for (Request request : requests) {
      signals.merge(
          request.entry().invocation(),
          request.signal(),
          (a, b) -> a == Signals.KILL || b == Signals.KILL ? Signals.KILL : Math.max(a, b));
    }
    Map<String, Integer> counts = new HashMap<>();
    boolean examined = false;
    try {
      JournalKiller.Found found =
          search.round(
              new Journal.Left(cookie, "", requests.stream().map(Request::entry).toList()),
              invocation -> signals.getOrDefault(invocation, Signals.KILL));
      found.alive().values().forEach(invocation -> counts.merge(invocation, 1, Integer::sum));
      examined = found.unknown().isEmpty();
      String unknown = found.unknown().toString();
      if (!examined && !unknown.equals(lastUnknown)) {
        log.warn("cannot tell whether tasks have ended: {}", found);
      }
      lastUnknown = unknown;
    } catch (RuntimeException | Error e) {
      log.error("looking for processes of tasks failed", e);
    }
    if (!examined) {
      // A process counts as alive until it is verified dead: the search runs again for each of
      // them.
      signals.keySet().forEach(invocation -> counts.merge(invocation, 1, Integer::sum));
    }
    return counts;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
