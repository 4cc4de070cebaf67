package io.espalier.core.loop.query;

import io.espalier.core.api.view.UpdateImpact;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.scheduling.ImpactScan;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A query for what a configuration would do if it came into force now.
 *
 * @param answer null when something else came into force meanwhile
 */
public record ImpactQuery(ImpactScan scan, CompletableFuture<@Nullable UpdateImpact> answer)
    implements SlicedWork {
  private static final int UNITS = 50_000;

  @Override
  public boolean step(long nowMillis) {
    if (scan.isStale()) {
      answer.complete(null);
    } else if (scan.step(UNITS)) {
      answer.complete(scan.impact());
    }
    return answer.isDone();
  }
}
