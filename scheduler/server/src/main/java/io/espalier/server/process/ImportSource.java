package io.espalier.server.process;

import io.espalier.server.store.mysql.MySqlAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a scheduler that divided the nodes in another way has left its statuses.
 *
 * @param directory its data directory; null: they are in a schema
 * @param schema of MySQL; null: they are in a directory
 */
public record ImportSource(@Nullable Path directory, @Nullable MySqlAddress schema) {
  /** A data directory. */
  public static ImportSource of(Path directory) {
    return new ImportSource(directory, null);
  }

  /** A schema of MySQL. */
  public static ImportSource of(MySqlAddress schema) {
    return new ImportSource(null, schema);
  }

  /** For people; without a password. */
  @Override
  public String toString() {
    return String.valueOf(directory == null ? schema : directory);
  }
}
