package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.keys.ConfigKeys;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The tables of docs/config-reference.md are generated from the definitions of the keys; the text
 * around them is written by hand. After a change of a key run this test with {@code
 * -Dconfig.reference=write}: it then writes the tables.
 */
class ConfigReferenceTest {
  private static final Path PAGE = Path.of("../../docs/config-reference.md");
  private static final Pattern MARK = Pattern.compile("<!-- keys of (\\w+), generated -->");
  private static final Pattern SECTION = Pattern.compile("#/\\$defs/(\\w+)");

  @Test
  void theTablesAreWhatTheKeysSay() throws IOException {
    String page = Files.readString(PAGE).replace("\r\n", "\n");
    String generated = generated(page);
    if ("write".equals(System.getProperty("config.reference"))) {
      Files.writeString(PAGE, generated);
    }
    assertThat(Files.readString(PAGE).replace("\r\n", "\n"))
        .as("-Dconfig.reference=write writes them again")
        .isEqualTo(generated);
  }

  @Test
  void everySectionHasATable() throws IOException {
    Set<String> marked = new HashSet<>();
    Matcher mark = MARK.matcher(Files.readString(PAGE));
    while (mark.find()) {
      marked.add(mark.group(1));
    }
    // The kinds of physical resources have the same keys.
    marked.addAll(List.of("cpu_core", "gpu_card"));
    assertThat(ConfigKeys.SECTIONS).extracting(Section::name).allMatch(marked::contains);
  }

  private static String generated(String page) {
    List<String> lines = new ArrayList<>();
    boolean skips = false;
    for (String line : page.split("\n", -1)) {
      skips &= line.startsWith("|");
      if (!skips) {
        lines.add(line);
      }
      Matcher mark = MARK.matcher(line);
      if (mark.matches()) {
        skips = true;
        Section<?> section =
            ConfigKeys.SECTIONS.stream()
                .filter(each -> each.name().equals(mark.group(1)))
                .findFirst()
                .orElseThrow();
        lines.addAll(table(section));
      }
    }
    return String.join("\n", lines);
  }

  private static <R> List<String> table(Section<R> section) {
    boolean isOwn = section.keys().stream().allMatch(Key::isOwn);
    List<String> rows = new ArrayList<>();
    rows.add("| key | type | default | meaning |");
    rows.add("|---|---|---|---|");
    for (Key<R, ?> key : section.keys()) {
      String meaning =
          key.description() + link(section, key) + (key.isOwn() && !isOwn ? " Not in Bistro." : "");
      rows.add(
          "| `%s` | %s | %s | %s |"
              .formatted(key.name(), key.type().words(), usual(section, key), meaning));
    }
    return rows;
  }

  private static String link(Section<?> section, Key<?, ?> key) {
    Matcher of = SECTION.matcher(key.type().schema());
    return of.find() && !section.name().equals("physical_resources")
        ? " [Its keys](#" + of.group(1) + ")."
        : "";
  }

  private static <R> String usual(Section<R> section, Key<R, ?> key) {
    if (key.missing() != null) {
      return "required";
    }
    if (ConfigSchema.isInherited(section, key)) {
      return "inherited";
    }
    Json usual = ConfigSchema.usual(section, key);
    return usual == null ? "" : "`" + JsonWriter.compact(usual).replace(",", ", ") + "`";
  }
}
