package io.espalier.testkit.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreTransaction;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract for the event log of a store, and for cleaning up. */
abstract class EventsContract extends OperatorTablesContract {
  @Test
  void events_are_read_back_in_order_from_any_point() throws Exception {
    assertThat(store.newestEvent()).isZero();
    assertThat(store.events(0, 10)).isEmpty();
    StoreTransaction.Builder first = StoreTransaction.builder();
    StoreTransaction.Builder second = StoreTransaction.builder();
    for (int i = 1; i <= 5; i++) {
      first.append(event(i));
      second.append(event(10 + i));
    }
    store.commit(epoch, first.build());
    store.commit(epoch, second.build());
    restartAfterKill();
    assertThat(store.newestEvent()).isEqualTo(15);
    assertThat(store.events(0, 100)).hasSize(10).startsWith(event(1)).endsWith(event(15));
    assertThat(store.events(3, 3)).containsExactly(event(4), event(5), event(11));
    assertThat(store.events(7, 1)).containsExactly(event(11));
    assertThat(store.events(15, 10)).isEmpty();
    assertThat(store.events(99, 10)).isEmpty();
    assertThat(store.events(0, 0)).isEmpty();
  }

  @Test
  void old_events_make_room_for_new_ones() {
    int total = StatusStore.KEPT_EVENTS + 30_000;
    for (int next = 1; next <= total; ) {
      StoreTransaction.Builder batch = StoreTransaction.builder();
      for (int i = 0; i < 5_000; i++) {
        batch.append(event(next++));
      }
      store.commit(epoch, batch.build());
    }
    // Old, and more than the retention allows: the minimum that a store keeps takes precedence.
    cleanUp(new StatusStore.Retention(Long.MAX_VALUE, 1), 1_000);
    long oldest = store.events(0, 1).get(0).sequence();
    assertThat(oldest).isGreaterThan(1).isLessThanOrEqualTo(total - StatusStore.KEPT_EVENTS + 1);
    assertThat(store.events(total - StatusStore.KEPT_EVENTS, 1).get(0).sequence())
        .isEqualTo(total - StatusStore.KEPT_EVENTS + 1);
    assertThat(store.newestEvent()).isEqualTo(total);
  }

  @Test
  void events_are_kept_for_their_time_and_up_to_their_number() {
    // The memory store keeps only the minimum and has nothing to clean up.
    int total = StatusStore.KEPT_EVENTS + 40_000;
    for (int next = 1; next <= total; ) {
      StoreTransaction.Builder batch = StoreTransaction.builder();
      for (int i = 0; i < 5_000; i++) {
        batch.append(event(next++));
      }
      store.commit(epoch, batch.build());
    }
    long before = store.events(0, 1).get(0).sequence();
    cleanUp(new StatusStore.Retention(0, Long.MAX_VALUE), 1_000);
    assertThat(store.events(0, 1).get(0).sequence()).isEqualTo(before);
    cleanUp(new StatusStore.Retention(NOW + 10_000, Long.MAX_VALUE), 1_000);
    // Rows stored together are deleted together, at most a batch.
    assertThat(store.events(0, 1).get(0).sequence())
        .isBetween(Math.max(before, 5_001), Math.max(before, 10_000));
    cleanUp(new StatusStore.Retention(0, StatusStore.KEPT_EVENTS + 20_000), 1_000);
    assertThat(store.events(0, 1).get(0).sequence())
        .isBetween(Math.max(before, 15_001), Math.max(before, 20_001));
  }

  @Test
  void the_rows_of_a_forgotten_job_are_deleted_piece_by_piece_while_commits_go_on()
      throws Exception {
    List<StatusRow> rows = new ArrayList<>();
    for (int i = 0; i < 2_500; i++) {
      rows.add(row("big", "n" + i, status(Main.RUNNING, 1)));
    }
    store.commit(epoch, StoreTransaction.of(rows));
    store.commit(epoch, StoreTransaction.builder().forget("big").build());
    StatusRow again = row("big", "n7", status(Main.DONE, 1));
    store.commit(epoch, StoreTransaction.of(List.of(again)));
    restartAfterKill();
    assertThat(store.jobs()).containsExactly("big");
    assertThat(rows("big")).containsExactly(again);
    assertThat(store.running()).isEmpty();
    StatusStore.Retention all = new StatusStore.Retention(0, Long.MAX_VALUE);
    int deleted = store.cleanUp(epoch, all, 1_000);
    assertThat(deleted).isLessThanOrEqualTo(1_001);
    store.commit(epoch, StoreTransaction.of(List.of(row("other", "n", failed()))));
    cleanUp(all, 1_000);
    assertThat(rows("big")).containsExactly(again);
    assertThat(rows("other")).hasSize(1);
    store.commit(epoch, StoreTransaction.builder().forget("big").forget("other").build());
    cleanUp(all, 1_000);
    assertThat(store.jobs()).isEmpty();
    store.commit(epoch, StoreTransaction.of(List.of(again)));
    assertThat(rows("big")).containsExactly(again);
  }
}
