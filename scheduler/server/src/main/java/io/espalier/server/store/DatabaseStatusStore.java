package io.espalier.server.store;

import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.Pause;
import io.espalier.core.status.QueueUsage;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.TaskHistory;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A status store in a database. It delegates queries to its {@link StoreReader}; the subclass for
 * each database implements the writes, with one connection and one transaction at a time.
 */
public abstract class DatabaseStatusStore implements StatusStore {
  private final StoreReader reader;

  protected DatabaseStatusStore(StoreReader reader) {
    this.reader = reader;
  }

  @Override
  public final Set<String> jobs() {
    return reader.jobs();
  }

  @Override
  public final Map<String, Long> incarnations() {
    return reader.incarnations();
  }

  @Override
  public final void load(String job, Consumer<StatusRow> rows) {
    reader.load(job, rows);
  }

  @Override
  public final List<StatusRow> load(String job, Collection<String> nodes) {
    return reader.load(job, nodes);
  }

  @Override
  public final List<StatusRow> running() {
    return reader.running();
  }

  @Override
  public final TaskHistory history(String job, String node) {
    return reader.history(job, node);
  }

  @Override
  public final List<Pause> pauses() {
    return reader.pauses();
  }

  @Override
  public final List<JobStateRecord> standings() {
    return reader.standings();
  }

  @Override
  public final List<WorkerCordon> holds() {
    return reader.holds();
  }

  @Override
  public final List<LimitOverride> limits() {
    return reader.limits();
  }

  @Override
  public final List<QueueUsage> queueUsage() {
    return reader.queueUsage();
  }

  @Override
  public final long newestEvent() {
    return reader.newestEvent();
  }

  @Override
  public final List<Event> events(long sequence, int limit) {
    return reader.events(sequence, limit);
  }
}
