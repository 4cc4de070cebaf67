package io.espalier.server.remote;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.problem.Causes;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcException;
import io.espalier.thrift.rpc.WorkerClient;
import io.espalier.thrift.rpc.WorkerLink;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Calls workers on the connections that they have opened. A worker of protocol 1 is called at its
 * address, with one thread per call in progress, so that a hanging call does not delay others.
 */
final class WorkerCalls implements AutoCloseable {
  private final WorkerClient client;
  private final ExecutorService threads;
  private final Map<WorkerRef, WorkerLink> links = new ConcurrentHashMap<>();
  private final LongAdder made = new LongAdder();
  private final LongAdder unanswered = new LongAdder();

  WorkerCalls(PeerOptions options) {
    this(
        options,
        work -> {
          Thread thread = new Thread(work, "worker-call");
          thread.setDaemon(true);
          return thread;
        });
  }

  WorkerCalls(PeerOptions options, ThreadFactory threads) {
    this.client = new WorkerClient(options);
    this.threads = Executors.newCachedThreadPool(threads);
  }

  /** The worker has sent an accepted heartbeat on that connection: it is called there. */
  void connected(WorkerRef worker, WorkerLink link) {
    links.put(worker, link);
  }

  /** Forgets the connections of all other workers. */
  void retain(Set<WorkerRef> workers) {
    links.keySet().retainAll(workers);
  }

  /** Receives the failure of a call. */
  interface Failure {
    /**
     * @param reached false when it is certain that the worker did not act on the call
     */
    void because(boolean reached, String why);
  }

  /**
   * Sends work to a worker. Exactly one of the two callbacks runs, on another thread, within the
   * given time.
   */
  void work(
      String address,
      WorkBatch work,
      long millis,
      Consumer<WorkResponse> answered,
      Failure failed) {
    made.increment();
    WorkerLink link = links.get(work.worker());
    if (link != null && link.takesCalls()) {
      var unused =
          link.work(work, millis)
              .whenComplete(
                  (answer, failure) -> {
                    if (failure == null) {
                      answered.accept(answer);
                    } else {
                      unanswered.increment();
                      RpcException why = failure(failure, work.worker().shard());
                      failed.because(
                          why.kind() == RpcException.Kind.UNKNOWN,
                          String.valueOf(why.getMessage()));
                    }
                  });
      return;
    }
    try {
      threads.execute(
          () -> {
            WorkResponse answer;
            try {
              answer = client.work(parse(address), work, millis);
            } catch (RpcException e) {
              unanswered.increment();
              failed.because(e.kind() == RpcException.Kind.UNKNOWN, String.valueOf(e.getMessage()));
              return;
            } catch (RuntimeException | Error e) {
              unanswered.increment();
              failed.because(true, "while calling " + address + ": " + e);
              return;
            }
            answered.accept(answer);
          });
    } catch (RejectedExecutionException e) {
      failed.because(false, "shutting down");
    } catch (OutOfMemoryError e) {
      // The virtual machine reports out of memory when it gets no thread.
      unanswered.increment();
      failed.because(false, "while calling " + address + ": " + e.getMessage());
    }
  }

  /** Returns why a call failed. */
  private static RpcException failure(Throwable failure, String worker) {
    Throwable cause = Causes.of(failure);
    return cause instanceof RpcException known
        ? known
        : new RpcException(
            RpcException.Kind.UNKNOWN, "while calling " + worker + ": " + cause, failure);
  }

  /** Queries the logs of a worker; blocks. */
  LogPage logs(WorkerInfo worker, LogQuery query, int millis) throws RpcException {
    made.increment();
    WorkerLink link = links.get(worker.ref());
    boolean answered = false;
    try {
      LogPage page =
          link != null && link.takesCalls()
              ? link.logs(query, millis).toCompletableFuture().join()
              : client.logs(parse(worker.address()), query, millis);
      answered = true;
      return page;
    } catch (CompletionException e) {
      throw failure(e, worker.ref().shard());
    } finally {
      if (!answered) {
        unanswered.increment();
      }
    }
  }

  /** Returns the number of calls. */
  long made() {
    return made.sum();
  }

  /** Returns the number of calls without a good answer. */
  long failed() {
    return unanswered.sum();
  }

  /** Parses an address. It is resolved at each call. */
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
    // A worker may report any text as its address; an invalid one is treated as an unknown host.
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
