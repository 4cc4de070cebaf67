package io.espalier.nodes.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSpec;
import io.espalier.nodes.Tree;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.nodes.NodeRecorder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connector/J against a real server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class SqlNodesOnMySqlTest {
  private static final Levels TWO = Levels.of(List.of("host", "db"));

  private final Path directory;
  private final DatabaseServer server;
  private final List<NodeSource> open = new ArrayList<>();

  SqlNodesOnMySqlTest(@TempDir Path directory) throws Exception {
    this.directory = directory;
    // What is in doubt here does not hang on the disk of this machine.
    server =
        new DatabaseServer(
            DatabaseServer.Flavour.MARIADB, directory, "--innodb-flush-method=nosync");
  }

  @BeforeAll
  void fill() throws Exception {
    server.sql(
        "create database inventory",
        "create table inventory.dbs (name varchar(50), host varchar(50), labels varchar(50), off"
            + " tinyint(1), size bigint unsigned, at datetime, ratio decimal(5,2), about json)",
        "insert into inventory.dbs values ('d1', 'a', 'ssd fast', 0, 18446744073709551615,"
            + " '2026-11-21 07:00:00', 1.50, '{\"x\": 1}'), ('d\u00e42', 'b', null, 1, null, null,"
            + " null, null)",
        "create user reader identified by 's3cret-one'",
        "grant select on inventory.* to reader");
    Files.writeString(directory.resolve("secret"), "s3cret-one\n");
  }

  @AfterEach
  void close() {
    open.forEach(NodeSource::close);
    open.clear();
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private NodeSource source(String query, String more) {
    String json =
        "{'parent_level': 'host', 'url': '%s?sslMode=DISABLED&allowPublicKeyRetrieval=true', 'user': 'reader', 'password_file': '%s', 'query': \"%s\"%s}"
            .formatted(
                "jdbc:mysql://127.0.0.1:" + server.port() + "/inventory",
                directory.resolve("secret"),
                query,
                more)
            .replace('\'', '"')
            .replace('`', '\'');
    NodeSource source = Tree.source(new SqlNodes.Type(), TWO, json);
    open.add(source);
    return source;
  }

  private static List<NodeSpec> fetch(NodeSource source) throws Exception {
    return NodeRecorder.fetch(
        source,
        TWO,
        List.of(NodeSpec.child(1, "a", null), NodeSpec.child(1, "b", null)),
        Instant.EPOCH);
  }

  private static String problem(NodeSource source) {
    List<Problem> problems = new ArrayList<>();
    assertThatThrownBy(() -> fetch(source))
        .isInstanceOfSatisfying(NodeSourceException.class, e -> problems.addAll(e.problems()));
    assertThat(problems).hasSize(1);
    return problems.get(0).toString();
  }

  @Test
  void columnsOfEveryKindBecomeNodes() throws Exception {
    List<NodeSpec> nodes =
        fetch(
            source(
                "select * from dbs order by name",
                ", 'columns': {'parent': 'host', 'tags': 'labels', 'disabled': 'off'}"));
    assertThat(nodes).extracting(NodeSpec::name).containsExactly("d1", "d\u00e42");
    assertThat(nodes).extracting(NodeSpec::parent).containsExactly("a", "b");
    assertThat(nodes).extracting(NodeSpec::enabled).containsExactly(true, false);
    assertThat(nodes.get(0).tags()).containsExactlyInAnyOrder("ssd", "fast");
    assertThat(nodes.get(0).attributes().toString())
        .startsWith("{\"size\":18446744073709551615,\"at\":\"2026-11-21 07:00:00")
        .contains("\"ratio\":1.50")
        .contains("\"about\":\"{\\\"x\\\": 1}\"");
    assertThat(nodes.get(1).attributes().isEmpty()).isTrue();
  }

  @Test
  void eachParentIsAskedFor() throws Exception {
    assertThat(fetch(source("select name from dbs where host = ?", "")))
        .containsExactly(NodeSpec.child(2, "d1", "a"), NodeSpec.child(2, "d\u00e42", "b"));
  }

  @Test
  void manyRowsAreReadOneAfterTheOther() throws Exception {
    assertThat(
            fetch(
                source("select concat(`n`, seq) as name, `a` as parent from seq_1_to_100000", "")))
        .hasSize(100_000);
  }

  @Test
  void aSlowQueryIsGivenUpInTimeAndTheNextOneWorks() throws Exception {
    NodeSource slow = source("select sleep(60) as name, `a` as parent", ", 'timeout_sec': 1");
    assertThat(problem(slow)).containsAnyOf("failed", "did not answer within 1.0 s");
    assertThat(fetch(source("select name from dbs where host = ?", ""))).hasSize(2);
  }

  @Test
  void aWrongPasswordIsRefusedWithoutBeingShownAndTheRightOneIsReadFromItsFile() throws Exception {
    NodeSource source = source("select name from dbs where host = ?", "");
    assertThat(fetch(source)).hasSize(2);
    Files.writeString(directory.resolve("secret"), "s3cret-two");
    assertThat(problem(source)).contains("Access denied").doesNotContain("s3cret");
    server.sql("alter user reader identified by 's3cret-two'");
    assertThat(fetch(source)).hasSize(2);
    server.sql("alter user reader identified by 's3cret-one'");
    Files.writeString(directory.resolve("secret"), "s3cret-one");
    assertThat(fetch(source)).hasSize(2);
  }

  @Test
  void whatTheAccountMayNotDoIsSaid() {
    assertThat(problem(source("select nothing from dbs", ""))).contains("Unknown column");
    assertThat(problem(source("select user as name from mysql.user", ""))).contains("denied");
  }

  @Test
  void aServerThatWasAwayIsFoundAgain() throws Exception {
    NodeSource source = source("select name from dbs where host = ?", ", 'timeout_sec': 5");
    assertThat(fetch(source)).hasSize(2);
    server.kill();
    assertThat(problem(source)).doesNotContain("s3cret");
    server.start();
    assertThat(fetch(source)).hasSize(2);
  }
}
