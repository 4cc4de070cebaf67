package io.espalier.core.protocol;

import java.util.List;

/**
 * The answer to a report.
 *
 * @param number of the report
 * @param accepted false: not the leader or not ready; all is to be sent again, elsewhere too
 * @param settled those of its ends that are durable by now (or have no meaning any more): forget
 *     them. The others are settled by a later {@link WorkBatch} or a later report
 */
public record ReportResponse(long number, boolean accepted, List<RunId> settled) {
  public ReportResponse {
    settled = List.copyOf(settled);
  }
}
