package io.espalier.cli.client;

import io.espalier.core.json.Json;
import picocli.CommandLine.Option;

/** The flag {@code --reason}. */
public final class ReasonOption {
  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
  private String text = "";

  /** Returns a body with the reason, or an empty one. */
  public Json.Builder body() {
    Json.Builder body = Json.object();
    return text.isEmpty() ? body : body.put("reason", text);
  }
}
