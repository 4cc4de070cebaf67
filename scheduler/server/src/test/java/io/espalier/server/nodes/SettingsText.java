package io.espalier.server.nodes;

import io.espalier.core.config.Config;
import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Settings from the text of their nodes. */
final class SettingsText {
  /** Those of Espalier, and those that tests of this package make. */
  private static final List<String> SOURCES =
      Stream.concat(
              ConfigFixtures.NODE_SOURCES.stream(),
              Stream.of("bad", "computed", "curious", "outside", "recording", "slow"))
          .toList();

  private SettingsText() {}

  /**
   * @param nodes the members of {@code nodes}, with single quotes for double ones
   */
  static Settings nodes(String nodes) {
    return nodes(nodes, "", Partition.WHOLE);
  }

  /**
   * @param nodes the members of {@code nodes}, with single quotes for double ones
   * @param groups the members of {@code groups}
   */
  static Settings nodes(String nodes, String groups, Partition shard) {
    String text =
        "{'bistro_settings': {'nodes': {%s}, 'groups': {%s}, 'resources': {}}}"
            .formatted(nodes, groups)
            .replace('\'', '"');
    Result<Json> json = JsonReader.config().read(text);
    Result<Config> config =
        new ConfigParser(List.of("roundrobin"), List.of("roundrobin"), SOURCES)
            .inShard(shard)
            .parse(Objects.requireNonNull(json.value(), () -> json.problems().toString()));
    return Objects.requireNonNull(config.value(), () -> config.problems().toString()).settings();
  }
}
