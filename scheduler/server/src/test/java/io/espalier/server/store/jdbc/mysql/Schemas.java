package io.espalier.server.store.jdbc.mysql;

import io.espalier.json.JsonReader;
import io.espalier.testkit.database.DatabaseServer;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;

/** Schemas of a test server. */
final class Schemas {
  private static final List<String> TABLES =
      List.of(
          "job",
          "status",
          "attempt",
          "worker",
          "worker_hold",
          "pause",
          "event",
          "limit_override",
          "job_standing",
          "queue_usage",
          "duration");

  private Schemas() {}

  /** Makes sure that there is a schema in which nothing was ever stored. */
  static void empty(DatabaseServer server, String schema) throws SQLException {
    if (server.ask(
            "select 1 from information_schema.tables where table_schema = '"
                + schema
                + "' and table_name = 'espalier_store'")
        == null) {
      server.sql("create database if not exists " + schema);
      MySqlStatusStore.open(address(server, schema), JsonReader.strict()::read).close();
    }
    // Tables are made slowly; emptying them is quick.
    server.sql(
        Stream.concat(
                TABLES.stream().map(table -> "delete from " + schema + ".espalier_" + table),
                Stream.of(
                    "update " + schema + ".espalier_store set epoch = 0, mark = 0, source = null",
                    "update "
                        + schema
                        + ".espalier_owner set owner = '', process = '', lease = 0, ended = 1"))
            .toArray(String[]::new));
  }

  static MySqlAddress address(DatabaseServer server, String schema) {
    return MySqlAddress.parse(server.address(schema));
  }
}
