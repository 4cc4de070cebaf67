package io.espalier.worker.agent;

import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.status.JsonDecoder;
import io.espalier.thrift.rpc.CallTable;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcException;
import io.espalier.thrift.rpc.SchedulerClient;
import io.espalier.worker.agent.AgentOptions.Address;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the scheduler on two threads of its own: one for heartbeats, which must never wait, and one
 * for reports. With several schedulers, it calls the one that answered last, and moves on when that
 * one does not answer or reports that it is not the leader. The scheduler calls the worker on the
 * same connection.
 */
final class SchedulerCalls implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SchedulerCalls.class);

  /** Addresses that refuse within this time are passed over in one attempt. */
  private static final long AT_ONCE_NANOS = 200_000_000;

  private final SchedulerClient client;
  private final ExecutorService heartbeats = thread("heartbeats");
  private final ExecutorService reports = thread("reports");
  private volatile List<Address> schedulers;
  private volatile int current;
  private volatile String lastFailure = "";

  /**
   * @param calls answers the scheduler's calls
   * @param lost called when a connection has ended
   */
  SchedulerCalls(
      List<Address> schedulers,
      PeerOptions peer,
      JsonDecoder json,
      CallTable.OfWorker calls,
      Runnable lost) {
    this.schedulers = schedulers;
    this.client = new SchedulerClient(peer, json, calls, lost);
  }

  /** Replaces the schedulers; the first one is tried first. With an empty list every call fails. */
  void replace(List<Address> newSchedulers) {
    schedulers = List.copyOf(newSchedulers);
    current = 0;
  }

  private static ExecutorService thread(String name) {
    return Executors.newSingleThreadExecutor(
        work -> {
          Thread thread = new Thread(work, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  private interface Call<T> {
    T of(InetSocketAddress scheduler) throws RpcException;
  }

  /** Sends a heartbeat. Exactly one of the two callbacks is called, on another thread. */
  void heartbeat(
      Heartbeat heartbeat, long millis, Consumer<HeartbeatResponse> answered, Runnable failed) {
    submit(
        heartbeats,
        to -> client.heartbeat(to, heartbeat, millis),
        answer -> answer.verdict() != HeartbeatResponse.Verdict.NOT_LEADER,
        answered,
        failed);
  }

  /** Sends a report. Exactly one of the two callbacks is called, on another thread. */
  void report(Report report, long millis, Consumer<ReportResponse> answered, Runnable failed) {
    submit(
        reports,
        to -> client.report(to, report, millis),
        ReportResponse::accepted,
        answered,
        failed);
  }

  private <T> void submit(
      ExecutorService on, Call<T> call, Predicate<T> leads, Consumer<T> answered, Runnable failed) {
    try {
      on.execute(() -> call(call, leads, answered, failed));
    } catch (RejectedExecutionException e) {
      failed.run();
    }
  }

  private <T> void call(Call<T> call, Predicate<T> leads, Consumer<T> answered, Runnable failed) {
    List<Address> known = schedulers;
    if (known.isEmpty()) {
      say("no scheduler is known yet", null);
      failed.run();
      return;
    }
    long begin = System.nanoTime();
    for (int left = known.size() - 1; ; left--) {
      int index = current;
      Address address = known.get(index % known.size());
      T answer;
      try {
        answer = call.of(new InetSocketAddress(address.host(), address.port()));
      } catch (RpcException | RuntimeException | OutOfMemoryError e) {
        // Without an answer no heartbeat would follow: it is out of memory when it gets no thread.
        leave(index);
        say(String.valueOf(e.getMessage()), e);
        boolean isUnsent =
            e instanceof RpcException refused && refused.kind() == RpcException.Kind.NOT_SENT;
        if (left > 0 && isUnsent && System.nanoTime() - begin < AT_ONCE_NANOS) {
          // Who does not lead listens nowhere, and refuses at once: the next one may lead.
          continue;
        }
        failed.run();
        return;
      }
      if (!leads.test(answer)) {
        leave(index);
      } else if (!lastFailure.isEmpty()) {
        log.info("the scheduler at {} answers", address);
        lastFailure = "";
      }
      answered.accept(answer);
      return;
    }
  }

  private void leave(int index) {
    if (current == index) {
      current = (index + 1) % Math.max(1, schedulers.size());
    }
  }

  /** Logs a failure once, not at every retry. */
  private void say(String failure, @Nullable Throwable e) {
    if (failure.equals(lastFailure)) {
      log.debug("again: {}", failure);
      return;
    }
    lastFailure = failure;
    log.warn("{}", failure);
    if (e != null && !(e instanceof RpcException)) {
      log.warn("while calling the scheduler", e);
    }
  }

  @Override
  public void close() {
    heartbeats.shutdownNow();
    reports.shutdownNow();
    client.close();
  }
}
