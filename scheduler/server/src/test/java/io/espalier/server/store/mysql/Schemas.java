package io.espalier.server.store.mysql;

import io.espalier.json.JsonReader;
import io.espalier.testkit.database.DatabaseServer;
import java.sql.SQLException;
import java.util.List;

/** Schemas of a test server. */
final class Schemas {
  private static final List<String> TABLES =
      List.of("job", "status", "attempt", "worker", "worker_hold", "pause", "event");

  private Schemas() {}

  /** Makes sure that there is a schema in which nothing was ever stored. */
  static void empty(DatabaseServer server, String schema) throws SQLException {
    server.sql("create database if not exists " + schema);
    // Tables are made slowly; emptying them is quick.
    MySqlStatusStore.open(address(server, schema), JsonReader.strict()::read).close();
    server.sql(
        TABLES.stream()
            .map(t -> "delete from " + schema + ".espalier_" + t)
            .toArray(String[]::new));
    server.sql("update " + schema + ".espalier_store set epoch = 0, mark = 0, source = null");
  }

  static MySqlAddress address(DatabaseServer server, String schema) {
    return MySqlAddress.parse("mysql://root@127.0.0.1:" + server.port() + "/" + schema);
  }
}
