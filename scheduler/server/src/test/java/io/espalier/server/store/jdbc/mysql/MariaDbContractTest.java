package io.espalier.server.store.jdbc.mysql;

import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedMariaDb.class)
class MariaDbContractTest extends MySqlContract {
  private final DatabaseServer server;

  MariaDbContractTest(DatabaseServer server) {
    this.server = server;
  }

  @Override
  DatabaseServer server() {
    return server;
  }
}
