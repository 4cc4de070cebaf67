package io.espalier.core.config.read;

import io.espalier.core.config.ProgressRetryRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses {@code retry} of the settings or a job
 * (docs/design/features.md#retries-that-look-at-progress). It replaces {@code backoff}; if one is
 * inherited and the other is given, the given one applies.
 */
final class RetryParser {
  private static final String KEY = "retry";

  private RetryParser() {}

  /** Returns the inherited rules when there are none or they are broken. */
  static Optional<ProgressRetryRules> read(
      ConfigObject in, Optional<ProgressRetryRules> inherited) {
    ConfigValue value = in.find(KEY);
    boolean hasBackoff = in.find("backoff") != null;
    if (value == null) {
      return hasBackoff ? Optional.empty() : inherited;
    }
    if (value.isFalse()) {
      return Optional.empty();
    }
    if (hasBackoff) {
      value.error("\"backoff\" is given too, and only one of them can decide", "remove one");
    }
    ConfigObject fields = value.fields(ConfigSection.RETRY);
    return fields == null
        ? inherited
        : Optional.of(read(fields, inherited.orElse(ProgressRetryRules.DEFAULT)));
  }

  private static ProgressRetryRules read(ConfigObject in, ProgressRetryRules otherwise) {
    List<Integer> waits = waits(in.find("no_progress_backoff_sec"));
    return new ProgressRetryRules(
        in.int32("max_successive_no_progress", otherwise.maxSuccessiveNoProgress(), 1),
        in.int32("max_total_no_progress", otherwise.maxTotalNoProgress(), 1),
        in.int32("max_total_progress", otherwise.maxTotalProgress(), 1),
        waits == null ? otherwise.noProgressBackoffSeconds() : waits,
        in.int32("progress_backoff_sec", otherwise.progressBackoffSeconds(), 0));
  }

  private static @Nullable List<Integer> waits(@Nullable ConfigValue value) {
    List<ConfigValue> items = value == null ? null : value.items();
    if (value == null || items == null) {
      return null;
    }
    if (items.isEmpty()) {
      value.error("the list is empty; expected whole numbers of seconds", null);
      return null;
    }
    List<Integer> waits = new ArrayList<>();
    int before = 0;
    for (ConfigValue item : items) {
      Integer seconds = item.int32(0);
      if (seconds != null && seconds < before) {
        item.error("the numbers must not fall", null);
      } else if (seconds != null) {
        waits.add(seconds);
        before = seconds;
      }
    }
    return waits.size() == items.size() ? waits : null;
  }
}
