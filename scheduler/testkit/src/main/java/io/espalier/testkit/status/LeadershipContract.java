package io.espalier.testkit.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.Earlier;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StatusStore.Taken;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract for epochs and leases: who may write to a store. */
abstract class LeadershipContract extends EventsContract {
  @Test
  void epochs_grow_with_every_opening() throws Exception {
    long first = epoch;
    assertThat(first).isPositive();
    restartAfterKill();
    long second = epoch;
    assertThat(second).isGreaterThan(first);
    assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isGreaterThan(second);
  }

  @Test
  void an_epoch_is_not_below_what_is_asked_for_and_never_goes_back() throws Exception {
    long asked = epoch + 40;
    assertThat(store.openEpoch(new TakeOver(asked, 0)).epoch()).isEqualTo(asked);
    assertThat(store.epoch()).isEqualTo(asked);
    assertThat(store.openEpoch(TakeOver.PLAIN).epoch()).isEqualTo(asked + 1);
    restartAfterKill();
    assertThat(epoch).isEqualTo(asked + 2);
    assertThat(store.epoch()).isEqualTo(epoch);
  }

  @Test
  void a_take_over_tells_of_the_leases_before_and_which_store_it_is() throws Exception {
    Taken patient = store.openEpoch(new TakeOver(1, 660_000));
    assertThat(patient.storeId()).isNotEmpty();
    store = remembered(open());
    Taken quick = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(quick.storeId()).isEqualTo(patient.storeId());
    assertThat(quick.earlierLeaseMillis()).isEqualTo(660_000);
  }

  @Test
  void leases_of_earlier_leaderships_are_told_until_they_were_outwaited() throws Exception {
    Taken patient = store.openEpoch(new TakeOver(1, 660_000));
    store.outwaited(patient.epoch(), 660_000);
    Taken quick = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(quick.earlierLeaseMillis()).isEqualTo(660_000);
    // This leadership ends before its own wait does, and so does the next: leases of the first may
    // still be in force.
    Taken again = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(again.earlierLeaseMillis()).isEqualTo(660_000);
    assertThatThrownBy(() -> store.outwaited(quick.epoch(), 20_000))
        .isInstanceOf(StaleEpochException.class);
    assertThat(store.openEpoch(TakeOver.PLAIN).earlierLeaseMillis()).isEqualTo(660_000);
    store = remembered(open());
    Taken last = store.openEpoch(new TakeOver(1, 20_000));
    assertThat(last.earlierLeaseMillis()).isEqualTo(660_000);
    store.outwaited(last.epoch(), 20_000);
    store = remembered(open());
    Taken plain = store.openEpoch(TakeOver.PLAIN);
    assertThat(plain.earlierLeaseMillis()).isEqualTo(20_000);
    store.outwaited(plain.epoch(), 0);
    assertThat(store.openEpoch(TakeOver.PLAIN).earlierLeaseMillis()).isZero();
  }

  @Test
  void a_store_is_new_until_a_leadership_has_outwaited() throws Exception {
    restartAfterKill();
    Taken taken = store.openEpoch(TakeOver.PLAIN);
    assertThat(taken.earlier()).isEqualTo(Earlier.NEW_STORE);
    store.outwaited(taken.epoch(), 0);
    store = remembered(open());
    assertThat(store.openEpoch(TakeOver.PLAIN).earlier()).isEqualTo(Earlier.KNOWN);
  }

  @Test
  void a_wait_for_an_earlier_scheduler_is_not_cut_short_by_a_take_over() throws Exception {
    Taken waiting = store.openEpoch(TakeOver.PLAIN);
    store.outwaits(waiting.epoch());
    store = remembered(open());
    Taken next = store.openEpoch(TakeOver.PLAIN);
    assertThat(next.earlier()).isEqualTo(Earlier.UNKNOWN);
    assertThatThrownBy(() -> store.outwaits(waiting.epoch()))
        .isInstanceOf(StaleEpochException.class);
    store.outwaited(next.epoch(), 0);
    assertThat(store.openEpoch(TakeOver.PLAIN).earlier()).isEqualTo(Earlier.KNOWN);
  }

  @Test
  void an_older_epoch_can_write_nothing_more() throws Exception {
    StatusStore deposed = store;
    long old = epoch;
    store.commit(old, StoreTransaction.of(List.of(row("j", "n", status(Main.RUNNING, 1)))));
    restartAfterKill();
    StoreTransaction late =
        StoreTransaction.builder()
            .put(row("j", "n", status(Main.DONE, 1)))
            .put(row("j", "m", status(Main.DONE, 1)))
            .pause(new Pause("j", "", "", 1, 0))
            .build();
    assertThatThrownBy(() -> deposed.commit(old, late))
        .isInstanceOfSatisfying(
            StaleEpochException.class,
            e -> {
              assertThat(e.mine()).isEqualTo(old);
              assertThat(e.current()).isEqualTo(epoch);
              assertThat(e.retryable()).isFalse();
            });
    assertThatThrownBy(() -> store.commit(epoch + 1, late)).isInstanceOf(StaleEpochException.class);
    assertThat(rows("j")).containsExactly(row("j", "n", status(Main.RUNNING, 1)));
    assertThat(store.pauses()).isEmpty();
    store.commit(epoch, late);
    assertThat(rows("j")).hasSize(2);
  }

  @Test
  void an_older_epoch_cleans_nothing_up() throws Exception {
    StatusStore deposed = store;
    long old = epoch;
    restartAfterKill();
    assertThatThrownBy(() -> deposed.cleanUp(old, new StatusStore.Retention(0, 1), 10))
        .isInstanceOf(StaleEpochException.class);
  }

  @Test
  void a_store_serves_one_source_only() throws Exception {
    store.bindSource("file:/a.json");
    store.bindSource("file:/a.json");
    restartAfterKill();
    store.bindSource("file:/a.json");
    assertThatThrownBy(() -> store.bindSource("file:/b.json"))
        .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.retryable()).isFalse())
        .hasMessageContaining("belongs to file:/a.json, not to file:/b.json");
  }
}
