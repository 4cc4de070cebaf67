package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.status.store.StatusStore;
import io.espalier.json.JsonReader;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.status.StatusStoreContract;

/** The contract of all stores against a real server: one for all tests, emptied before each. */
abstract class MySqlContract extends StatusStoreContract {
  private boolean empty;

  abstract DatabaseServer server();

  @Override
  protected StatusStore open() throws Exception {
    if (!empty) {
      Schemas.empty(server(), "contract");
      empty = true;
    }
    return MySqlStatusStore.open(Schemas.address(server(), "contract"), JsonReader.strict()::read);
  }
}
