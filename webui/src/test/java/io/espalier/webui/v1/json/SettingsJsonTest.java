package io.espalier.webui.v1.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.testkit.config.ConfigFixtures;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SettingsJsonTest {
  @Test
  void limitsOfSingleNodesAreWrittenAsTheyAreConfigured() {
    String rules =
        """
        [{"level":"host","name":"h1","limits":{"io":3,"slots":2}},
         {"level":"host","tag":"ssd","limits":{"slots":8}},
         {"level":"host","regex":"^old-","limits":{"slots":0}},
         {"level":"host","attribute":"age","value":"3","limits":{"slots":1}},
         {"level":"host","attribute":"spindles","resource":"io"}]
        """;
    String resources =
        "{'host': {'slots': {'default': 1, 'limit': 4}, 'io': {'default': 0, 'limit': 1}}}";
    assertThat(shown(rules, resources)).isEqualTo(ConfigFixtures.json(rules));
    assertThat(shown("[]", resources)).isEqualTo(ConfigFixtures.json("[]"));
  }

  private static @Nullable Json shown(String rules, String resources) {
    String text =
        "{'bistro_settings': {'nodes': {'levels': ['host']}, 'resources': %s,"
            + " 'node_resources_override': %s}}";
    return SettingsJson.of(ConfigFixtures.config(text.formatted(resources, rules)).settings())
        .get("node_resources_override");
  }
}
