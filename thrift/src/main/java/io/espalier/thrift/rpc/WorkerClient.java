package io.espalier.thrift.rpc;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.thrift.gen.WorkerService;
import java.net.InetSocketAddress;

/**
 * Calls workers at their addresses, as protocol 1 does; later ones are called by {@link
 * WorkerLink}. Thread-safe; calls block within their time-outs.
 */
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
        to, "work", WorkerLink.arguments(work), result, works.options().timeouts().within(millis));
    return WorkerLink.answer(RpcClients.name(to), result, work);
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
        WorkerLink.arguments(query),
        result,
        queries.options().timeouts().withReceive(millis));
    return WorkerLink.answer(RpcClients.name(to), result);
  }

  @Override
  public void close() {
    works.close();
    queries.close();
  }
}
