package io.espalier.server.store;

import io.espalier.core.event.Event;
import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.JobDurations;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RefusedDataException;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.core.status.store.TaskHistory;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A store in memory whose commits fail or hang on request. */
final class FlakyStore implements StatusStore {
  volatile @Nullable StoreException failure;
  volatile @Nullable RuntimeException bug;

  /** What it does not take, although it works. */
  volatile Predicate<StoreTransaction> refuses = batch -> false;

  /** Of what it does not take the data, ever. */
  volatile Predicate<StoreTransaction> neverTakes = batch -> false;

  volatile @Nullable CountDownLatch hang;
  volatile boolean hanging;
  int commits;
  @Nullable StoreTransaction newest;

  private final MemoryStatusStore inner = new MemoryStatusStore();

  @Override
  public void commit(long epoch, StoreTransaction batch) {
    newest = batch;
    CountDownLatch release = hang;
    if (release != null) {
      hanging = true;
      try {
        release.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (neverTakes.test(batch)) {
      throw new RefusedDataException("this data is refused", null);
    }
    if (refuses.test(batch)) {
      throw new StoreException("this is refused", true, null);
    }
    RuntimeException now = failure == null ? bug : failure;
    if (now != null) {
      throw now;
    }
    commits++;
    inner.commit(epoch, batch);
  }

  @Override
  public String callbackKey(long epoch) {
    return inner.callbackKey(epoch);
  }

  @Override
  public List<StatusRow> load(String job, String after, int atMost) {
    return inner.load(job, after, atMost);
  }

  @Override
  public Map<String, Long> absences() {
    return inner.absences();
  }

  @Override
  public void keepAbsences(long epoch, Map<String, Long> sinceMillis) {
    inner.keepAbsences(epoch, sinceMillis);
  }

  @Override
  public String nodesSketch() {
    return inner.nodesSketch();
  }

  @Override
  public void keepNodesSketch(long epoch, String sketch) {
    inner.keepNodesSketch(epoch, sketch);
  }

  @Override
  public void outwaits(long epoch) {
    inner.outwaits(epoch);
  }

  @Override
  public void outwaited(long epoch, long leaseMillis) {
    inner.outwaited(epoch, leaseMillis);
  }

  @Override
  public String description() {
    return "the flaky store";
  }

  @Override
  public void bindSource(String source) {
    inner.bindSource(source);
  }

  @Override
  public Taken openEpoch(TakeOver how) {
    return inner.openEpoch(how);
  }

  @Override
  public long epoch() {
    return inner.epoch();
  }

  @Override
  public Set<String> jobs() {
    return inner.jobs();
  }

  @Override
  public void load(String job, Consumer<StatusRow> rows) {
    inner.load(job, rows);
  }

  @Override
  public List<StatusRow> load(String job, Collection<String> nodes) {
    return inner.load(job, nodes);
  }

  @Override
  public Map<String, Long> incarnations() {
    return inner.incarnations();
  }

  @Override
  public int cleanUp(long epoch, Retention retention, int atMost) {
    return inner.cleanUp(epoch, retention, atMost);
  }

  @Override
  public Map<String, TaskHistory> histories(String job, Collection<String> nodes) {
    return inner.histories(job, nodes);
  }

  @Override
  public List<Pause> pauses() {
    return inner.pauses();
  }

  @Override
  public List<JobStateRecord> jobStates() {
    return inner.jobStates();
  }

  @Override
  public List<WorkerCordon> cordons() {
    return inner.cordons();
  }

  @Override
  public List<RolloutRow> rollouts() {
    return inner.rollouts();
  }

  @Override
  public List<Brake> brakes() {
    return inner.brakes();
  }

  @Override
  public List<KeyedAnswer> answers() {
    return inner.answers();
  }

  @Override
  public List<Quarantine> quarantines() {
    return inner.quarantines();
  }

  @Override
  public List<Notification> notifications() {
    return inner.notifications();
  }

  @Override
  public List<LimitOverride> limits() {
    return inner.limits();
  }

  @Override
  public List<JobDurations> durations() {
    return inner.durations();
  }

  @Override
  public List<QueueUsage> queueUsage() {
    return inner.queueUsage();
  }

  @Override
  public long newestEvent() {
    return inner.newestEvent();
  }

  @Override
  public List<Event> events(long sequence, int limit) {
    return inner.events(sequence, limit);
  }

  @Override
  public void close() {
    inner.close();
  }
}
