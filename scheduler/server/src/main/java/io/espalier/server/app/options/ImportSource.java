package io.espalier.server.app.options;

import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Locates statuses that this scheduler takes over. One of the four is not null.
 *
 * @param directory data directory of a scheduler that partitioned the nodes differently
 * @param schema the same, in MySQL
 * @param bistro the file in which a scheduler of Bistro stored its statuses
 * @param archive a file with the statuses of a job that expired
 */
public record ImportSource(
    @Nullable Path directory,
    @Nullable MySqlAddress schema,
    @Nullable Path bistro,
    @Nullable Path archive) {
  /** What the file of a scheduler of Bistro begins with on the command line. */
  public static final String BISTRO = "bistro:";

  /** What a file of an archive begins with on the command line. */
  public static final String ARCHIVE = "archive:";

  public static ImportSource of(Path directory) {
    return new ImportSource(directory, null, null, null);
  }

  public static ImportSource of(MySqlAddress schema) {
    return new ImportSource(null, schema, null, null);
  }

  public static ImportSource ofBistro(Path file) {
    return new ImportSource(null, null, file, null);
  }

  public static ImportSource ofArchive(Path file) {
    return new ImportSource(null, null, null, file);
  }

  /** Returns a readable form, without the password. */
  @Override
  public String toString() {
    if (archive != null) {
      return ARCHIVE + archive;
    }
    return bistro == null
        ? String.valueOf(directory == null ? schema : directory)
        : BISTRO + bistro;
  }
}
