package io.espalier.server.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.keys.ConfigKeys;
import io.espalier.core.config.schema.Section;
import io.espalier.server.config.yaml.Notation.Name;
import io.espalier.server.config.yaml.Notation.Part;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The names of keys in YAML. */
class NotationTest {
  static List<Section<?>> sections() {
    return ConfigKeys.SECTIONS;
  }

  @ParameterizedTest
  @MethodSource("sections")
  void eachKeyHasANameOfItsOwn(Section<?> section) {
    Part part = Notation.part(section.name());
    assertThat(part.names()).extracting(Name::json).containsExactlyElementsOf(section.names());
    assertThat(part.yamlNames()).hasSameSizeAs(section.names());
    for (Name name : part.names()) {
      Name other = part.ofJson(name.yaml());
      assertThat(other == null || other.equals(name))
          .as("%s means one thing", name.yaml())
          .isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("sections")
  void noNameEndsWithItsUnit(Section<?> section) {
    assertThat(Notation.part(section.name()).yamlNames())
        .noneMatch(name -> name.matches(".*_(sec|ms|pct|percent)"));
  }

  @Test
  void namesOfDefaultsAreNotTakenByOthers() {
    assertThat(Notation.SETTINGS.yamlNames())
        .doesNotContain("espalier", "include", "defaults", "jobs", "templates", "variables");
  }
}
