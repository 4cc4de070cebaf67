package io.espalier.nodes.cron;

import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/** A set of minutes as a clock on a wall shows them, whether or not they exist anywhere. */
interface LocalMinutes {
  /** No label is after the end of this year. */
  int LAST_YEAR = 9999;

  /**
   * The first label at or after {@code from}, which is a whole minute; null when there is none any
   * more.
   */
  @Nullable LocalDateTime next(LocalDateTime from);
}
