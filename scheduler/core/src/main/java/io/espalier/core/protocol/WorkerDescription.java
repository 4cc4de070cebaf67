package io.espalier.core.protocol;

import io.espalier.core.running.HostFigures;
import io.espalier.core.running.MeasuredLoad;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Map;
import java.util.Set;

/**
 * A worker's description of itself.
 *
 * @param host host name that jobs use for placement
 * @param address address of its server, host:port; empty: it has none
 * @param maxTasks maximum number of concurrent tasks; 0: as many as its resources allow
 * @param physical resources of its host, named as in {@code WorkerInfo}
 * @param versions supported protocol versions
 * @param capabilities names of features that not every worker has, such as {@code cgroups} or
 *     {@code lease_guard}; unknown ones are ignored
 * @param labels what it says about itself, for jobs that choose workers by it
 * @param measured how busy it is now
 * @param figures what it has measured of its host
 */
@RecordBuilder
public record WorkerDescription(
    String host,
    String address,
    int maxTasks,
    Map<String, Long> physical,
    Versions versions,
    Set<String> capabilities,
    Map<String, String> labels,
    MeasuredLoad measured,
    HostFigures figures)
    implements WorkerDescriptionBuilder.With {
  /** The capability of a worker that takes starts back. */
  public static final String RECALL = "recall";

  /** A worker that says nothing else about itself. */
  public static WorkerDescriptionBuilder of(String host) {
    return new WorkerDescription(
            host,
            "",
            0,
            Map.of(),
            Versions.OURS,
            Set.of(),
            Map.of(),
            MeasuredLoad.UNKNOWN,
            HostFigures.UNKNOWN)
        .with();
  }

  public WorkerDescription {
    physical = Map.copyOf(physical);
    capabilities = Set.copyOf(capabilities);
    labels = Map.copyOf(labels);
  }

  /** Returns whether another description differs in nothing but what was measured. */
  boolean isSameButMeasured(WorkerDescription other) {
    return equals(other.withMeasured(measured).withFigures(figures));
  }
}
