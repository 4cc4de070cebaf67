package io.espalier.thrift.rpc;

import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatAnswer;
import io.espalier.core.protocol.Report;
import io.espalier.core.protocol.ReportAnswer;
import io.espalier.core.protocol.Work;
import io.espalier.core.protocol.WorkAnswer;
import java.util.concurrent.CompletionStage;

/** What the two sides answer. Called on threads of the server, which must not be held for long. */
public final class Calls {
  private Calls() {}

  /** The scheduler's end. */
  public interface OfScheduler {
    CompletionStage<HeartbeatAnswer> heartbeat(Heartbeat heartbeat);

    CompletionStage<ReportAnswer> report(Report report);
  }

  /** The worker's end. */
  public interface OfWorker {
    CompletionStage<WorkAnswer> work(Work work);

    CompletionStage<LogPage> logs(LogQuery query);
  }
}
