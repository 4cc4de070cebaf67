package io.espalier.server.store.jdbc.sqlite;

import io.espalier.core.status.store.StatusStore;
import io.espalier.json.JsonReader;
import io.espalier.testkit.status.StatusStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteStatusStoreTest extends StatusStoreContract {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @Override
  protected StatusStore open() {
    return SqliteDialect.open(directory.resolve("statuses.sqlite"), JsonReader.strict()::read);
  }
}
