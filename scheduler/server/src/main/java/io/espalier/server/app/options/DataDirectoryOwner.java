package io.espalier.server.app.options;

import io.espalier.core.config.Partition;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identifies what the statuses of a store belong to: a configuration, or one partition of it.
 * Statuses must never be used for another configuration or partition.
 */
public record DataDirectoryOwner(String configUri, Partition shard) {
  private static final Pattern OF_SHARD = Pattern.compile("(.+) shard ([0-9]{1,5})/([0-9]{1,5})");

  private static final String PASSED_ON = " passed on";

  /** Parses the output of {@link #toString} or {@link #passedOn}. */
  public static DataDirectoryOwner parse(String text) {
    String owner = isPassedOn(text) ? text.substring(0, text.length() - PASSED_ON.length()) : text;
    Matcher parts = OF_SHARD.matcher(owner);
    return parts.matches()
        ? new DataDirectoryOwner(
            parts.group(1), Partition.parse(parts.group(2) + "/" + parts.group(3)))
        : new DataDirectoryOwner(owner, Partition.WHOLE);
  }

  /** Returns true when the text marks a store whose statuses other schedulers have taken over. */
  public static boolean isPassedOn(String text) {
    return text.endsWith(PASSED_ON);
  }

  /**
   * Returns the mark of a store whose statuses other schedulers have taken over. No scheduler may
   * continue with such a store.
   */
  public String passedOn() {
    return this + PASSED_ON;
  }

  @Override
  public String toString() {
    return shard.isWhole() ? configUri : configUri + " shard " + shard;
  }
}
