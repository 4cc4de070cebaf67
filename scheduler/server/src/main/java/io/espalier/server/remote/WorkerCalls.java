package io.espalier.server.remote;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcException;
import io.espalier.thrift.rpc.WorkerClient;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Calls workers. As many threads as calls are under way, one per worker at most: one that hangs
 * holds up nobody else.
 */
final class WorkerCalls implements AutoCloseable {
  private final WorkerClient client;
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work, "worker-call");
            thread.setDaemon(true);
            return thread;
          });

  private final LongAdder made = new LongAdder();
  private final LongAdder unanswered = new LongAdder();

  WorkerCalls(PeerOptions options) {
    this.client = new WorkerClient(options);
  }

  /** How a call failed. */
  interface Failure {
    /**
     * @param reached false: nothing of it was acted upon, for certain
     */
    void because(boolean reached, String why);
  }

  /** Exactly one of the two is called, on another thread, within that time. */
  void work(
      String address,
      WorkBatch work,
      long millis,
      Consumer<WorkResponse> answered,
      Failure failed) {
    try {
      threads.execute(
          () -> {
            WorkResponse answer;
            made.increment();
            try {
              answer = client.work(parse(address), work, millis);
            } catch (RpcException e) {
              unanswered.increment();
              failed.because(e.kind() == RpcException.Kind.UNKNOWN, String.valueOf(e.getMessage()));
              return;
            } catch (RuntimeException e) {
              unanswered.increment();
              failed.because(true, "while calling " + address + ": " + e);
              return;
            }
            answered.accept(answer);
          });
    } catch (RejectedExecutionException e) {
      failed.because(false, "shutting down");
    }
  }

  /** Asks a worker for logs; blocks. */
  LogPage logs(String address, LogQuery query, int millis) throws RpcException {
    made.increment();
    boolean answered = false;
    try {
      LogPage page = client.logs(parse(address), query, millis);
      answered = true;
      return page;
    } finally {
      if (!answered) {
        unanswered.increment();
      }
    }
  }

  /** How many calls there were. */
  long made() {
    return made.sum();
  }

  /** How many of them have no good answer. */
  long failed() {
    return unanswered.sum();
  }

  /** Looked up at each call. */
  static InetSocketAddress parse(String address) {
    int colon = address.lastIndexOf(':');
    String host = colon < 0 ? address : address.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    int port;
    try {
      port = Integer.parseInt(address.substring(colon + 1));
    } catch (NumberFormatException e) {
      port = -1;
    }
    // A worker may say anything of its address: what cannot be one is a host that is not found.
    return colon < 0 || port < 1 || port > 65_535
        ? InetSocketAddress.createUnresolved("not an address: " + address, 1)
        : new InetSocketAddress(host, port);
  }

  @Override
  public void close() {
    threads.shutdownNow();
    client.close();
  }
}
