package io.espalier.core.topology;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.problem.Result;

/**
 * A kind of node source; found through {@link java.util.ServiceLoader}. One file each, plus one
 * test that extends {@code NodeSourceContract}.
 */
public interface NodeSourceType {
  /** The word in {@code "source"}. */
  String name();

  /**
   * Checks the preferences and makes the source; does no I/O. Every problem of the preferences is
   * reported at once, with paths below {@link NodeSourceSpec#path()}.
   */
  Result<NodeSource> create(NodeSourceSpec spec, Levels levels, NodeSourceContext context);
}
