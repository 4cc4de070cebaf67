package io.espalier.thrift.rpc;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.thrift.gen.WorkerService;
import io.espalier.thrift.wire.BadMessageException;
import io.espalier.thrift.wire.WireLogs;
import io.espalier.thrift.wire.WireWorks;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * A connection that a worker has opened to this scheduler, on which the scheduler calls the worker.
 * Thread-safe; calls block nothing. Stages complete on a thread of the connection, and fail with an
 * {@link RpcException}: at once when the connection is closed.
 */
public final class WorkerLink {
  private final RpcConnection connection;
  private final PeerOptions options;

  WorkerLink(RpcConnection connection, PeerOptions options) {
    this.connection = connection;
    this.options = options;
  }

  /**
   * Returns whether the worker takes calls on the connection: one of the release before takes them
   * only at its address.
   */
  public boolean takesCalls() {
    return connection.isBothWays();
  }

  /**
   * Sends a batch of work.
   *
   * @param millis time limit of the whole call
   */
  public CompletionStage<WorkResponse> work(WorkBatch work, long millis) {
    WorkerService.work_result result = new WorkerService.work_result();
    return connection
        .call("work", () -> arguments(work), result, within(millis))
        .thenApply(
            done -> {
              try {
                return answer(connection.toString(), result, work);
              } catch (RpcException e) {
                throw new CompletionException(e);
              }
            });
  }

  /**
   * Queries the logs.
   *
   * @param millis time limit of the whole call
   */
  public CompletionStage<LogPage> logs(LogQuery query, int millis) {
    WorkerService.logs_result result = new WorkerService.logs_result();
    return connection
        .call("logs", () -> arguments(query), result, within(millis).withReceive(millis))
        .thenApply(
            done -> {
              try {
                return answer(connection.toString(), result);
              } catch (RpcException e) {
                throw new CompletionException(e);
              }
            });
  }

  private RpcTimeouts within(long millis) {
    return options
        .timeouts()
        .within(millis)
        .until(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
  }

  static WorkerService.work_args arguments(WorkBatch work) {
    return new WorkerService.work_args(WireWorks.of(work));
  }

  static WorkerService.logs_args arguments(LogQuery query) {
    return new WorkerService.logs_args(WireLogs.of(query));
  }

  static WorkResponse answer(String peer, WorkerService.work_result result, WorkBatch work)
      throws RpcException {
    RpcClients.check(peer, result.getRefused());
    try {
      return WireWorks.workAnswer(result.getSuccess(), work);
    } catch (BadMessageException e) {
      throw RpcClients.bad(peer, e);
    }
  }

  static LogPage answer(String peer, WorkerService.logs_result result) throws RpcException {
    RpcClients.check(peer, result.getRefused());
    try {
      return WireLogs.page(result.getSuccess());
    } catch (BadMessageException e) {
      throw RpcClients.bad(peer, e);
    }
  }
}
