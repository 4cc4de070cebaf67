package io.espalier.core.config;

import java.time.Duration;

/**
 * One entry of {@code probes}: values that tell how well the nodes of a level are
 * (docs/probes.md).
 *
 * @param name the name, such as {@code lag}
 * @param level index of the level whose nodes the values are about
 * @param source where the values come from; {@link #PUSH}: others send them
 * @param every time between two requests for values; without meaning for {@link #PUSH}
 * @param maxAge how old a value may be
 * @param badAbove a greater value is bad
 * @param goodBelow a smaller value is good
 * @param holds whether limits stay as they are when no node has a value that is not too old;
 *     otherwise they go to their floor
 */
public record ProbeSpec(
    String name,
    int level,
    NodeSourceSpec source,
    Duration every,
    Duration maxAge,
    double badAbove,
    double goodBelow,
    boolean holds) {
  /** The source of probes whose values are sent by a command. */
  public static final String PUSH = "push";

  /** Returns whether values are sent by a command; otherwise they are requested. */
  public boolean isPushed() {
    return source.source().equals(PUSH);
  }
}
