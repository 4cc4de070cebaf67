package io.espalier.core.protocol;

import java.util.List;

/**
 * The response to a report.
 *
 * @param number number of the report
 * @param accepted false when the scheduler is not the leader or not ready: the worker must send
 *     everything again, also to other addresses
 * @param settled ends of this report that are durable by now (or no longer matter): the worker can
 *     forget them. A later {@link WorkBatch} or report settles the others
 */
public record ReportResponse(long number, boolean accepted, List<RunId> settled) {
  public ReportResponse {
    settled = List.copyOf(settled);
  }
}
