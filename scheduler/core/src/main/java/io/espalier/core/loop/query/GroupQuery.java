package io.espalier.core.loop.query;

import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.GroupScan;

/** A query about the redundancy groups of one kind: a pass over groups, members, running tasks. */
final class GroupQuery extends IncrementalQuery<GroupPage> {
  private final GroupScan scan;
  private final String kind;

  GroupQuery(SchedulingCore core, Query.Groups query) {
    this.scan =
        core.capacity().groups(query.kind(), query.onlyFull(), query.after(), query.limit());
    this.kind = query.kind();
  }

  @Override
  long step(long nowMillis, int units) {
    switch (scan.step(units)) {
      case UNFINISHED -> {}
      case DONE -> answer.complete(scan.page());
      case NO_SUCH_KIND ->
          answer.completeExceptionally(
              new RefusedException(
                  RefusedException.Reason.UNKNOWN,
                  "there is no kind of redundancy groups called \"" + kind + "\""));
      case NO_SUCH_CURSOR ->
          answer.completeExceptionally(
              new RefusedException(
                  RefusedException.Reason.CONFLICT,
                  "the group of the cursor is gone: start from the first page"));
    }
    return scan.used();
  }
}
