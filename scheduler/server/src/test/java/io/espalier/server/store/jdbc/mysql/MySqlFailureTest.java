package io.espalier.server.store.jdbc.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.store.StatusWriter;
import io.espalier.server.store.jdbc.JdbcWriter;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What goes wrong with a server that others look after, and what is said of it. */
@Tag("slow")
@ExtendWith(SharedMariaDb.class)
class MySqlFailureTest {
  private static final String SCHEMA = "failures";
  private static final String PASSWORD = "s3cret-word";

  private final DatabaseServer server;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path temp;

  MySqlFailureTest(DatabaseServer server) {
    this.server = server;
  }

  @BeforeEach
  void empty() throws SQLException {
    Schemas.empty(server(), SCHEMA);
    server().sql("create user if not exists app identified by '" + PASSWORD + "'");
    server().sql("grant all on " + SCHEMA + ".* to app");
  }

  private DatabaseServer server() {
    return server;
  }

  private MySqlAddress root() {
    return Schemas.address(server(), SCHEMA);
  }

  private MySqlAddress app(String password) throws Exception {
    Path file = Files.writeString(temp.resolve("password"), password + "\n");
    return MySqlAddress.parse("mysql://app@127.0.0.1:" + server().port() + "/" + SCHEMA)
        .withPasswordFile(file);
  }

  private static MySqlStatusStore open(MySqlAddress address) {
    return MySqlStatusStore.open(address, JsonReader.strict()::read);
  }

  private static void assertRefused(MySqlAddress address, String message) {
    assertThatThrownBy(() -> open(address))
        .isInstanceOf(StoreException.class)
        .hasMessageStartingWith("status store " + address + " " + message)
        .hasMessageNotContaining(PASSWORD)
        .hasMessageNotContaining("\n");
  }

  // ---- At the start

  @Test
  void a_password_comes_from_a_file_and_a_wrong_one_is_told_in_one_line() throws Exception {
    open(app(PASSWORD)).close();
    assertRefused(app("wrong"), "refuses user app: Access denied");
    Files.delete(temp.resolve("password"));
    assertRefused(
        MySqlAddress.parse("mysql://app@127.0.0.1:" + server().port() + "/" + SCHEMA)
            .withPasswordFile(temp.resolve("password")),
        "failed: there is no file with the password: " + temp.resolve("password"));
    assertRefused(
        root().withPasswordVariable("ESPALIER_NO_SUCH_VARIABLE"),
        "failed: the variable with the password is not set: ESPALIER_NO_SUCH_VARIABLE");
  }

  @Test
  void a_server_that_is_not_there_is_told() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    assertRefused(
        MySqlAddress.parse("mysql://root@127.0.0.1:" + free + "/x"),
        "cannot be reached: Connection refused");
    assertRefused(
        MySqlAddress.parse("mysql://root@no-such-host.invalid/x"),
        "cannot be reached: unknown host");
  }

  @Test
  void a_missing_schema_and_a_schema_of_others_are_told() throws Exception {
    assertRefused(Schemas.address(server(), "nowhere"), "has no schema nowhere: create it");
    server().sql("create database if not exists others");
    assertRefused(
        MySqlAddress.parse("mysql://app@127.0.0.1:" + server().port() + "/others")
            .withPasswordFile(app(PASSWORD).passwordFile().orElseThrow()),
        "lets user app do too little: Access denied");
  }

  @Test
  void an_account_that_may_not_write_is_told() throws Exception {
    server().sql("revoke all on " + SCHEMA + ".* from app", "grant select on failures.* to app");
    try (StatusStore store = open(app(PASSWORD))) {
      assertThatThrownBy(() -> store.openEpoch(TakeOver.PLAIN))
          .hasMessageContaining("lets user app do too little: ")
          .hasMessageContaining("command denied");
    }
  }

  @Test
  void a_schema_of_a_newer_espalier_is_refused() throws Exception {
    server().sql("update failures.espalier_store set version = 99");
    try {
      assertRefused(
          root(),
          "was written by a newer Espalier (schema 99; this one knows "
              + MySqlSchema.VERSION
              + "): use that version");
    } finally {
      server().sql("update failures.espalier_store set version = " + MySqlSchema.VERSION);
    }
  }

  @Test
  void a_migration_that_was_broken_off_is_done_again() throws Exception {
    server()
        .sql(
            "drop database if exists halves",
            "create database halves",
            "create table halves.something_else (x int)");
    open(Schemas.address(server(), "halves")).close();
    // As after a process that died in the middle of the first migration.
    server()
        .sql(
            "drop table halves.espalier_store",
            "drop table halves.espalier_event",
            "drop table halves.espalier_limit_override",
            "drop table halves.espalier_job_standing",
            "delete from halves.espalier_migration where version > '1'",
            "update halves.espalier_migration set success = 0 where version = '1'");
    try (StatusStore store = open(Schemas.address(server(), "halves"))) {
      store.commit(store.openEpoch(TakeOver.PLAIN).epoch(), batch(1));
      assertThat(store.jobs()).containsExactly("j");
    }
    assertThat(server().ask("select count(*) from halves.something_else")).isEqualTo("0");
  }

  @Test
  void a_later_migration_that_was_broken_off_is_done_again() throws Exception {
    server().createSchemas("later");
    LimitOverride limit = new LimitOverride("host", "slots", "n", 2, "ann", "", 1, 0);
    try (StatusStore store = open(Schemas.address(server(), "later"))) {
      store.commit(store.openEpoch(TakeOver.PLAIN).epoch(), batch(1));
    }
    server()
        .sql(
            "drop table later.espalier_limit_override",
            "delete from later.espalier_migration where cast(version as unsigned) > 2",
            "update later.espalier_store set version = 1",
            "update later.espalier_migration set success = 0 where version = '2'");
    try (StatusStore store = open(Schemas.address(server(), "later"))) {
      assertThat(store.jobs()).containsExactly("j");
      store.commit(
          store.openEpoch(TakeOver.PLAIN).epoch(), StoreTransaction.builder().limit(limit).build());
      assertThat(store.limits()).containsExactly(limit);
    }
  }

  @Test
  void a_read_only_server_is_told_and_writing_goes_on_when_it_is_none() throws Exception {
    try (StatusStore store = open(app(PASSWORD))) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      server().sql("set global read_only = 1");
      try {
        assertThatThrownBy(() -> store.commit(epoch, batch(1)))
            .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.retryable()).isTrue())
            .hasMessageContaining("is read-only: ");
        assertThat(store.jobs()).isEmpty();
      } finally {
        server().sql("set global read_only = 0");
      }
      store.commit(epoch, batch(1));
      assertThat(store.jobs()).containsExactly("j");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1114, HY000, true, has a full disk: no",
    "1021, HY000, true, has a full disk: no",
    "1205, 40001, true, is locked by somebody else: no",
    "1040, 08004, true, has no connection to spare: no",
    "1130, HY000, true, does not let this host in: no",
    "1836, HY000, true, is read-only: no",
    "1146, 42S02, false, is not as this program left it: no; restore it",
    "1406, 22001, false, failed: no",
    "1317, 70100, true, failed: no",
    "0, 08S01, true, cannot be reached: no",
  })
  void failures_say_what_is_wrong_and_whether_it_may_pass(
      int code, String state, boolean retryable, String message) {
    SQLException wrapped =
        new SQLTransientConnectionException("pool", new SQLException("no", state, code));
    StoreException failure = MySqlErrorTranslator.translate(root(), wrapped);
    assertThat(failure).hasMessage("status store " + root() + " " + message);
    assertThat(failure.retryable()).isEqualTo(retryable);
  }

  // ---- While it runs

  @Test
  void connections_that_the_server_has_ended_are_made_again() throws Exception {
    try (StatusStore store = open(root())) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      store.commit(epoch, batch(1));
      assertThat(store.jobs()).hasSize(1);
      killConnections();
      assertThatThrownBy(() -> store.commit(epoch, batch(2)))
          .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.retryable()).isTrue())
          .hasMessageContaining("cannot be reached: ");
      store.commit(epoch, batch(2));
      assertThat(store.newestEvent()).isEqualTo(2);
    }
  }

  private void killConnections() throws SQLException {
    List<String> ids = new ArrayList<>();
    String found =
        server()
            .ask(
                "select group_concat(id) from information_schema.processlist where db = '"
                    + SCHEMA
                    + "'");
    for (String id : String.valueOf(found).split(",", -1)) {
      ids.add("kill " + id);
    }
    server().sql(ids.toArray(String[]::new));
  }

  @Test
  void data_that_are_too_large_for_the_server_keep_nothing_else_from_being_stored()
      throws Exception {
    String before = String.valueOf(server().ask("select @@global.max_allowed_packet"));
    server().sql("set global max_allowed_packet = " + (4 << 20));
    try (StatusStore store = open(root())) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      StatusWriter writer = new StatusWriter(store, epoch, StatusWriter.Limits.DEFAULT);
      StatusRow large =
          new StatusRow(
              "j",
              "large",
              TaskStatus.of(Main.DONE, 1, 1)
                  .withData(Json.object().put("text", "x".repeat(5 << 20)).build()),
              new Invocation(epoch, 1, 1));
      List<CompletionStage<Void>> stages =
          List.of(
              writer.submit(StoreTransaction.of(List.of(row("j", "first")))),
              writer.submit(StoreTransaction.of(List.of(large, row("j", "beside")))),
              writer.submit(StoreTransaction.of(List.of(row("j", "last")))));
      for (int turn = 0; turn < 20 && writer.queueLength() > 0; turn++) {
        writer.drainOnce();
      }
      assertThat(stages).allMatch(stage -> stage.toCompletableFuture().isDone());
      assertThat(writer.failure()).isEmpty();
      List<String> nodes = new ArrayList<>();
      store.load("j", row -> nodes.add(row.node() + " " + row.status().data()));
      assertThat(nodes).hasSize(4).anyMatch(text -> text.contains("refused_by_store"));
    } finally {
      server().sql("set global max_allowed_packet = " + before);
    }
  }

  @Test
  void a_commit_whose_answer_was_lost_is_applied_once() throws Exception {
    try (AnswerThief between = new AnswerThief(server().port());
        StatusStore store =
            open(
                MySqlAddress.parse("mysql://root@127.0.0.1:" + between.port() + "/" + SCHEMA)
                    .withTls(MySqlAddress.Tls.DISABLED, Optional.empty()))) {
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      for (int i = 1; i <= 20; i++) {
        StoreTransaction batch = batch(i);
        if (i % 2 == 0) {
          between.stealNext(1);
          assertThatThrownBy(() -> store.commit(epoch, batch))
              .isInstanceOfSatisfying(
                  StoreException.class, e -> assertThat(e.retryable()).isTrue());
        }
        store.commit(epoch, batch);
        assertThat(store.history("j", "n").totals().ended()).isEqualTo(i);
        assertThat(store.newestEvent()).isEqualTo(i);
      }
      assertThat(between.stolen()).isEqualTo(10);
      assertThat(store.history("j", "n").totals().cpuMillis()).isEqualTo(200);
    }
  }

  @Test
  void a_leader_that_has_stopped_in_the_middle_of_a_transaction_does_not_keep_the_next_waiting()
      throws Exception {
    try (StatusStore old = open(root());
        StatusStore next = open(root())) {
      long epoch = old.openEpoch(TakeOver.PLAIN).epoch();
      // As by SIGSTOP: the transaction is open and nothing more comes.
      JdbcWriter stopped = JdbcWriter.open(new MySqlDialect(root()));
      stopped.begin();
      assertThat(stopped.take(epoch, 99)).isTrue();
      stopped.apply(batch(1));
      long begin = System.nanoTime();
      long newer = next.openEpoch(TakeOver.PLAIN).epoch();
      Duration waited = Duration.ofNanos(System.nanoTime() - begin);
      assertThat(newer).isEqualTo(epoch + 1);
      assertThat(waited).isLessThan(Duration.ofSeconds(12));
      assertThatThrownBy(stopped::commit).isInstanceOf(SQLException.class);
      assertThatThrownBy(() -> old.commit(epoch, batch(1))).isInstanceOf(StaleEpochException.class);
      assertThat(next.jobs()).isEmpty();
    }
  }

  @Test
  void names_longer_than_any_index_differ_by_their_end() throws Exception {
    try (StatusStore store = open(root())) {
      List<StatusRow> rows = new ArrayList<>();
      for (int length : new int[] {253, 254, 255, 256, 3_000, 70_000}) {
        for (String end : List.of("a", "A", "a ", "\u00e4", "\0")) {
          rows.add(row("j".repeat(length) + end, "n".repeat(length) + end));
        }
      }
      store.commit(store.openEpoch(TakeOver.PLAIN).epoch(), StoreTransaction.of(rows));
      List<StatusRow> found = new ArrayList<>();
      for (String job : store.jobs()) {
        store.load(job, found::add);
        assertThat(store.load(job, List.of("n" + job.substring(1).replace('j', 'n')))).hasSize(1);
      }
      assertThat(found.size()).isEqualTo(rows.size());
      assertThat(found.containsAll(rows)).isTrue();
    }
  }

  @Test
  void a_fresh_start_forgets_everything_in_its_own_epoch_only() throws Exception {
    try (MySqlStatusStore store = open(root())) {
      store.bindSource("file:/a.json");
      long old = store.openEpoch(TakeOver.PLAIN).epoch();
      store.commit(old, batch(1));
      store.commit(
          old,
          StoreTransaction.builder()
              .brake(Brake.of(Brake.Key.all(), 0).author("ann").sinceMillis(1).build())
              .rollout(new RolloutRow("j", 0, Json.object().put("stage", 1).build()))
              .build());
      long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
      assertThatThrownBy(() -> store.forgetEverything(old)).isInstanceOf(StaleEpochException.class);
      assertThat(store.jobs()).containsExactly("j");
      store.forgetEverything(epoch);
      assertThat(store.jobs()).isEmpty();
      assertThat(store.newestEvent()).isZero();
      assertThat(store.brakes()).isEmpty();
      assertThat(store.rollouts()).isEmpty();
      assertThatThrownBy(() -> store.commit(old, batch(2))).isInstanceOf(StaleEpochException.class);
      store.commit(epoch, batch(1));
      assertThat(store.history("j", "n").totals().ended()).isEqualTo(1);
    }
  }

  @Test
  void the_views_for_people_read_well() throws Exception {
    try (StatusStore store = open(root())) {
      store.commit(store.openEpoch(TakeOver.PLAIN).epoch(), batch(1));
    }
    assertThat(
            server()
                .ask(
                    "select concat_ws(' ', job, node, status, attempts,"
                        + " floor(unix_timestamp(since))) from failures.espalier_task"))
        .isEqualTo("j n done 1 1");
    assertThat(
            server()
                .ask(
                    "select concat_ws(' ', job, node, number, invocation, outcome, cpu_ms)"
                        + " from failures.espalier_task_attempt"))
        .isEqualTo("j n 1 1.1 done 10");
  }

  private static StatusRow row(String job, String node) {
    TaskStatus done = TaskStatus.of(Main.DONE, 1000, 1);
    return new StatusRow(job, node, done, new Invocation(1, 1, 0));
  }

  /** One end of one task, and its event. */
  private static StoreTransaction batch(int number) {
    StatusRow row = row("j", "n");
    return StoreTransaction.builder()
        .put(row)
        .attempt(
            Attempt.of(
                TaskResult.exited("j", "n", new Invocation(1, number, 1), null, 0)
                    .withUsage(new ResourceUsage(10, 5, -1, -1), false, 2),
                number,
                WorkerRef.LOCAL,
                row.status(),
                false,
                Attempt.UNKNOWN_WAIT,
                2))
        .append(new Event(number, 1, "task_ended", Json.Obj.EMPTY))
        .build();
  }
}
