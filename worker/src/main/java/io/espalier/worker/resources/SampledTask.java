package io.espalier.worker.resources;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import java.util.Collection;

/** A live task as the sampler needs it. Safe to call from any thread, at any time. */
public interface SampledTask {
  String job();

  String node();

  Invocation invocation();

  /**
   * Returns what it has used until now, and the memory it uses; {@link ResourceUsage#UNKNOWN} when
   * it is gone.
   */
  ResourceUsage usage();

  /** Returns its processes, as far as they can be found cheaply. */
  Collection<Long> pids();
}
