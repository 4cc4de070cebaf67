package io.espalier.core.scheduling;

import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.scheduling.update.LiveState;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Closes and opens the gates of jobs, nodes, workers and stages while the core runs, and tells
 * which are closed. A closed gate keeps tasks from starting; it kills none.
 *
 * <p>{@link SchedulingCore#gates} returns it; use it on the thread of the core.
 */
public final class Gates {
  private final GateTable table;
  private final LiveState live;
  private final Consumer<CoreEvent> recorder;

  Gates(LiveState live, Consumer<CoreEvent> recorder) {
    this.table = live.state().gateTable;
    this.live = live;
    this.recorder = recorder;
  }

  /**
   * Closes a gate of a job, a worker, or a node with everything below it, for all jobs or for one,
   * known or not, until {@link #open(GateKind, Scope)} is called for the same kind and scope; it
   * replaces an older gate of these. No task starts there meanwhile; none is killed. Takes constant
   * time; a node that of one path and, where jobs have {@code reserve_after}, of all reservations.
   */
  public void close(Gate gate) {
    table.close(gate);
    gated(gate.kind(), gate.scope(), true);
  }

  /**
   * Opens a gate, if it is closed. Its job or node stays closed while another gate is. Takes
   * constant time; a node that of one path and, where jobs have {@code reserve_after}, of the nodes
   * below it or of those where jobs wait for slots, whichever are fewer.
   */
  public void open(GateKind kind, Scope scope) {
    table.open(kind, scope);
    gated(kind, scope, false);
  }

  /** Opens a gate of a job, if it is closed. */
  public void open(GateKind kind, String job) {
    open(kind, Scope.job(job));
  }

  private void gated(GateKind kind, Scope scope, boolean closed) {
    live.updateGate(scope);
    recorder.accept(new CoreEvent.Gated(kind, scope, closed));
  }

  /**
   * Closes the later stages of a job's roll-out; it replaces an older gate of that job. {@link
   * SchedulingCore#stepLimits} must follow; until that is done, tasks may start that are to wait.
   */
  public void close(StageGate gate) {
    table.close(gate);
    live.stagesChanged(gate.job());
    recorder.accept(new CoreEvent.StagesClosed(gate));
  }

  /** Opens all stages of a job; {@link SchedulingCore#stepLimits} must follow. */
  public void openStages(String job) {
    table.openStages(job);
    live.stagesChanged(job);
    recorder.accept(new CoreEvent.StagesOpened(job));
  }

  /** Returns the gate in front of the later stages of a job, or null. */
  public @Nullable StageGate stages(String job) {
    return table.stages(job);
  }

  /** Returns a closed gate of a job, or null. */
  public @Nullable Gate get(GateKind kind, String job) {
    return table.get(kind, Scope.job(job));
  }

  /** See {@link GateTable#of(GateKind)}. */
  public Collection<Gate> of(GateKind kind) {
    return table.of(kind);
  }

  /**
   * Returns the gates of a kind whose end has come; the caller must {@link #open} them. The core
   * opens none by itself, so that the caller can record what it opens.
   */
  public List<Gate> due(GateKind kind, long nowMillis) {
    return table.due(kind, nowMillis);
  }

  /** See {@link GateTable#nextMillis}. */
  public long nextMillis(GateKind kind) {
    return table.nextMillis(kind);
  }

  /**
   * Returns whether a closed gate ends the job: it has failed, succeeded or missed its deadline.
   */
  public boolean isEnded(String job) {
    return table.isEnded(job);
  }
}
