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

/** What the two sides answer. Called on threads of the server, which must not be held for long. */
public final class CallTable {
  private CallTable() {}

  /** The scheduler's end. */
  public interface OfScheduler {
    CompletionStage<HeartbeatResponse> heartbeat(Heartbeat heartbeat);

    CompletionStage<ReportResponse> report(Report report);
  }

  /** The worker's end. */
  public interface OfWorker {
    CompletionStage<WorkResponse> work(WorkBatch work);

    CompletionStage<LogPage> logs(LogQuery query);
  }
}
