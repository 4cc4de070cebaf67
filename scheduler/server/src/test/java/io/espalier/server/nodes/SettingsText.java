package io.espalier.server.nodes;

import io.espalier.core.config.Config;
import io.espalier.core.config.Settings;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import java.util.List;
import java.util.Objects;

/** Settings from the text of their nodes. */
final class SettingsText {
  private SettingsText() {}

  /**
   * @param nodes the members of {@code nodes}, with single quotes for double ones
   */
  static Settings nodes(String nodes) {
    String text =
        "{'bistro_settings': {'nodes': {%s}, 'resources': {}}}".formatted(nodes).replace('\'', '"');
    Result<Json> json = JsonReader.config().read(text);
    Result<Config> config =
        new ConfigParser(List.of("roundrobin"), List.of("roundrobin"), List.of())
            .parse(Objects.requireNonNull(json.value(), () -> json.problems().toString()));
    return Objects.requireNonNull(config.value(), () -> config.problems().toString()).settings();
  }
}
