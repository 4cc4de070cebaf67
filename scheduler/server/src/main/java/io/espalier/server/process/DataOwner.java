package io.espalier.server.process;

import io.espalier.core.config.Shard;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the statuses of a store belong to: a configuration, or one shard of it. They must never be
 * taken for those of another.
 */
public record DataOwner(String configUri, Shard shard) {
  private static final Pattern OF_SHARD = Pattern.compile("(.+) shard ([0-9]{1,5})/([0-9]{1,5})");

  /** Reads what {@link #toString} wrote. */
  public static DataOwner parse(String text) {
    Matcher parts = OF_SHARD.matcher(text);
    return parts.matches()
        ? new DataOwner(parts.group(1), Shard.parse(parts.group(2) + "/" + parts.group(3)))
        : new DataOwner(text, Shard.WHOLE);
  }

  @Override
  public String toString() {
    return shard.isWhole() ? configUri : configUri + " shard " + shard;
  }
}
