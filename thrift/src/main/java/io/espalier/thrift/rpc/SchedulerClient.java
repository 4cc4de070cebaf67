package io.espalier.thrift.rpc;

import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.status.JsonDecoder;
import io.espalier.thrift.gen.SchedulerService;
import io.espalier.thrift.wire.BadMessageException;
import io.espalier.thrift.wire.WireReports;
import java.net.InetSocketAddress;

/** Calls a scheduler. Thread-safe; calls block within their time-outs. */
public final class SchedulerClient implements AutoCloseable {
  private final RpcClients clients;

  /** Calls a scheduler that cannot call back. */
  public SchedulerClient(PeerOptions options) {
    this.clients = new RpcClients(PeerRole.SCHEDULER, options);
  }

  /**
   * Calls a scheduler that calls back on the same connection.
   *
   * @param calls answers the scheduler
   * @param lost called when a connection has ended, on a thread of the connection
   */
  public SchedulerClient(
      PeerOptions options, JsonDecoder json, CallTable.OfWorker calls, Runnable lost) {
    this.clients =
        new RpcClients(PeerRole.SCHEDULER, options, RpcServer.workerMethods(json, calls), lost);
  }

  /**
   * Sends a heartbeat.
   *
   * @param millis time limit of the whole call
   */
  public HeartbeatResponse heartbeat(InetSocketAddress to, Heartbeat heartbeat, long millis)
      throws RpcException {
    SchedulerService.heartbeat_result result = new SchedulerService.heartbeat_result();
    clients.call(
        to,
        "heartbeat",
        new SchedulerService.heartbeat_args(WireReports.of(heartbeat)),
        result,
        clients.options().timeouts().within(millis));
    RpcClients.check(RpcClients.name(to), result.getRefused());
    try {
      return WireReports.heartbeatAnswer(result.getSuccess());
    } catch (BadMessageException e) {
      throw RpcClients.bad(RpcClients.name(to), e);
    }
  }

  /**
   * Reports what happened to tasks.
   *
   * @param millis time limit of the whole call
   */
  public ReportResponse report(InetSocketAddress to, Report report, long millis)
      throws RpcException {
    SchedulerService.report_result result = new SchedulerService.report_result();
    clients.call(
        to,
        "report",
        new SchedulerService.report_args(WireReports.of(report)),
        result,
        clients.options().timeouts().within(millis));
    RpcClients.check(RpcClients.name(to), result.getRefused());
    try {
      return WireReports.reportAnswer(result.getSuccess());
    } catch (BadMessageException e) {
      throw RpcClients.bad(RpcClients.name(to), e);
    }
  }

  @Override
  public void close() {
    clients.close();
  }
}
