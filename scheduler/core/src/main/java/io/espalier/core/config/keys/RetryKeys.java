package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.anyOf;
import static io.espalier.core.config.schema.ValueType.int32;

import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The keys {@code backoff} and {@code retry}: when a task is tried again. */
public final class RetryKeys {
  private static final String BACKOFF =
      "expected rising whole numbers of seconds, then \"repeat\" or \"fail\"";

  /** {@code retry} of the settings or a job. */
  public static final Section<ProgressRetryRules> RETRY =
      new Section<>(
          "retry",
          "Retries that look at progress. Each key is inherited by itself.",
          ProgressRetryRules.DEFAULT) {
        private final Key<ProgressRetryRules, Integer> maxSuccessiveNoProgress =
            key(
                    "max_successive_no_progress",
                    int32(1),
                    ProgressRetryRules::maxSuccessiveNoProgress,
                    "After so many failures in a row without progress the task has failed for"
                        + " good.")
                .own();
        private final Key<ProgressRetryRules, Integer> maxTotalNoProgress =
            key(
                    "max_total_no_progress",
                    int32(1),
                    ProgressRetryRules::maxTotalNoProgress,
                    "After so many failures without progress in all the task has failed for good.")
                .own();
        private final Key<ProgressRetryRules, Integer> maxTotalProgress =
            key(
                    "max_total_progress",
                    int32(1),
                    ProgressRetryRules::maxTotalProgress,
                    "After so many failures with progress in all the task has failed for good.")
                .own();
        private final Key<ProgressRetryRules, List<Integer>> waits =
            key(
                    "no_progress_backoff_sec",
                    waits(),
                    ProgressRetryRules::noProgressBackoffSeconds,
                    "Waits in seconds after the 1st, 2nd, ... failure in a row without progress;"
                        + " the last one repeats. They must not fall.")
                .own();
        private final Key<ProgressRetryRules, Integer> progressWait =
            key(
                    "progress_backoff_sec",
                    int32(0),
                    ProgressRetryRules::progressBackoffSeconds,
                    "Wait in seconds after a failure with progress.")
                .own();

        @Override
        public ProgressRetryRules read(ConfigObject in, ProgressRetryRules base) {
          return new ProgressRetryRules(
              in.get(maxSuccessiveNoProgress, base),
              in.get(maxTotalNoProgress, base),
              in.get(maxTotalProgress, base),
              in.get(waits, base),
              in.get(progressWait, base));
        }
      };

  private RetryKeys() {}

  /** {@code backoff}: rising seconds, then what happens when they are used up. */
  static ValueType<Backoff> backoff() {
    return ValueType.of(
        RetryKeys::readBackoff,
        backoff -> {
          List<Json> items = new ArrayList<>();
          backoff.seconds().forEach(second -> items.add(Json.of(second)));
          items.add(Json.of(backoff.repeats() ? "repeat" : "fail"));
          return new Json.Arr(items);
        },
        "list",
        "{'type': 'array', 'minItems': 1, 'prefixItems': [{'not': {'const': 'repeat'}}], 'allOf':"
            + " [{'items': "
            + anyOf(
                "{'type': 'integer', 'minimum': 1, 'maximum': 2147483647}",
                "{'enum': ['repeat', 'fail']}")
            + "}]}");
  }

  private static @Nullable Backoff readBackoff(ConfigValue value) {
    List<ConfigValue> items = value.items();
    if (items == null) {
      return null;
    }
    if (items.isEmpty()) {
      value.error("the list is empty; " + BACKOFF, null);
      return null;
    }
    List<Integer> seconds = new ArrayList<>();
    boolean good = true;
    for (int i = 0; i < items.size(); i++) {
      ConfigValue item = items.get(i);
      if (item.json() instanceof Json.Str word) {
        if (i + 1 < items.size()) {
          items.get(i + 1).warning("what follows \"" + word.value() + "\" is ignored", null);
        }
        return good ? ended(item, word.value(), seconds) : null;
      }
      good &= item.json() instanceof Json.Num ? addTo(seconds, item) : wrongItem(item);
    }
    return good ? new Backoff(seconds, false) : null;
  }

  private static boolean addTo(List<Integer> seconds, ConfigValue item) {
    Long second = item.integer(1, ValueType.MAX);
    if (second == null) {
      return false;
    }
    if (!seconds.isEmpty() && second <= seconds.get(seconds.size() - 1)) {
      item.error("the numbers must rise", null);
      return false;
    }
    return seconds.add(second.intValue());
  }

  private static @Nullable Backoff ended(ConfigValue item, String word, List<Integer> seconds) {
    boolean repeats = word.equals("repeat");
    if (!repeats && !word.equals("fail")) {
      wrongItem(item);
      return null;
    }
    if (repeats && seconds.isEmpty()) {
      item.error("there is no number to repeat", null);
      return null;
    }
    return new Backoff(seconds, repeats);
  }

  private static boolean wrongItem(ConfigValue item) {
    item.error(BACKOFF, item.didYouMean(List.of("repeat", "fail")));
    return false;
  }

  /** Waits of {@code retry}, which must not fall. */
  private static ValueType<List<Integer>> waits() {
    return ValueType.of(
        RetryKeys::readWaits,
        waits -> new Json.Arr(waits.stream().<Json>map(wait -> Json.of(wait)).toList()),
        "list of integers, 0 or more",
        "{'type': 'array', 'minItems': 1, 'items': " + ValueType.int32(0).schema() + "}");
  }

  private static @Nullable List<Integer> readWaits(ConfigValue value) {
    List<ConfigValue> items = value.items();
    if (items == null) {
      return null;
    }
    if (items.isEmpty()) {
      value.error("the list is empty; expected whole numbers of seconds", null);
      return null;
    }
    List<Integer> waits = new ArrayList<>();
    long before = 0;
    for (ConfigValue item : items) {
      Long seconds = item.integer(0, ValueType.MAX);
      if (seconds != null && seconds < before) {
        item.error("the numbers must not fall", null);
      } else if (seconds != null) {
        waits.add(seconds.intValue());
        before = seconds;
      }
    }
    return waits.size() == items.size() ? waits : null;
  }
}
