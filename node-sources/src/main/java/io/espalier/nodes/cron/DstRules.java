package io.espalier.nodes.cron;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rules for local times that a clock change skips or repeats.
 *
 * @param unskip whether a skipped time becomes an event in the last second before the gap;
 *     otherwise it is no event
 */
record DstRules(boolean unskip, Repeat repeat) {
  private static final String SKIP = "skip";
  private static final String UNSKIP = "unskip";
  private static final String EXPECTED =
      "one of \"skip\", \"unskip\" and one of \"repeat_use_both\", \"repeat_use_only_early\","
          + " \"repeat_use_only_late\"";

  /** Which of the two passes of a repeated time count. */
  enum Repeat {
    BOTH("repeat_use_both"),
    ONLY_EARLY("repeat_use_only_early"),
    ONLY_LATE("repeat_use_only_late");

    private final String word;

    Repeat(String word) {
      this.word = word;
    }
  }

  /** Reads exactly one word of each kind; otherwise reports problems and returns null. */
  static @Nullable DstRules read(Json value, Place place) {
    if (!(value instanceof Json.Arr list)) {
      place.error(value, "expected a list: " + EXPECTED + ", not " + value.kind(), null);
      return null;
    }
    List<Boolean> skips = new ArrayList<>();
    List<Repeat> repeats = new ArrayList<>();
    boolean good = true;
    for (int i = 0; i < list.items().size(); i++) {
      Json item = list.items().get(i);
      String word = item instanceof Json.Str text ? text.value() : "";
      Repeat repeat = repeat(word);
      if (word.equals(SKIP) || word.equals(UNSKIP)) {
        skips.add(word.equals(UNSKIP));
      } else if (repeat != null) {
        repeats.add(repeat);
      } else {
        place.index(i).error(item, "expected " + EXPECTED, null);
        good = false;
      }
    }
    if (good && (skips.size() != 1 || repeats.size() != 1)) {
      place.error(value, "expected exactly " + EXPECTED, null);
      good = false;
    }
    return good ? new DstRules(skips.get(0), repeats.get(0)) : null;
  }

  private static @Nullable Repeat repeat(String word) {
    for (Repeat repeat : Repeat.values()) {
      if (repeat.word.equals(word)) {
        return repeat;
      }
    }
    return null;
  }
}
