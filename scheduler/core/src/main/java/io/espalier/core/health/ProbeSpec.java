package io.espalier.core.health;

import io.espalier.core.json.Json;
import java.time.Duration;

/**
 * One entry of {@code probes}: values that tell how well the nodes of a level are (docs/probes.md).
 *
 * @param name the name, such as {@code lag}
 * @param level index of the level whose nodes the values are about
 * @param source where the values come from: the name of a node source; {@link #PUSH}: others send
 *     them
 * @param prefs preferences, passed to the source
 * @param path path of the entry in its document, for problems
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
    String source,
    Json.Obj prefs,
    String path,
    Duration every,
    Duration maxAge,
    double badAbove,
    double goodBelow,
    boolean holds) {
  /** The source of probes whose values are sent by a command. */
  public static final String PUSH = "push";

  /** Returns whether values are sent by a command; otherwise they are requested. */
  public boolean isPushed() {
    return source.equals(PUSH);
  }
}
