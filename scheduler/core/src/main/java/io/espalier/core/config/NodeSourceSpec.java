package io.espalier.core.config;

import io.espalier.core.json.Json;

/**
 * One entry of {@code nodes.node_sources}.
 *
 * @param source name of the node source type
 * @param prefs handed to the source as they are
 * @param path of the entry in its document, for problems
 */
public record NodeSourceSpec(String source, Json.Obj prefs, String path) {}
