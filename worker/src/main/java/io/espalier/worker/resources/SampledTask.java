package io.espalier.worker.resources;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import java.util.Collection;

/** A live task as the sampler needs to know it. Safe to be asked from any thread, at any time. */
public interface SampledTask {
  String job();

  String node();

  Invocation invocation();

  /**
   * What it has used until now, with the memory it holds; {@link ResourceUsage#UNKNOWN} when it is
   * gone.
   */
  ResourceUsage usage();

  /** Its processes, as far as they can be told cheaply. */
  Collection<Long> pids();
}
