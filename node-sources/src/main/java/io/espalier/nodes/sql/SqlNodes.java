package io.espalier.nodes.sql;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.ProbeUse;
import io.espalier.core.topology.PushDown;
import io.espalier.nodes.ColumnMapping;
import io.espalier.nodes.NameFormat;
import io.espalier.nodes.Prefs;
import io.espalier.nodes.RowToNodes;
import io.espalier.nodes.TimeLimit;
import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code sql}: the nodes that a database query returns.
 *
 * <p>Preferences: {@code parent_level}; {@code url} of JDBC, which may have {@code {parent}} or,
 * for probes, {@code {node}} in it, for a database of each parent or node; {@code query}, which
 * runs once for each parent if it has a parameter {@code ?}, the parent's name, once for up to
 * {@value #PARENTS_PER_QUERY} parents if it has {@code {parents}}, which becomes as many
 * parameters, for probes once for each node if it has {@code {node}}, a parameter with its name,
 * and otherwise once; {@code push_down} as in {@link Prefs#pushDown}; {@code user}; {@code
 * password_file} or {@code password_env}; {@code columns} as in {@link ColumnMapping}, where by
 * default every column without another meaning is an attribute, and a single column is the name;
 * {@code fetch_size} (1000); {@code refresh_sec}; {@code timeout_sec} (60) for connecting and for
 * each query with its rows.
 */
public final class SqlNodes implements NodeSource {
  private static final Logger LOG = LoggerFactory.getLogger(SqlNodes.class);

  /** SQLite allowed 999 parameters for long, SQL Server allows 2,100. */
  static final int PARENTS_PER_QUERY = 500;

  /** Databases that are asked at the same time, where each parent has its own. */
  private static final int DATABASES_AT_ONCE = 8;

  private final int parentLevel;
  private final SqlAccess access;
  private final String query;
  private final int parameters;
  private final boolean perParent;
  private final boolean perBatch;
  private final boolean perNode;
  private final boolean ofParent;
  private final PushDown pushDown;
  private final ColumnMapping columns;
  private final int fetchSize;
  private final Optional<Duration> refresh;
  private final String path;

  private SqlNodes(
      int parentLevel,
      SqlAccess access,
      String placeholder,
      String query,
      ColumnMapping columns,
      int fetchSize,
      PushDown pushDown,
      Optional<Duration> refresh,
      String path) {
    this.parentLevel = parentLevel;
    this.access = access;
    boolean isAboutNode = SqlText.nodes(query) == 1;
    this.query = isAboutNode ? SqlText.withNode(query) : query;
    this.parameters = isAboutNode ? 1 : SqlText.parameters(query);
    this.perNode = isAboutNode || placeholder.equals(SqlText.NODE);
    this.ofParent = placeholder.equals(SqlText.PARENT);
    this.perParent = ofParent || (!perNode && parameters == 1);
    this.perBatch = SqlText.lists(query) == 1;
    this.pushDown = pushDown;
    this.columns = columns;
    this.fetchSize = fetchSize;
    this.refresh = refresh;
    this.path = path;
  }

  /** A row, what people call it, and the parent that was asked for. */
  private record Row(Json value, String where, @Nullable String parent) {}

  /** Receives rows. */
  private interface Taker {
    void take(Json row, String where, @Nullable String parent)
        throws NodeSourceException, InterruptedException;
  }

  @Override
  public Optional<Duration> refreshEvery() {
    return refresh;
  }

  @Override
  public PushDown pushDown() {
    return pushDown;
  }

  @Override
  public ProbeUse probeUse() {
    return perNode ? ProbeUse.PER_NODE : ProbeUse.POSSIBLE;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    RowToNodes delivery =
        new RowToNodes(
            sink,
            parentLevel,
            columns,
            path,
            perBatch ? "" : "ask for the rows of each parent, with ? in \"query\"");
    if (ofParent) {
      askDatabases(soFar.names(parentLevel), delivery);
    } else if (perNode) {
      for (String node : soFar.names(parentLevel + 1)) {
        rows(List.of(node), delivery);
      }
    } else if (!perParent && !perBatch) {
      rows(List.of(), delivery);
    } else {
      List<String> parents = soFar.names(parentLevel);
      int step = perBatch ? PARENTS_PER_QUERY : 1;
      for (int i = 0; i < parents.size(); i += step) {
        rows(parents.subList(i, Math.min(parents.size(), i + step)), delivery);
      }
    }
    delivery.finish();
  }

  private void rows(List<String> parents, RowToNodes delivery)
      throws NodeSourceException, InterruptedException {
    rows(parents, (row, where, parent) -> deliver(row, where, parents, parent, delivery));
  }

  private void deliver(
      Json row, String where, List<String> parents, @Nullable String parent, RowToNodes delivery)
      throws NodeSourceException, InterruptedException {
    if (perNode) {
      delivery.valueOf(parents.get(0), row, where);
    } else {
      delivery.row(row, where, parent);
    }
  }

  /** Asks the database of each parent, some at the same time; the order is that of the parents. */
  private void askDatabases(List<String> parents, RowToNodes delivery)
      throws NodeSourceException, InterruptedException {
    ExecutorService threads =
        Executors.newFixedThreadPool(
            DATABASES_AT_ONCE,
            work -> {
              Thread thread = new Thread(work, "node-sql-ask");
              thread.setDaemon(true);
              return thread;
            });
    try {
      for (int i = 0; i < parents.size(); i += DATABASES_AT_ONCE) {
        List<String> some = parents.subList(i, Math.min(parents.size(), i + DATABASES_AT_ONCE));
        List<Future<List<Row>>> answers =
            threads.invokeAll(some.stream().map(parent -> work(parent)).toList());
        for (Future<List<Row>> answer : answers) {
          for (Row row : rowsOf(answer)) {
            delivery.row(row.value(), row.where(), row.parent());
          }
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private Callable<List<Row>> work(String parent) {
    return () -> {
      List<Row> rows = new ArrayList<>();
      rows(
          List.of(parent),
          (row, where, of) -> {
            if (rows.size() == RowToNodes.MAX_NODES) {
              throw failure(parent, "has more than %,d rows".formatted(RowToNodes.MAX_NODES));
            }
            rows.add(new Row(row, where, parent));
          });
      return rows;
    };
  }

  private static List<Row> rowsOf(Future<List<Row>> answer)
      throws NodeSourceException, InterruptedException {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NodeSourceException problem) {
        throw problem;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  private void rows(List<String> parents, Taker taker)
      throws NodeSourceException, InterruptedException {
    Duration limit = access.timeout();
    String asked = parents.size() == 1 ? parents.get(0) : "";
    try {
      // Drivers do not always observe their time limit, and ignore interruption.
      long number = TimeLimit.call(limit.multipliedBy(2), "node-sql", () -> ask(parents, taker));
      LOG.trace("{} rows", number);
    } catch (TimeoutException e) {
      access.forget();
      throw failure(asked, "did not answer within " + limit.toMillis() / 1000.0 + " s");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NodeSourceException problem) {
        throw problem;
      }
      throw failure(asked, why(e.getCause()));
    }
  }

  private String why(@Nullable Throwable cause) {
    if (cause instanceof SqlAccess.Unusable || cause == null) {
      return cause == null ? "failed" : String.valueOf(cause.getMessage());
    }
    String message = access.withoutSecrets(String.valueOf(cause.getMessage()));
    return cause instanceof SQLException
        ? "failed: " + message
        : "failed: " + cause.getClass() + " " + message;
  }

  private NodeSourceException failure(String asked, String why) {
    return new NodeSourceException(List.of(Problem.error(path, access.shown(asked) + " " + why)));
  }

  private long ask(List<String> parents, Taker taker)
      throws SQLException,
          IOException,
          SqlAccess.Unusable,
          NodeSourceException,
          InterruptedException {
    String parent = perParent ? parents.get(0) : null;
    String text = perBatch ? SqlText.withParameters(query, parents.size()) : query;
    String asked = parents.size() == 1 ? parents.get(0) : "";
    String of = access.shown(asked) + (parent == null ? "" : " for \"" + parent + "\"");
    AtomicLong number = new AtomicLong();
    try (SqlAccess.Session session = access.open(asked);
        PreparedStatement statement = session.connection().prepareStatement(text)) {
      access.prepare(statement, fetchSize);
      for (int i = 0; i < (perBatch ? parents.size() : parameters); i++) {
        statement.setString(i + 1, parents.get(i));
      }
      try (ResultSet rows = statement.executeQuery()) {
        SqlRows.read(
            rows,
            perNode ? "value" : columns.nameColumn(),
            row -> taker.take(row, "row " + number.incrementAndGet() + " of " + of, parent));
      }
    }
    return number.get();
  }

  @Override
  public void close() {
    access.close();
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    private static final int MOST_FETCHED = 1_000_000;
    private static final Pattern SECRET = Pattern.compile("(?i)passw|pwd|secret|token");

    @Override
    public String name() {
      return "sql";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      String url = prefs.requireString("url", "an address of JDBC, such as jdbc:mysql://host/db");
      if (url != null) {
        checkUrl(url, prefs);
      }
      String query = prefs.requireString("query", "a query of SQL");
      if (query != null) {
        checkQuery(query, prefs);
      }
      String placeholder = url == null ? "" : placeholder(url, query == null ? "" : query, prefs);
      if (prefs.get("password") != null) {
        // Without its value, because problems are printed.
        prefs.error(
            prefs.at("password"),
            prefs.object().keyAt("password"),
            null,
            "a password does not belong into a configuration",
            "write it into a file and name that as \"password_file\", or name a variable as"
                + " \"password_env\"");
      }
      boolean isPerNode =
          placeholder.equals(SqlText.NODE) || (query != null && SqlText.nodes(query) > 0);
      SqlAccess access =
          SqlAccess.read(
              prefs,
              url == null ? "jdbc:" : url,
              placeholder,
              context.configDirectory(),
              prefs.timeout(isPerNode));
      ColumnMapping columns = ColumnMapping.read(prefs, true);
      int fetchSize = (int) prefs.integer("fetch_size", 1000, 1, MOST_FETCHED);
      boolean byParents =
          placeholder.equals(SqlText.PARENT)
              || (query != null && SqlText.parameters(query) + SqlText.lists(query) > 0);
      PushDown pushDown = prefs.pushDown(byParents, parentLevel);
      Optional<Duration> refresh = prefs.refresh();
      return prefs.finish(
          () ->
              new SqlNodes(
                  parentLevel,
                  access,
                  placeholder,
                  query == null ? "" : query,
                  columns,
                  fetchSize,
                  pushDown,
                  refresh,
                  spec.path()));
    }

    private static void checkUrl(String url, Prefs prefs) {
      Json value = prefs.get("url");
      if (value == null) {
        return;
      }
      int query = url.indexOf('?') < 0 ? url.length() : url.indexOf('?');
      boolean account = url.lastIndexOf('@', query) > url.indexOf("//") && url.contains("//");
      if (!url.toLowerCase(Locale.ROOT).startsWith("jdbc:")) {
        prefs.expected("url", value, "an address of JDBC, which begins with jdbc:");
      } else if (account || SECRET.matcher(url).find()) {
        // Without its value, because problems are printed.
        prefs.error(
            prefs.at("url"),
            value.at(),
            null,
            "an account or a password does not belong into an address",
            "write \"user\", and \"password_file\" or \"password_env\"");
      }
    }

    /** Returns what the name of a node replaces in the address; empty: nothing. */
    private static String placeholder(String url, String query, Prefs prefs) {
      boolean ofParent = url.contains(SqlText.PARENT);
      boolean ofNode = url.contains(SqlText.NODE);
      int options = url.indexOf('?');
      String placeholder = ofParent ? SqlText.PARENT : ofNode ? SqlText.NODE : "";
      if (ofParent && ofNode) {
        NameFormat.problem(prefs, "url", "there is {parent} and {node}, use one of them", null);
      } else if (url.contains(SqlText.PARENTS)) {
        NameFormat.problem(
            prefs, "url", "an address is of one database", "write {parent} for one of each parent");
      } else if (options >= 0 && url.lastIndexOf(placeholder) > options && !placeholder.isEmpty()) {
        NameFormat.problem(
            prefs, "url", "a name cannot be an option", "write " + placeholder + " before the ?");
      } else if ((ofParent && SqlText.lists(query) + SqlText.nodes(query) > 0)
          || (ofNode && SqlText.lists(query) + SqlText.parameters(query) > 0)) {
        NameFormat.problem(
            prefs,
            "query",
            "the address is of one " + (ofParent ? "parent" : "node") + ", the query is not",
            "write " + (ofParent ? "?" : "{node}") + " for its name");
      }
      return placeholder;
    }

    private static void checkQuery(String query, Prefs prefs) {
      int parameters = SqlText.parameters(query) + SqlText.lists(query) + SqlText.nodes(query);
      if (query.isBlank() || parameters > 1) {
        NameFormat.problem(
            prefs,
            "query",
            query.isBlank()
                ? "the query is empty"
                : "the query has "
                    + parameters
                    + " parameters, at most one can be the parent, {parents} or {node}",
            null);
      }
    }
  }
}
