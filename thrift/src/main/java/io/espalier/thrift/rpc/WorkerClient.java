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
  private final RpcClients works;

  /** Apart: a worker of protocol 1 answers the calls of a connection one after the other. */
  private final RpcClients queries;

  public WorkerClient(PeerOptions options) {
    this.works = new RpcClients(PeerRole.WORKER, options);
    this.queries = new RpcClients(PeerRole.WORKER, options);
  }

  /**
   * Sends a batch of work.
   *
   * @param millis time limit of the whole call
   */
  public WorkResponse work(InetSocketAddress to, WorkBatch work, long millis) throws RpcException {
    WorkerService.work_result result = new WorkerService.work_result();
    works.call(
        to,
        "work",
        new WorkerService.work_args(WireWorks.of(work)),
        result,
        works.options().timeouts().within(millis));
    RpcClients.check(RpcClients.name(to), result.getRefused());
    try {
      return WireWorks.workAnswer(result.getSuccess(), work);
    } catch (BadMessageException e) {
      throw RpcClients.bad(RpcClients.name(to), e);
    }
  }

  /**
   * Queries the logs.
   *
   * @param millis time limit of the answer
   */
  public LogPage logs(InetSocketAddress to, LogQuery query, int millis) throws RpcException {
    WorkerService.logs_result result = new WorkerService.logs_result();
    queries.call(
        to,
        "logs",
        new WorkerService.logs_args(WireLogs.of(query)),
        result,
        queries.options().timeouts().withReceive(millis));
    RpcClients.check(RpcClients.name(to), result.getRefused());
    try {
      return WireLogs.page(result.getSuccess());
    } catch (BadMessageException e) {
      throw RpcClients.bad(RpcClients.name(to), e);
    }
  }

  @Override
  public void close() {
    works.close();
    queries.close();
  }
}
