package io.espalier.nodes.cron;

import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/** A set of minutes as a wall clock shows them, whether or not they exist in any time zone. */
interface LocalMinutes {
  /** No label is after the end of this year. */
  int LAST_YEAR = 9999;

  /**
   * Returns the first label at or after {@code from}, which is a whole minute; null when no more
   * follow.
   */
  @Nullable LocalDateTime next(LocalDateTime from);
}
