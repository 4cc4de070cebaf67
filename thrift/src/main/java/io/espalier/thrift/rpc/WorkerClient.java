package io.espalier.thrift.rpc;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.thrift.gen.WorkerService;
import io.espalier.thrift.wire.BadMessageException;
import io.espalier.thrift.wire.WireLogs;
import io.espalier.thrift.wire.WireWorks;
import java.net.InetSocketAddress;

/** Calls workers. Thread-safe; calls block within their time-outs. */
public final class WorkerClient implements AutoCloseable {
  private final RpcClients clients;

  public WorkerClient(PeerOptions options) {
    this.clients = new RpcClients(PeerRole.WORKER, options);
  }

  /**
   * Sends a batch of work.
   *
   * @param millis time limit of the whole call
   */
  public WorkResponse work(InetSocketAddress to, WorkBatch work, long millis) throws RpcException {
    WorkerService.work_result result = new WorkerService.work_result();
    clients.call(
        to,
        "work",
        new WorkerService.work_args(WireWorks.of(work)),
        result,
        clients.options().timeouts().within(millis));
    RpcClients.check(to, result.getRefused());
    try {
      return WireWorks.workAnswer(result.getSuccess(), work);
    } catch (BadMessageException e) {
      throw RpcClients.bad(to, e);
    }
  }

  /**
   * Queries the logs.
   *
   * @param millis time limit of the answer
   */
  public LogPage logs(InetSocketAddress to, LogQuery query, int millis) throws RpcException {
    WorkerService.logs_result result = new WorkerService.logs_result();
    clients.call(
        to,
        "logs",
        new WorkerService.logs_args(WireLogs.of(query)),
        result,
        clients.options().timeouts().withReceive(millis));
    RpcClients.check(to, result.getRefused());
    try {
      return WireLogs.page(result.getSuccess());
    } catch (BadMessageException e) {
      throw RpcClients.bad(to, e);
    }
  }

  /** Closes the connections to a worker that went away or moved. */
  public void forget(InetSocketAddress address) {
    clients.forget(address);
  }

  @Override
  public void close() {
    clients.close();
  }
}
