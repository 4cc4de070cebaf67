package io.espalier.server.app.update;

import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.api.plan.UpdateImpact;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What must be consented to before a configuration that does much of it is applied. */
enum Consent {
  KILLS("running tasks would be killed"),
  NEW("tasks would be new"),
  NODES("nodes would be removed"),
  UNCOUNTED("configuration would be applied whose effect is not known");

  private static final long FREE_NEW = 10_000;
  private static final int FREE_NODES_PERCENT = 1;

  private final String what;

  Consent(String what) {
    this.what = what;
  }

  /** Returns its name in requests. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns how much of it a configuration does. */
  long number(@Nullable UpdateImpact impact) {
    if (impact == null) {
      return this == UNCOUNTED ? 1 : 0;
    }
    return switch (this) {
      case KILLS -> impact.kills();
      case NEW -> impact.added();
      case NODES -> impact.nodesRemoved();
      case UNCOUNTED -> 0;
    };
  }

  /** Returns how much of it needs no consent. */
  long free(@Nullable UpdateImpact impact) {
    return switch (this) {
      case NEW -> FREE_NEW;
      case NODES -> impact == null ? 0 : impact.nodesBefore() * FREE_NODES_PERCENT / 100;
      case KILLS, UNCOUNTED -> 0;
    };
  }

  /** Returns a sentence about what is not consented to. */
  static String words(Map<String, Long> exceeding, Map<String, Long> given, ConfigPlan plan) {
    List<String> parts = new ArrayList<>();
    List<String> flags = new ArrayList<>();
    for (Consent consent : values()) {
      Long number = exceeding.get(consent.word());
      if (number != null) {
        Long most = given.get(consent.word());
        parts.add(
            String.format(Locale.ROOT, "%,d %s", number, consent.what)
                + (consent == UNCOUNTED ? " (" + plan.uncounted() + ")" : "")
                + (most == null
                    ? ""
                    : String.format(Locale.ROOT, ", and consent is for %,d", most)));
        flags.add(consent.word() + "=" + number);
      }
    }
    return String.join("; ", parts)
        + "; nothing was changed. If that is meant, consent to it: "
        + String.join(",", flags);
  }
}
