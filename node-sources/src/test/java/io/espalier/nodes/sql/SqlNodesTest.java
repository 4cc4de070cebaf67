package io.espalier.nodes.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.ProbeUse;
import io.espalier.core.topology.PushDown;
import io.espalier.nodes.Tree;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against SQLite; {@code SqlNodesOnMySqlTest} is against a server. */
@Timeout(120)
class SqlNodesTest extends NodeSourceContract {
  private static final Levels TWO = Levels.of(List.of("host", "db"));
  private static final Levels ONE = Levels.of(List.of("host"));

  private final Path directory;

  SqlNodesTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Override
  protected NodeSourceType type() {
    return new SqlNodes.Type();
  }

  @Override
  protected String configDirectory() {
    return directory.toString();
  }

  private String url() {
    return "jdbc:sqlite:" + directory.resolve("inventory.db");
  }

  private void sql(String... statements) {
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.executeUpdate(sql);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected Example example() {
    sql(
        "create table if not exists dbs (id integer primary key, db text, host text, labels text,"
            + " off integer, gb real, n integer)",
        "delete from dbs",
        "insert into dbs values (1, 'd1', 'b', 'ssd,fast', 0, 1.5, 7), (2, 'd2', 'a', null, 1,"
            + " null, null)");
    Json.Obj prefs =
        Tree.prefs(
            "{\"parent_level\": \"host\", \"url\": \""
                + url()
                + "\", \"query\": \"select db, host, labels, off, gb, n as number, id from dbs"
                + " order by id -- ?\", \"user\": \"\", \"columns\": {\"name\": \"db\", \"parent\":"
                + " \"host\", \"tags\": \"labels\", \"disabled\": \"off\", \"attributes\":"
                + " [\"gb\", \"number\"]}, \"fetch_size\": 5, \"refresh_sec\": 30,"
                + " \"timeout_sec\": 20}");
    return new Example(
        TWO,
        prefs,
        List.of(NodeSpec.child(1, "a", null), NodeSpec.child(1, "b", null)),
        List.of(
            new NodeSpec(
                2,
                "d1",
                "b",
                1,
                true,
                Set.of("ssd", "fast"),
                Json.object().put("gb", 1.5).put("number", 7).build()),
            new NodeSpec(2, "d2", "a", 1, false, Set.of(), Json.Obj.EMPTY)));
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("parent_level", "url", "query"),
        Tree.prefs(
            "{\"parent_level\": \"rack\", \"url\": \"http://x\", \"query\": \" \", \"password\":"
                + " \"s3cret\", \"user\": 3, \"password_file\": \"\", \"password_env\": \"PATH\","
                + " \"columns\": 1, \"fetch_size\": 0, \"refresh_sec\": \"1\", \"timeout_sec\":"
                + " 1e9}"),
        List.of(
            "parent_level",
            "url",
            "query",
            "password",
            "user",
            "password_file",
            "password_env",
            "columns",
            "fetch_size",
            "refresh_sec",
            "timeout_sec"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"url\": \"jdbc:mysql://joe:s3cret@db/x\", \"query\":"
                + " \"select ?, ?\"}"),
        List.of("url", "query"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"url\": \"jdbc:mysql://db/x?password=s3cret\","
                + " \"query\": \"select 1\"}"),
        List.of("url"),
        prefs("host", "select ? where 1 in ({parents})", ", 'push_down': 'one'"),
        List.of("query", "push_down"),
        prefs("host", "select '?', '{parents}' -- {parents}", ", 'push_down': 'one_parent'"),
        List.of("push_down"),
        prefs("instance", "select ?", ", 'push_down': 'all_parents'"),
        List.of("push_down"));
  }

  @Test
  void aProbeAsksAboutEachNodeByParameter() throws Exception {
    sql("create table lag (host text, s real)", "insert into lag values ('it''s', 7.5), ('b', 1)");
    List<NodeSpec> hosts =
        List.of(NodeSpec.child(1, "it's", null), NodeSpec.child(1, "gone", null));
    for (String query :
        List.of(
            "select s from lag where host = {node}",
            "select s as value, '{node}' as x from lag where host = {node} -- {node}")) {
      NodeSource source =
          source(ONE, prefs("instance", query, ", 'columns': {'attributes': ['value']}"));
      assertThat(source.probeUse()).isEqualTo(ProbeUse.PER_NODE);
      assertThat(NodeRecorder.fetch(source, ONE, hosts, NOW))
          .containsExactly(
              new NodeSpec(
                  1, "it's", null, 0, true, Set.of(), Json.object().put("value", 7.5).build()));
    }
    assertThat(create(ONE, prefs("instance", "select {node} where 1 = ?", "")).problems())
        .hasSize(1);
  }

  @Override
  protected List<Json.Obj> failingPrefs() {
    return List.of(
        prefs("host", "select nothing from dbs", ""),
        prefs("host", "select db from dbs", ""),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"url\": \"jdbc:sqlite:/nowhere/x.db\", \"query\":"
                + " \"select 1\"}"));
  }

  private Json.Obj prefs(String level, String query, String more) {
    return Tree.prefs(
        "{\"parent_level\": \"%s\", \"url\": \"%s\", \"query\": \"%s\"%s}"
            .formatted(level, url(), query, more.replace('\'', '"')));
  }

  private List<NodeSpec> hosts(String query, String more) throws Exception {
    NodeSource source = source(ONE, prefs("instance", query, more));
    try {
      return NodeRecorder.fetch(source, ONE, List.of(), NOW);
    } finally {
      source.close();
    }
  }

  private List<String> problems(Json.Obj prefs) {
    NodeSource source = source(ONE, prefs);
    List<String> problems = new ArrayList<>();
    assertThatThrownBy(() -> NodeRecorder.fetch(source, ONE, List.of(), NOW))
        .isInstanceOfSatisfying(
            NodeSourceException.class,
            e -> e.problems().stream().map(Problem::toString).forEach(problems::add));
    source.close();
    return problems;
  }

  @Test
  void aSingleColumnIsTheNameWhateverItIsCalled() throws Exception {
    sql("create table h (x text)", "insert into h values ('h1'), ('h 2')");
    assertThat(hosts("select x from h order by rowid", ""))
        .containsExactly(NodeSpec.child(1, "h1", null), NodeSpec.child(1, "h 2", null));
    assertThat(hosts("select 17 union select 18", "")).hasSize(2);
  }

  @Test
  void otherColumnsAreAttributesUnlessTheConfigurationSaysWhich() throws Exception {
    sql("create table h (name text, dc text, size integer)", "insert into h values ('h', 'x', 5)");
    assertThat(hosts("select * from h", "").get(0).attributes())
        .isEqualTo(Json.object().put("dc", "x").put("size", 5).build());
    assertThat(
            hosts("select * from h", ", 'columns': {'attributes': ['size']}").get(0).attributes())
        .isEqualTo(Json.object().put("size", 5).build());
  }

  @Test
  void aQueryWithAParameterIsAskedForEachParent() throws Exception {
    sql("create table d (host text, db text)", "insert into d values ('a', 'x'), ('it''s', 'y')");
    NodeSource source = source(TWO, prefs("host", "select db from d where host = ?", ""));
    List<NodeSpec> parents =
        List.of(
            NodeSpec.child(1, "a", null),
            NodeSpec.child(1, "it's", null),
            NodeSpec.child(1, "'; drop table d; --", null));
    assertThat(NodeRecorder.fetch(source, TWO, parents, NOW))
        .containsExactly(NodeSpec.child(2, "x", "a"), NodeSpec.child(2, "y", "it's"));
    source.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "select '?', \"?\", `?` -- ? | 0",
        "select ? /* ? */ # ? | 1",
        "select 'it''s ?' where a = ? | 1",
        "select '? | 0",
        "?/**/? | 2"
      })
  void parametersAreFoundAsADriverFindsThem(String query, int parameters) {
    assertThat(SqlText.parameters(query)).isEqualTo(parameters);
  }

  @Test
  void unusableRowsAreNamed() {
    sql(
        "create table h (name text, disabled text)",
        "insert into h values ('a', 'no'), (null, '0'), ('', '1'), ('a\u0007', null)");
    assertThat(problems(prefs("instance", "select * from h", "")))
        .containsExactly(
            "error "
                + PATH
                + ": row 1 of "
                + url()
                + " has \"disabled\" that is neither true nor"
                + " false: \"no\"",
            "error " + PATH + ": row 2 of " + url() + " has no \"name\"",
            "error " + PATH + ": row 3 of " + url() + " is not a node: its name is empty",
            "error "
                + PATH
                + ": row 4 of "
                + url()
                + " is not a node: its name contains a control"
                + " character or line break (U+0007)");
  }

  @Test
  void manyParentsAreAskedForInBatchesAsParameters() throws Exception {
    sql("create table db (name text, host text)");
    List<NodeSpec> hosts = new ArrayList<>();
    for (int i = 0; i < 2 * SqlNodes.PARENTS_PER_QUERY + 1; i++) {
      hosts.add(NodeSpec.child(1, "o'h\"?" + i, null));
    }
    sql(
        "insert into db values ('d0', 'o''h\"?0'), ('d1', 'o''h\"?1000'), ('d2', 'o''h\"?777'),"
            + " ('d3', 'elsewhere')");
    NodeSource source =
        source(
            TWO,
            prefs(
                "host",
                "select name, host as parent from db /* {parents} */ where host in ({parents})",
                ", 'push_down': 'one_parent'"));
    assertThat(source.pushDown()).isEqualTo(PushDown.ONE_PARENT);
    assertThat(NodeRecorder.fetch(source, TWO, hosts, NOW))
        .containsExactlyInAnyOrder(
            NodeSpec.child(2, "d0", "o'h\"?0"),
            NodeSpec.child(2, "d1", "o'h\"?1000"),
            NodeSpec.child(2, "d2", "o'h\"?777"));
    assertThat(NodeRecorder.fetch(source, TWO, List.of(), NOW)).isEmpty();
    source.close();
  }

  @ParameterizedTest
  @CsvSource({
    "select name from db, ', or ask for the rows of each parent, with ? in \"query\"'",
    "select name from db /* {parents} */ where name in ({parents}), ''"
  })
  void rowsWithoutAParentAreOneProblem(String query, String more) {
    sql("create table db (name text)", "insert into db values ('x'), ('y'), ('z')");
    NodeSource source = source(TWO, prefs("host", query, ""));
    List<NodeSpec> parents =
        List.of(
            NodeSpec.child(1, "x", null),
            NodeSpec.child(1, "y", null),
            NodeSpec.child(1, "z", null));
    assertThatThrownBy(() -> NodeRecorder.fetch(source, TWO, parents, NOW))
        .isInstanceOfSatisfying(
            NodeSourceException.class,
            e ->
                assertThat(e.problems())
                    .singleElement()
                    .hasToString(
                        "error %s: row 1 of %s names no parent, nor do 2 more rows; give each row its \"parent\"%s"
                            .formatted(PATH, url(), more)));
    source.close();
  }

  @Test
  void aDatabaseThatIsNotThereIsNotMade() {
    assertThat(problems(prefs("instance", "select 1", "")))
        .singleElement()
        .asString()
        .contains("cannot be reached");
    assertThat(directory.resolve("inventory.db")).doesNotExist();
  }

  @Test
  void aServerThatIsAwayIsDescribedInOneLineWithTheReason() {
    assertThat(
            problems(
                Tree.prefs(
                    "{\"parent_level\": \"instance\", \"url\": \"jdbc:mysql://127.0.0.1:1/\","
                        + " \"query\": \"select 1\"}")))
        .singleElement()
        .asString()
        .contains("cannot be reached: Connection refused")
        .doesNotContain("\n");
  }

  @Test
  void aQueryThatTakesTooLongIsGivenUp() {
    sql("create table h (name text)");
    String endless =
        "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n where x <"
            + " 0";
    assertThat(problems(prefs("instance", endless, ", 'timeout_sec': 1")))
        .singleElement()
        .asString()
        .matches(".*(failed|did not answer within 1.0 s).*");
  }

  @Test
  void anAddressWithoutADriverIsSaid() {
    assertThat(
            problems(
                Tree.prefs(
                    "{\"parent_level\": \"instance\", \"url\": \"jdbc:nosuch://db/x\", \"query\":"
                        + " \"select 1\"}")))
        .containsExactly(
            "error "
                + PATH
                + ": jdbc:nosuch://db/x has no driver here: put its jar into plugins/ beside"
                + " espalier");
  }

  @Test
  void passwordsComeFromFilesOrVariablesAndAreNeverShown() throws Exception {
    sql("create table h (name text)", "insert into h values ('h')");
    String file = ", 'user': 'joe', 'password_file': 'secret'";
    assertThat(problems(prefs("instance", "select * from h", file)))
        .singleElement()
        .asString()
        .endsWith("has no file with its password: " + directory.resolve("secret"));
    Files.writeString(directory.resolve("secret"), "s3cret\n");
    assertThat(hosts("select * from h", file)).hasSize(1);
    assertThat(hosts("select * from h", ", 'password_env': 'PATH'")).hasSize(1);
    assertThat(
            problems(
                prefs("instance", "select * from h", ", 'password_env': 'ESPALIER_NOT_SET_X'")))
        .singleElement()
        .asString()
        .contains("has its password in a variable that is not set");
    assertThat(problems(prefs("instance", "select s3cret from h", file)))
        .singleElement()
        .asString()
        .doesNotContain("s3cret");
    for (Json.Obj bad : badPrefs().keySet()) {
      assertThat(create(TWO, bad).problems().toString()).doesNotContain("s3cret");
    }
  }

  @Test
  void anInterruptedFetchSaysSo() {
    sql("create table h (name text)");
    NodeSource source = source(ONE, prefs("instance", "select * from h", ""));
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> NodeRecorder.fetch(source, ONE, List.of(), NOW))
        .isInstanceOf(InterruptedException.class);
    source.close();
  }
}
