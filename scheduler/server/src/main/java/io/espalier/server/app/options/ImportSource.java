package io.espalier.server.app.options;

import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Locates the statuses of a scheduler that partitioned the nodes differently.
 *
 * @param directory its data directory; null: they are in a schema
 * @param schema of MySQL; null: they are in a directory
 */
public record ImportSource(@Nullable Path directory, @Nullable MySqlAddress schema) {
  public static ImportSource of(Path directory) {
    return new ImportSource(directory, null);
  }

  public static ImportSource of(MySqlAddress schema) {
    return new ImportSource(null, schema);
  }

  /** Returns a readable form, without the password. */
  @Override
  public String toString() {
    return String.valueOf(directory == null ? schema : directory);
  }
}
