package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Partition;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.protocol.SchedulerProtocol.Past;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StatusStore.Taken;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.app.options.DataDirectoryOwner;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.ownership.GroupMark.Known;
import io.espalier.server.app.ownership.StoreHistory;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.EpochFile;
import io.espalier.server.store.EventMark;
import io.espalier.server.store.jdbc.sqlite.SqliteBackup;
import io.espalier.server.store.jdbc.sqlite.SqliteDialect;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Against a real server of ZooKeeper. */
@Timeout(120)
class ZooKeeperMarkTest {
  private static final String SOURCE = "file:///site.json";

  private final Path directory;
  private TestingServer server;
  private ZooKeeperLink link;
  private ZooKeeperMark mark;

  ZooKeeperMarkTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @BeforeEach
  void start() throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    server = new TestingServer(true);
    link = ZooKeeperLink.open(ZooKeeperTarget.parse(server.getConnectString() + "/group/of/two"));
    mark = new ZooKeeperMark(link);
  }

  @AfterEach
  void stop() throws Exception {
    link.close();
    server.close();
  }

  @Test
  void whatOneSchedulerWritesTheOthersRead() {
    assertThat(mark.read()).isEqualTo(Known.NOTHING);
    mark.write(new Known(3, 90_000, ""));
    mark.write(new Known(4, 20_000, "it was set back"));

    assertThat(new ZooKeeperMark(link).read()).isEqualTo(new Known(4, 20_000, "it was set back"));
  }

  @Test
  void aLeaderOfAnEarlierEpochWritesNothing() {
    mark.write(new Known(5, 90_000, ""));

    assertThatThrownBy(() -> mark.write(new Known(4, 90_000, "")))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("a later epoch than 4 has led");
    assertThat(mark.read().epoch()).isEqualTo(5);
  }

  @Test
  void whatCannotBeReadSaysWhatToDo() throws Exception {
    String path =
        link.client()
            .create()
            .creatingParentsIfNeeded()
            .forPath("/group/of/two/epoch", "many".getBytes(StandardCharsets.UTF_8));

    assertThatThrownBy(mark::read)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(path + " is damaged; put the highest epoch");
  }

  @Test
  void anotherSchedulerOfTheGroupFindsThatTheStoreWasSetBackAndItsSuccessorWaitsAsWell()
      throws Exception {
    mark.write(new Known(7, 90_000, ""));
    try (StatusStore store =
        SqliteDialect.open(directory.resolve("restored.sqlite"), JsonReader::parse)) {
      StoreHistory second;
      Taken taken;
      try (DataDirectory data = DataDirectory.open(directory.resolve("second"), SOURCE)) {
        second = look(store, data);
        assertThat(second.problem().orElseThrow()).contains("was set back", "0", "7");
        taken = second.taken(store.openEpoch(new TakeOver(8, 20_000)));
        assertThat(taken.epoch()).isEqualTo(8);
        assertThat(taken.earlierLeaseMillis()).isEqualTo(90_000);
        assertThat(second.past(taken)).isEqualTo(Past.UNKNOWN);
        assertThat(mark.read().epoch()).isEqualTo(8);
      }
      try (DataDirectory data = DataDirectory.open(directory.resolve("third"), SOURCE)) {
        StoreHistory third = look(store, data);
        Taken next = third.taken(store.openEpoch(new TakeOver(9, 20_000)));
        assertThat(third.past(next)).isEqualTo(Past.UNKNOWN);

        third.outwaited(next.epoch());
        assertThat(third.problem()).isEmpty();
        assertThat(mark.read().setBack()).isEmpty();
        assertThatThrownBy(() -> second.outwaited(taken.epoch()))
            .isInstanceOf(StaleEpochException.class);
        assertThat(mark.read().epoch()).isEqualTo(next.epoch());
      }
    }
  }

  @Test
  void anotherSchedulerOfTheGroupFindsThatTheStoreLacksEventsOfTheLatestLeadership()
      throws Exception {
    Path file = directory.resolve("store.sqlite");
    Path copy = directory.resolve("copy.sqlite");
    try (DataDirectory data = DataDirectory.open(directory.resolve("first"), SOURCE)) {
      try (StatusStore store = SqliteDialect.open(file, JsonReader::parse)) {
        StoreHistory first = look(store, data);
        long epoch = first.taken(store.openEpoch(new TakeOver(1, 20_000))).epoch();
        mark.write(new Known(epoch, 90_000, ""));
        store.commit(epoch, event(10));
        SqliteBackup.Contents unused = SqliteBackup.write(file, copy);
        store.commit(epoch, event(20));
        first.rememberNewestEvent(epoch);
      }
      try (StatusStore store = SqliteDialect.open(file, JsonReader::parse)) {
        assertThat(look(store, data).problem()).as("the store itself").isEmpty();
      }
    }
    try (StatusStore restored = SqliteDialect.open(copy, JsonReader::parse);
        DataDirectory data = DataDirectory.open(directory.resolve("second"), SOURCE)) {
      StoreHistory second = look(restored, data);
      assertThat(second.problem().orElseThrow())
          .contains("was set back: the newest event of its epoch 1 is 10, and was 20");
      Taken taken = second.taken(restored.openEpoch(new TakeOver(2, 20_000)));
      assertThat(second.past(taken)).isEqualTo(Past.UNKNOWN);
      assertThat(mark.read().setBack()).contains("was set back");

      second.rememberNewestEvent(taken.epoch());
      mark.newestEvent(new EventMark(1, 30));
      assertThat(mark.newestEvent()).isEqualTo(new EventMark(taken.epoch(), 10));
    }
  }

  @Test
  void aDamagedMarkOfTheNewestEventSaysWhatToDo() throws Exception {
    String path =
        link.client()
            .create()
            .creatingParentsIfNeeded()
            .forPath("/group/of/two/event", "7 many".getBytes(StandardCharsets.UTF_8));

    assertThatThrownBy(mark::newestEvent)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(path + " is damaged; delete it, and start once with --safe-wait");
  }

  private static StoreTransaction event(long sequence) {
    return StoreTransaction.builder()
        .append(new Event(sequence, sequence, "e", Json.Obj.EMPTY))
        .build();
  }

  @Test
  void aLeaderWhoseStoreWasSetBackEndsAlsoIfTheMarkIsDamaged() throws Exception {
    try (StatusStore store =
            SqliteDialect.open(directory.resolve("restored.sqlite"), JsonReader::parse);
        DataDirectory data = DataDirectory.open(directory.resolve("leader"), SOURCE)) {
      StoreHistory leader = look(store, data);
      Taken taken = leader.taken(store.openEpoch(new TakeOver(1, 20_000)));
      link.client().setData().forPath("/group/of/two/epoch", new byte[] {'?'});

      CompletableFuture<Throwable> ended = new CompletableFuture<>();
      leader.heard(9, taken.epoch(), ended::complete);

      assertThat(ended.get(30, TimeUnit.SECONDS)).hasMessageContaining("heard of 9");
      assertThat(new EpochFile(data.epochFile()).highest()).isEqualTo(9);
    }
  }

  private StoreHistory look(StatusStore store, DataDirectory data) {
    ProcessOptions options =
        ProcessOptions.frozen(
            new DataDirectoryOwner(SOURCE, Partition.WHOLE),
            directory.toString(),
            data.root(),
            "here");
    return StoreHistory.look(options, store, new EpochFile(data.epochFile()), data, mark);
  }
}
