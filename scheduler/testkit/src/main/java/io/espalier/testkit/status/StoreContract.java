package io.espalier.testkit.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StatusStore.Taken;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Opens the store of each test of a contract, and restarts it. */
abstract class StoreContract {
  static final long NOW = 1_790_000_000_000L;

  private final List<StatusStore> opened = new ArrayList<>();

  // Set before each test.
  @SuppressWarnings("NullAway.Init")
  StatusStore store;

  long epoch;

  /**
   * Opens the one storage of this test. A call while an earlier store is still open simulates a
   * process that died without closing anything; a store that cannot survive that may return the
   * same object.
   */
  protected abstract StatusStore open() throws Exception;

  @BeforeEach
  final void openStore() throws Exception {
    store = remembered(open());
    Taken taken = store.openEpoch(TakeOver.PLAIN);
    assertThat(taken.earlier()).isEqualTo(StatusStore.Earlier.NEW_STORE);
    assertThat(taken.earlierLeaseMillis()).isZero();
    epoch = taken.epoch();
  }

  @AfterEach
  final void closeStores() {
    opened.forEach(StatusStore::close);
  }

  final StatusStore remembered(StatusStore fresh) {
    opened.add(fresh);
    return fresh;
  }

  /** Restarts the store as after kill -9: nothing was closed. */
  final void restartAfterKill() throws Exception {
    store = remembered(open());
    epoch = store.openEpoch(TakeOver.PLAIN).epoch();
  }

  void cleanUp(StatusStore.Retention retention, int atMost) {
    int calls = 0;
    while (store.cleanUp(epoch, retention, atMost) > 0) {
      calls++;
      assertThat(calls).isLessThan(1_000);
    }
  }

  List<StatusRow> rows(String job) {
    List<StatusRow> found = new ArrayList<>();
    store.load(job, found::add);
    return found;
  }

  static StatusRow row(String job, String node, TaskStatus status) {
    return new StatusRow(job, node, status, new Invocation(1, 2, NOW));
  }

  static TaskStatus status(Main main, int attempts) {
    return TaskStatus.of(main, NOW, attempts);
  }

  static TaskStatus failed() {
    return status(Main.FAILED, 3);
  }

  static Event event(long sequence) {
    return new Event(
        sequence, NOW + sequence, "task_ended", Json.object().put("node", "n" + sequence).build());
  }
}
