package io.espalier.thrift.rpc;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.Work;
import io.espalier.core.protocol.WorkAnswer;
import io.espalier.thrift.gen.WorkerService;
import io.espalier.thrift.wire.BadMessage;
import io.espalier.thrift.wire.WireLogs;
import io.espalier.thrift.wire.WireWorks;
import java.net.InetSocketAddress;

/** Calls workers. Thread-safe; calls block within the time-outs. */
public final class WorkerClient implements AutoCloseable {
  private final RpcClients clients;

  public WorkerClient(PeerOptions options) {
    this.clients = new RpcClients(Role.WORKER, options);
  }

  /**
   * Gives a batch of work.
   *
   * @param millis all that it may take
   */
  public WorkAnswer work(InetSocketAddress to, Work work, long millis) throws RpcFailure {
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
    } catch (BadMessage e) {
      throw RpcClients.bad(to, e);
    }
  }

  /**
   * Asks for logs.
   *
   * @param millis how long the answer may take
   */
  public LogPage logs(InetSocketAddress to, LogQuery query, int millis) throws RpcFailure {
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
    } catch (BadMessage e) {
      throw RpcClients.bad(to, e);
    }
  }

  /** A worker went away or moved. */
  public void forget(InetSocketAddress address) {
    clients.forget(address);
  }

  @Override
  public void close() {
    clients.close();
  }
}
