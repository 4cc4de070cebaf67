package io.espalier.thrift.rpc;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportResponse;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import java.util.concurrent.CompletionStage;

/**
 * The calls that each side answers. They run on threads of the server, which they must not block
 * for long.
 */
public final class CallTable {
  private CallTable() {}

  /** Calls that the scheduler answers. */
  public interface OfScheduler {
    /**
     * @param from the connection on which it came
     */
    CompletionStage<HeartbeatResponse> heartbeat(Heartbeat heartbeat, WorkerLink from);

    CompletionStage<ReportResponse> report(Report report);
  }

  /** Calls that the worker answers. */
  public interface OfWorker {
    CompletionStage<WorkResponse> work(WorkBatch work);

    CompletionStage<LogPage> logs(LogQuery query);
  }
}
