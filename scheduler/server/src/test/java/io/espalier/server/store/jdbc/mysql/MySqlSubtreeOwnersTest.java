package io.espalier.server.store.jdbc.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Partition;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.subtree.SubtreeOwners.JobStatuses;
import io.espalier.core.subtree.SubtreeRow;
import io.espalier.json.JsonReader;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Against a real server. */
@ExtendWith(SharedMariaDb.class)
class MySqlSubtreeOwnersTest {
  private static final String CONFIG = "/etc/fleet.json";

  /** By the hash, this subtree belongs to the second of two schedulers. */
  private static final String NAME = "host1";

  private static final int TOGETHER = 16;

  private final DatabaseServer server;

  MySqlSubtreeOwnersTest(DatabaseServer server) {
    this.server = server;
  }

  @BeforeEach
  void begin() throws SQLException {
    server.createSchemas("subtrees");
  }

  private MySqlSubtreeOwners open(String shard, long epoch) {
    return MySqlSubtreeOwners.open(
        MySqlAddress.parse(server.address("subtrees")),
        Partition.parse(shard),
        CONFIG,
        epoch,
        JsonReader::parse);
  }

  private static StatusRow done(String node) {
    return new StatusRow(
        "job", node, TaskStatus.of(TaskStatus.Main.DONE, 1_000, 1), new Invocation(3, 4, 900));
  }

  private static List<JobStatuses> statuses(MySqlSubtreeOwners owners) {
    List<JobStatuses> found = new ArrayList<>();
    owners.statuses(NAME, found::add);
    return found;
  }

  @Test
  void aSubtreeGoesOverTogetherWithItsStatuses() {
    try (MySqlSubtreeOwners before = open("1/2", 1);
        MySqlSubtreeOwners after = open("0/2", 1)) {
      assertThat(before.rows()).isEmpty();
      before.release(
          NAME, 0, sink -> sink.accept(new JobStatuses("job", 77, List.of(done("x"), done("y")))));

      assertThat(after.rows()).containsExactly(new SubtreeRow(NAME, 0, false));
      List<JobStatuses> found = statuses(after);
      assertThat(found).hasSize(1);
      assertThat(found.get(0).createTime()).isEqualTo(77);
      assertThat(found.get(0).rows()).extracting(StatusRow::node).containsExactly("x", "y");
      assertThat(found.get(0).rows().get(0).status()).isEqualTo(done("x").status());

      // Who has released it changes nothing any more, and neither does a repetition.
      before.take(NAME);
      before.release(NAME, 1, sink -> sink.accept(new JobStatuses("job", 0, List.of())));
      assertThat(after.rows()).containsExactly(new SubtreeRow(NAME, 0, false));
      assertThat(statuses(after)).hasSize(1);

      after.take(NAME);
      after.take(NAME);
      assertThat(before.rows()).containsExactly(new SubtreeRow(NAME, 0, true));
      assertThat(statuses(after)).isEmpty();
    }
  }

  @Test
  void aReleaseThatFailsHasNoEffect() {
    try (MySqlSubtreeOwners before = open("1/2", 1)) {
      assertThatThrownBy(
              () ->
                  before.release(
                      NAME,
                      0,
                      sink -> {
                        sink.accept(new JobStatuses("job", 0, List.of(done("x"))));
                        throw new StoreException("gone", true, null);
                      }))
          .hasMessage("gone");
      assertThat(before.rows()).isEmpty();
      assertThat(statuses(before)).isEmpty();
    }
  }

  @Test
  void anEarlierLeaderAndAStrangerChangeNothing() {
    try (MySqlSubtreeOwners before = open("1/2", 1);
        MySqlSubtreeOwners later = open("1/2", 2);
        MySqlSubtreeOwners other = open("0/2", 1)) {
      assertThatThrownBy(() -> before.release(NAME, 0, sink -> {}))
          .isInstanceOf(StaleEpochException.class);
      // It is not its own by the hash.
      other.release(NAME, 1, sink -> {});
      assertThat(later.rows()).isEmpty();
      assertThatThrownBy(() -> open("1/2", 2)).hasMessageContaining("knows a later leader");
      assertThatThrownBy(() -> open("1/3", 9)).hasMessageContaining("belongs to 2 schedulers");
    }
  }

  @Test
  void schedulersBeginTogetherAndCompareTheirTags() {
    List<CompletableFuture<MySqlSubtreeOwners>> begun = new ArrayList<>();
    for (int i = 0; i < TOGETHER; i++) {
      int shard = i;
      begun.add(
          CompletableFuture.supplyAsync(
              () -> open(shard + "/" + TOGETHER, 1), task -> new Thread(task).start()));
    }
    List<MySqlSubtreeOwners> all = begun.stream().map(CompletableFuture::join).toList();
    String tags = Json.object().put("east", 0).build().toString();
    assertThat(all.get(0).compareTags(tags)).isEmpty();
    assertThat(all.get(2).compareTags(tags)).isEmpty();
    assertThat(all.get(3).compareTags("{}")).containsExactly(0, 2);
    all.forEach(MySqlSubtreeOwners::close);
  }
}
