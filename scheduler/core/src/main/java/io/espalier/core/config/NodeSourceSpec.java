package io.espalier.core.config;

import io.espalier.core.json.Json;

/**
 * One entry of {@code nodes.node_sources}.
 *
 * @param source name of the node source type
 * @param prefs preferences, passed to the source unchanged
 * @param guard limits on changes of its answers
 * @param path path of the entry in its document, for problems
 */
public record NodeSourceSpec(String source, Json.Obj prefs, NodeChangeGuard guard, String path) {
  /** Creates an entry with the default guard. */
  public NodeSourceSpec(String source, Json.Obj prefs, String path) {
    this(source, prefs, NodeChangeGuard.DEFAULT, path);
  }
}
