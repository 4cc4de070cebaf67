package io.espalier.core.config;

import io.espalier.core.json.Json;

/**
 * One entry of {@code nodes.node_sources}.
 *
 * @param source name of the node source type
 * @param prefs handed to the source as they are
 * @param guard how much its answers may change
 * @param path of the entry in its document, for problems
 */
public record NodeSourceSpec(String source, Json.Obj prefs, NodeChangeGuard guard, String path) {
  /** An entry with the usual guard. */
  public NodeSourceSpec(String source, Json.Obj prefs, String path) {
    this(source, prefs, NodeChangeGuard.DEFAULT, path);
  }
}
