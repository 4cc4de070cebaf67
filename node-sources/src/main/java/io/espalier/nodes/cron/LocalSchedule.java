package io.espalier.nodes.cron;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Applies local minutes to a time zone. The events form a fixed set, independent of where a search
 * begins: a label that exists once is one event; a label that a clock change skips is no event, or
 * one in the last second before the gap; a label that the clock repeats is its early, its late or
 * both instants (docs/design/bistro.md#crontab-items).
 */
final class LocalSchedule implements CronSchedule {
  /** Well above any zone offset, and so above the length of any gap or overlap. */
  private static final long MARGIN = Duration.ofDays(2).toSeconds();

  /** Labels begin with the year 1969. */
  private static final long EARLIEST = Instant.parse("1968-12-30T00:00:00Z").getEpochSecond();

  private final LocalMinutes labels;
  private final ZoneId zone;
  private final ZoneRules rules;
  private final DstRules fixes;

  LocalSchedule(LocalMinutes labels, ZoneId zone, DstRules fixes) {
    this.labels = labels;
    this.zone = zone;
    this.rules = zone.getRules();
    this.fixes = fixes;
  }

  /** Advances from one clock change to the next, and skips ranges without labels. */
  @Override
  public OptionalLong next(long epochSecond) {
    long t = Math.max(epochSecond, EARLIEST);
    while (t <= LAST + MARGIN) {
      Instant now = Instant.ofEpochSecond(t);
      ZoneOffset offset = rules.getOffset(now);
      ZoneOffsetTransition change = rules.nextTransition(now);
      long end = change == null ? Long.MAX_VALUE : change.toEpochSecond();
      LocalDateTime from = wholeMinute(LocalDateTime.ofEpochSecond(t, 0, offset));
      LocalDateTime label = labels.next(from);
      while (label != null && label.toEpochSecond(offset) < end) {
        if (isWanted(label, offset)) {
          return OptionalLong.of(label.toEpochSecond(offset));
        }
        // All labels of an overlap are excluded alike.
        label = labels.next(wholeMinute(rules.getTransition(label).getDateTimeBefore()));
      }
      if (change == null) {
        return OptionalLong.empty();
      }
      if (change.isGap() && fixes.unskip() && isSkipped(change, from)) {
        return OptionalLong.of(end - 1);
      }
      boolean overlapAhead = change.isOverlap() && end - t <= MARGIN;
      if (overlapAhead) {
        t = end;
      } else if (label != null) {
        t = Math.max(end, label.toEpochSecond(ZoneOffset.UTC) - MARGIN);
      } else {
        return OptionalLong.empty();
      }
    }
    return OptionalLong.empty();
  }

  private boolean isWanted(LocalDateTime label, ZoneOffset offset) {
    ZoneOffsetTransition overlap = rules.getTransition(label);
    if (overlap == null) {
      return true;
    }
    return switch (fixes.repeat()) {
      case BOTH -> true;
      case ONLY_EARLY -> offset.equals(overlap.getOffsetBefore());
      case ONLY_LATE -> offset.equals(overlap.getOffsetAfter());
    };
  }

  private boolean isSkipped(ZoneOffsetTransition gap, LocalDateTime from) {
    LocalDateTime begin = wholeMinute(gap.getDateTimeBefore());
    LocalDateTime skipped = labels.next(begin.isBefore(from) ? from : begin);
    return skipped != null && skipped.isBefore(gap.getDateTimeAfter());
  }

  private static LocalDateTime wholeMinute(LocalDateTime t) {
    LocalDateTime down = t.truncatedTo(ChronoUnit.MINUTES);
    return down.equals(t) ? t : down.plusMinutes(1);
  }

  /** Returns the first label of all; null when there is none, as on 30 February. */
  @Nullable LocalDateTime firstLabel() {
    return labels.next(LocalDateTime.of(1969, 1, 1, 0, 0));
  }

  @Override
  public String toString() {
    return labels + " " + zone;
  }
}
