package io.espalier.server.app.ownership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreException;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.ownership.StoreOwnership.Applicant;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlOwners;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import io.espalier.worker.process.os.RunPlace;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who has a store, on a real MariaDB. */
@Tag("slow")
@Timeout(120)
@ExtendWith(SharedMariaDb.class)
class StoreOwnershipTest {
  private static final String SCHEMA = "owners";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(400);
  private static final StartWaits WAITS = new StartWaits();

  private final DatabaseServer server;
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  StoreOwnershipTest(DatabaseServer server) {
    this.server = server;
  }

  @BeforeEach
  void begin() throws SQLException {
    server.createSchemas(SCHEMA);
  }

  @AfterEach
  void end() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }

  private MySqlAddress address() {
    return MySqlAddress.parse(server.address(SCHEMA));
  }

  private MySqlStatusStore store() {
    MySqlStatusStore store = MySqlStatusStore.open(address(), JsonReader.strict()::read);
    open.push(store);
    return store;
  }

  private static Applicant applicant(String name, Duration proof, boolean takeOver) {
    return new Applicant("owner " + name, "scheduler " + name, proof, takeOver);
  }

  private StoreOwnership take(String name, Duration proof, boolean takeOver) throws Exception {
    StoreOwnership taken =
        StoreOwnership.take(address(), applicant(name, proof, takeOver), WAITS).orElseThrow();
    open.push(taken);
    return taken;
  }

  @Test
  void aSchemaWithoutTablesCannotSayYet() throws Exception {
    assertThat(StoreOwnership.take(address(), applicant("a", LONG, false), WAITS)).isEmpty();
    store();
    assertThat(take("a", LONG, false).remainingMillis()).isPositive();
  }

  @Test
  void anotherOwnerIsRefusedUntilTheFirstHasEndedInOrder() throws Exception {
    store();
    StoreOwnership first = take("a", LONG, false);

    assertThatThrownBy(() -> take("b", LONG, false))
        .isInstanceOfSatisfying(
            CommandException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
        .hasMessageContaining("belongs to scheduler a since 20")
        .hasMessageContaining("this is scheduler b")
        .hasMessageContaining("--take-over");
    assertThat(first.remainingMillis()).isPositive();

    first.close();
    assertThat(take("b", LONG, false).remainingMillis()).isPositive();
  }

  @Test
  void theSameOwnerHasItAtOnceAndItsEarlierProcessLearnsOfIt() throws Exception {
    store();
    Queue<String> lost = new ConcurrentLinkedQueue<>();
    StoreOwnership first = take("a", LONG, false);
    AtomicInteger told = new AtomicInteger();
    first.prove(
        e -> {
          if (told.incrementAndGet() == 1) {
            throw new OutOfMemoryError("what fails is told again");
          }
          lost.add(e.getMessage());
        },
        () -> {});

    StoreOwnership second = take("a", LONG, false);

    await().atMost(PATIENCE).until(() -> !lost.isEmpty());
    assertThat(first.remainingMillis()).isZero();
    assertThat(first.isLost()).isTrue();
    assertThat(lost).singleElement().asString().contains("was taken over by scheduler a, epoch 0");
    assertThat(second.remainingMillis()).isPositive();
    // What has lost the store does not end it for the other one.
    first.close();
    assertThat(take("a", LONG, false).remainingMillis()).isPositive();
  }

  @Test
  void aSilentOwnerIsOutwaitedAndALiveOneIsNot() throws Exception {
    MySqlStatusStore store = store();
    StoreOwnership first = take("a", SHORT, false);
    store.ownedBy(first.process());
    store.openEpoch(new TakeOver(1, 700));
    long begin = System.nanoTime();

    StoreOwnership second = take("b", LONG, true);

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(SHORT.plusMillis(700));
    assertThat(first.remainingMillis()).isNotPositive();
    second.prove(e -> {}, () -> {});
    server.sql("update " + SCHEMA + ".espalier_owner set proof = 60000");
    assertThatThrownBy(() -> take("a", LONG, true))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("is in use: scheduler b has changed its row");
    assertThat(second.remainingMillis()).isPositive();
  }

  private StoreOwnership takeFrom(RunPlace place, Duration proof) throws Exception {
    String owner = new DirectoryOwner("an-id", place).toString();
    StoreOwnership taken =
        StoreOwnership.take(
                address(), new Applicant(owner, "scheduler at " + place, proof, false), WAITS)
            .orElseThrow();
    open.push(taken);
    return taken;
  }

  @Test
  void theCloneOfAMachineIsOutwaitedWithItsDirectoryAndRefusedWhileTheOtherOneLives()
      throws Exception {
    RunPlace original = new RunPlace("image", "product1", "boot1", "pid:[1]", "4711");
    RunPlace clone = new RunPlace("image", "product2", "boot2", "pid:[1]", "4711");
    store();
    takeFrom(original, LONG);
    // The same directory after a crash: the ten minutes of the proof are not waited for.
    StoreOwnership again = takeFrom(original, LONG);
    again.prove(e -> {}, () -> {});

    assertThatThrownBy(() -> takeFrom(clone, SHORT))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("is in use: scheduler at " + original);

    assertThat(again.remainingMillis()).isPositive();
    again.close();
    takeFrom(clone, SHORT);
    long begin = System.nanoTime();
    takeFrom(original, SHORT);
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(SHORT);
  }

  @Test
  void aWaitForAStoreEndsWhenTheStartIsGivenUp() throws Exception {
    store();
    StoreOwnership first = take("a", LONG, false);
    StartWaits waits = new StartWaits();
    CompletableFuture<Optional<StoreOwnership>> second = new CompletableFuture<>();
    Thread starting =
        new Thread(
            () -> {
              try {
                second.complete(StoreOwnership.take(address(), applicant("b", LONG, true), waits));
              } catch (InterruptedException | RuntimeException e) {
                second.completeExceptionally(e);
              }
            });
    starting.start();
    await().atMost(PATIENCE).until(() -> starting.getState() == Thread.State.TIMED_WAITING);
    waits.giveUp();

    assertThatThrownBy(() -> second.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .hasCauseInstanceOf(StartWaits.GivenUp.class);
    assertThat(first.remainingMillis()).isPositive();
    assertThat(take("a", LONG, false).remainingMillis()).isPositive();
  }

  @Test
  void aStoreThatIsAwayForTooLongIsNoProofAndOneThatIsBackIs() throws Exception {
    store();
    AtomicInteger unproven = new AtomicInteger();
    StoreOwnership mine = take("a", Duration.ofSeconds(1), false);
    try (Connection other =
            DriverManager.getConnection(
                "jdbc:mysql://127.0.0.1:" + server.port() + "/" + SCHEMA + "?user=root");
        Statement statement = other.createStatement()) {
      statement.execute("LOCK TABLES espalier_owner WRITE");
      mine.prove(
          e -> {},
          () -> {
            if (unproven.incrementAndGet() == 1) {
              throw new OutOfMemoryError("what fails once is tried again");
            }
          });
      await().atMost(PATIENCE).until(() -> unproven.get() > 1);
      assertThat(mine.remainingMillis()).isNotPositive();
      assertThat(mine.isLost()).isFalse();
      assertThat(mine.problem().orElse("")).contains("no worker is answered and no task started");
    }
    await().atMost(PATIENCE).until(() -> mine.remainingMillis() > 0);
    await().atMost(PATIENCE).until(() -> mine.problem().isEmpty());
  }

  @Test
  void onlyTheOwnerRaisesTheEpochAndWhoeverDoesItOtherwiseEndsTheOwnership() throws Exception {
    MySqlStatusStore store = store();
    StoreOwnership first = take("a", LONG, false);
    StoreOwnership second = take("a", LONG, false);
    store.ownedBy(first.process());
    assertThatThrownBy(() -> store.openEpoch(TakeOver.PLAIN))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("was taken over by another scheduler");
    assertThat(store.epoch()).isZero();
    store.ownedBy(second.process());
    assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(1);
    Queue<String> lost = new ConcurrentLinkedQueue<>();
    second.prove(e -> lost.add(e.getMessage()), () -> {});

    store().openEpoch(TakeOver.PLAIN);

    await().atMost(PATIENCE).until(() -> !lost.isEmpty());
    assertThat(second.isLost()).isTrue();
  }

  @Test
  void aLookBeforeTheStartMigratesNothing() throws Exception {
    MySqlStatusStore.check(address());
    assertThat(
            server.ask(
                "select count(*) from information_schema.tables where table_schema = '"
                    + SCHEMA
                    + "'"))
        .isEqualTo("0");
    store();
    server.sql("update " + SCHEMA + ".espalier_store set version = 5");
    MySqlStatusStore.check(address());
    assertThat(MySqlOwners.of(address()).read()).isEqualTo(Optional.empty());
    assertThat(server.ask("select version from " + SCHEMA + ".espalier_store")).isEqualTo("5");
    server.sql("update " + SCHEMA + ".espalier_store set version = 99");
    assertThatThrownBy(() -> MySqlStatusStore.check(address()))
        .hasMessageContaining("was written by a newer Espalier");
  }
}
