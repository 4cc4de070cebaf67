package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.Topology;
import io.espalier.nodes.sql.SqlNodes;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Schedulers of one configuration that each ask a database for their own part. The size of the
 * measurement is the property {@code rows}.
 */
@Timeout(600)
final class PushDownTest {
  private static final Duration HOUR = Duration.ofHours(1);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private Instant now = Instant.ofEpochSecond(1_000_000);

  private String url() {
    return "jdbc:sqlite:" + directory.resolve("fleet.db");
  }

  private void sql(String... statements) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      for (String sql : statements) {
        statement.executeUpdate(sql);
      }
      connection.commit();
    }
  }

  private String source(String parentLevel, String query, String more) {
    return ("{'source': 'sql', 'change_guard': {'enabled': false}, 'prefs': {'parent_level': '%s',"
            + " 'url': '%s', 'query': '%s'%s}}")
        .formatted(parentLevel, url(), query, more);
  }

  private Settings settings(String... sources) {
    return SettingsText.nodes(
        "'levels': ['rack', 'host', 'db'], 'node_sources': [" + String.join(",", sources) + "]");
  }

  private NodeFetcher fetcher(String shard) {
    Map<String, NodeSourceType> types = Map.of("sql", new SqlNodes.Type());
    return new NodeFetcher(
        types,
        "here",
        new NodeSourceContext(directory.toString(), ""),
        shard.isEmpty() ? Partition.WHOLE : Partition.parse(shard));
  }

  private NodeSourceCoordinator live(String shard) {
    return new NodeSourceCoordinator(fetcher(shard), HOUR, HOUR, () -> now);
  }

  /** Each edge of a tree, as text. */
  private static SortedSet<String> edges(Result<Topology> result) {
    Topology tree = result.value();
    assertThat(tree).as(result.problems().toString()).isNotNull();
    TreeSet<String> edges = new TreeSet<>();
    for (int node = 1; node < Objects.requireNonNull(tree).size(); node++) {
      for (int i = 0; i < tree.slotCount(node); i++) {
        edges.add(tree.name(tree.parent(tree.slot(node, i))) + " > " + tree.name(node));
      }
    }
    return edges;
  }

  private static String push(String mode) {
    return ", 'push_down': '" + mode + "'";
  }

  private void fleet(int racks, int hosts, int dbs) throws SQLException {
    sql(
        "create table hosts (host text primary key, rack text)",
        "create index by_rack on hosts (rack)",
        "create table dbs (db text, host text)",
        "create index by_host on dbs (host)",
        "create index by_db on dbs (db)");
    try (Connection connection = DriverManager.getConnection(url())) {
      connection.setAutoCommit(false);
      try (PreparedStatement host = connection.prepareStatement("insert into hosts values (?, ?)");
          PreparedStatement db = connection.prepareStatement("insert into dbs values (?, ?)")) {
        for (int i = 0; i < hosts; i++) {
          host.setString(1, "h" + i);
          host.setString(2, "r" + i % racks);
          host.execute();
        }
        for (int i = 0; i < dbs; i++) {
          db.setString(1, "d" + i);
          db.setString(2, "h" + i % hosts);
          db.execute();
        }
      }
      connection.commit();
    }
  }

  private Settings pushedDown() {
    return settings(
        source("instance", "select distinct rack from hosts order by rack", ""),
        source("rack", "select host from hosts where rack = ? order by host", push("one_parent")),
        source(
            "host",
            "select db as name, host as parent from dbs where host in ({parents})",
            push("one_parent")));
  }

  @Test
  void twelveSchedulersReadEachRowOnce() throws Exception {
    int rows = Integer.getInteger("rows", 10_000);
    int hosts = rows / 10;
    fleet(200, hosts, rows);
    Settings settings = pushedDown();
    long allRows = 0;
    long most = 0;
    TreeSet<String> all = new TreeSet<>();
    for (int i = 0; i < 12; i++) {
      NodeSourceCoordinator live = live(i + "/12");
      long begin = System.nanoTime();
      Result<Topology> tree = live.fetch(settings, now);
      long millis = (System.nanoTime() - begin) / 1_000_000;
      List<Long> read = live.sources().stream().map(SourceState::nodes).toList();
      System.out.println("scheduler " + i + " read " + read + " rows in " + millis + " ms");
      assertThat(read.get(0)).isEqualTo(200);
      assertThat(Objects.requireNonNull(tree.value()).size() - 1)
          .as("it read nothing that it does not have, but racks")
          .isEqualTo((int) (read.get(1) + read.get(2) + racks(tree)));
      allRows += read.get(2);
      most = Math.max(most, read.get(2));
      all.addAll(edges(tree));
      live.close();
    }
    assertThat(allRows).isEqualTo(rows);
    assertThat(most).isLessThan(rows / 6);
    assertThat(all).hasSize(200 + hosts + rows);
  }

  private static long racks(Result<Topology> tree) {
    return edges(tree).stream().filter(edge -> edge.startsWith("here > ")).count();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void whateverMovesTheTreesAreThoseOfAllNodes(long seed) throws Exception {
    Random random = new Random(seed);
    fleet(9, 40, 300);
    Settings settings = pushedDown();
    List<NodeSourceCoordinator> schedulers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      schedulers.add(live(i + "/3"));
    }
    for (int step = 0; step < 12; step++) {
      SortedSet<String> all = edges(fetcher("").fetch(settings, now));
      TreeSet<String> parts = new TreeSet<>();
      int size = 0;
      for (NodeSourceCoordinator scheduler : schedulers) {
        SortedSet<String> part = edges(scheduler.fetch(settings, now));
        size += part.size();
        parts.addAll(part);
      }
      assertThat(parts).isEqualTo(all).hasSize(size);
      sql(
          "update hosts set rack = 'r%d' where host = 'h%d'"
              .formatted(random.nextInt(12), random.nextInt(40)),
          "update dbs set host = 'h%d' where db = 'd%d'"
              .formatted(random.nextInt(40), random.nextInt(300)),
          "delete from dbs where db = 'd" + random.nextInt(300) + "'");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void nodesWithSeveralParentsHaveOneSchedulerIfAllTheirParentsAreNamed(long seed)
      throws Exception {
    Random random = new Random(seed);
    fleet(9, 1200, 1500);
    sql(
        IntStream.range(0, 300)
            .mapToObj(i -> "insert into dbs values ('d" + i + "', 'h" + random.nextInt(1200) + "')")
            .toArray(String[]::new));
    sql(
        "create table u as select distinct db, host from dbs",
        "drop table dbs",
        "alter table u rename to dbs",
        "create index by_host_again on dbs (host)");
    String racks = source("instance", "select distinct rack from hosts", "");
    String hosts = source("rack", "select host as name, rack as parent from hosts", "");
    Settings pushed =
        settings(
            racks,
            hosts,
            source(
                "host",
                "select db as name, host as parent from dbs where db in (select db from dbs where"
                    + " host in ({parents}))",
                push("all_parents")));
    Settings complete =
        settings(racks, hosts, source("host", "select db as name, host as parent from dbs", ""));
    for (int i = 0; i < 3; i++) {
      NodeSourceCoordinator live = live(i + "/3");
      assertThat(edges(live.fetch(pushed, now)))
          .isEqualTo(edges(live(i + "/3").fetch(complete, now)));
      assertThat(live.sources().get(2).nodes()).isLessThan(1750);
    }
    assertThat(edges(live("").fetch(pushed, now))).isEqualTo(edges(live("").fetch(complete, now)));
  }

  @Test
  void aNodeWithTwoParentsThatIsSaidToHaveOneIsAProblem() throws Exception {
    fleet(3, 6, 20);
    sql("insert into dbs values ('d7', 'h4')");
    for (String shard : List.of("", "0/1")) {
      Result<Topology> tree = live(shard).fetch(pushedDown(), now);
      assertThat(tree.value()).isNull();
      assertThat(tree.problems())
          .extracting(Problem::message)
          .containsExactly(
              "the source gives \"d7\" the parents \"h1\" and \"h4\", but has \"push_down\":"
                  + " \"one_parent\"");
    }
  }

  @Test
  void whenAParentComesItsSourceIsAskedAtOnce() throws Exception {
    fleet(3, 6, 20);
    Settings settings =
        settings(
            source("instance", "select distinct rack from hosts order by rack", ""),
            source(
                "rack",
                "select host from hosts where rack = ? order by host",
                push("one_parent") + ", 'refresh_sec': 10"),
            source("host", "select db from dbs where host = ?", push("one_parent")));
    List<NodeSourceCoordinator> schedulers = List.of(live("0/2"), live("1/2"));
    for (NodeSourceCoordinator scheduler : schedulers) {
      scheduler.fetch(settings, now);
    }
    sql("insert into hosts values ('new', 'r0')", "insert into dbs values ('born', 'new')");
    now = now.plusSeconds(11);
    TreeSet<String> all = new TreeSet<>();
    for (NodeSourceCoordinator scheduler : schedulers) {
      all.addAll(edges(scheduler.refresh(settings, now)));
    }
    assertThat(all).contains("r0 > new", "new > born");
  }
}
