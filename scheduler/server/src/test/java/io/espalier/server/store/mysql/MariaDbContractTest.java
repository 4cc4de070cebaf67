package io.espalier.server.store.mysql;

import io.espalier.testkit.database.DatabaseServer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

class MariaDbContractTest extends MySqlContract {
  private static @Nullable DatabaseServer shared;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    // What is in doubt here does not hang on the disk of this machine.
    shared =
        new DatabaseServer(
            DatabaseServer.Flavour.MARIADB, directory, "--innodb-flush-method=nosync");
  }

  @AfterAll
  static void stop() throws Exception {
    if (shared != null) {
      shared.close();
    }
  }

  @Override
  DatabaseServer server() {
    if (shared == null) {
      throw new IllegalStateException("no server");
    }
    return shared;
  }
}
