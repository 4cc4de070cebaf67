package io.espalier.core.config.read;

import io.espalier.core.config.Backoff;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parses {@code backoff} (docs/design/bistro.md#back-off). */
final class BackoffParser {
  private static final String EXPECTED =
      "expected rising whole numbers of seconds, then \"repeat\" or \"fail\"";

  private BackoffParser() {}

  /** Returns the inherited back-off when there is none or it is broken. */
  static Backoff read(ConfigObject in, Backoff inherited) {
    ConfigValue value = in.find("backoff");
    Backoff read = value == null ? null : read(value);
    return read == null ? inherited : read;
  }

  private static @Nullable Backoff read(ConfigValue value) {
    List<ConfigValue> items = value.items();
    if (items == null) {
      return null;
    }
    if (items.isEmpty()) {
      value.error("the list is empty; " + EXPECTED, null);
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
    Integer second = item.int32(1);
    if (second == null) {
      return false;
    }
    if (!seconds.isEmpty() && second <= seconds.get(seconds.size() - 1)) {
      item.error("the numbers must rise", null);
      return false;
    }
    return seconds.add(second);
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
    item.error(EXPECTED, item.didYouMean(List.of("repeat", "fail")));
    return false;
  }
}
