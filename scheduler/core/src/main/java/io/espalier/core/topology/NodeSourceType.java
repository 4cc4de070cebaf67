package io.espalier.core.topology;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.problem.Result;

/**
 * A kind of node source, found through {@link java.util.ServiceLoader}. To add one, write one file
 * and one test that extends {@code NodeSourceContract}.
 */
public interface NodeSourceType {
  /** The value of {@code "source"} in the configuration. */
  String name();

  /**
   * Validates the preferences and creates the source; does no I/O. Reports all problems of the
   * preferences at once, with paths below {@link NodeSourceSpec#path()}.
   */
  Result<NodeSource> create(NodeSourceSpec spec, Levels levels, NodeSourceContext context);
}
