package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What people get wrong in YAML: every problem at once, with line, value and hint. */
class YamlMistakesTest {
  private static final Pattern MISTAKE = Pattern.compile("(?m)^=== ");
  private static final String REST =
      """
      espalier: v1
      tree: {levels: [host, db], sources: [{empty: {}}]}
      limits: {host: {slots: 2}}
      """;
  private static final ConfigLoader LOADER =
      new ConfigLoader(ConfigFixtures.parser(), Map.of("LIMIT", "7")::get);

  record Mistake(String name, String text, String problems) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Mistake> mistakes() throws IOException {
    try (InputStream in = YamlMistakesTest.class.getResourceAsStream("/yaml-mistakes.txt")) {
      String all = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return MISTAKE.splitAsStream(all).skip(1).map(YamlMistakesTest::mistake);
    }
  }

  private static Mistake mistake(String block) {
    int name = block.indexOf('\n');
    int end = block.indexOf("\n>>>\n");
    return new Mistake(
        block.substring(0, name),
        block.substring(name + 1, end + 1),
        block.substring(end + 5).strip());
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsTold(Mistake mistake) {
    String text = mistake.text().contains("tree:") ? mistake.text() : mistake.text() + REST;
    assertThat(told(inspect(text.getBytes(StandardCharsets.UTF_8)))).isEqualTo(mistake.problems());
  }

  private static Result<Config> inspect(byte[] text) {
    return LOADER.inspect(new Text(List.of(new Document("a.yaml", text)), ""));
  }

  private static String told(Result<Config> result) {
    return result.problems().stream()
        .map(Problem::toString)
        .map(problem -> problem.replace("a.yaml:", ""))
        .collect(Collectors.joining("\n"));
  }

  @Test
  void thereAreManyMistakes() throws IOException {
    assertThat(mistakes().count()).isGreaterThanOrEqualTo(40);
  }

  @Test
  void aTextThatIsTooLongIsNotRead() {
    byte[] text = ("espalier: v1\n#" + "x".repeat(10 << 20)).getBytes(StandardCharsets.UTF_8);
    assertThat(told(inspect(text))).endsWith("the text is longer than the allowed 8388608 bytes");
  }

  @Test
  void aTextThatIsNotUtf8IsNotRead() {
    byte[] text = "espalier: v1\n# Gr\u00fc\u00dfe\n".getBytes(StandardCharsets.ISO_8859_1);
    assertThat(told(inspect(text)))
        .isEqualTo("error 2:5: the byte 0xfc is not UTF-8 here; save the text as UTF-8");
  }

  @Test
  void textMadeOfVariablesIsBounded() {
    String text =
        "variables: {LONG: %s}\njobs: {j: {owner: \"%s\"}}\n"
            .formatted("x".repeat(1 << 20), "${LONG}".repeat(9));
    assertThat(told(inspect((text + REST).getBytes(StandardCharsets.UTF_8))))
        .isEqualTo(
            "error 2:19 jobs.j.owner: with its variables replaced, the text is longer than the"
                + " allowed 8388608 characters (value: \"${LONG}\"); let what needs so much text"
                + " read it from a file");
  }

  @Test
  void aliasesOfAliasesAreBounded() {
    StringBuilder text = new StringBuilder("espalier: v1\n_a0: &a0 [x, x]\n");
    for (int i = 1; i <= 40; i++) {
      text.append("_a%d: &a%d [*a%d, *a%d]%n".formatted(i, i, i - 1, i - 1));
    }
    assertThat(told(inspect(text.toString().getBytes(StandardCharsets.UTF_8))))
        .contains("there are more than 1000000 values, with aliases replaced")
        .contains("use \"templates\" and \"extends\"");
  }

  @Test
  void anAliasInWhatItStandsForIsRefused() {
    String text = "espalier: v1\n_a: &a [*a]\n";
    assertThat(told(inspect(text.getBytes(StandardCharsets.UTF_8))))
        .startsWith("error 2:5: lists and objects lie more than 100 deep in each other");
  }

  @Test
  void aLongChainOfTemplatesIsRefused() {
    StringBuilder text = new StringBuilder(REST + "templates:\n  t0: {owner: o}\n");
    for (int i = 1; i < 10_000; i++) {
      text.append("  t%d: {extends: t%d}\n".formatted(i, i - 1));
    }
    text.append("jobs:\n  j: {extends: t9999, command: [x]}\n");
    assertThat(told(inspect(text.toString().getBytes(StandardCharsets.UTF_8))))
        .contains("templates extend each other more than 100 deep");
  }

  @Test
  void deepNestingIsRefused() {
    String text = "espalier: v1\n_a: " + "[".repeat(5000) + "]".repeat(5000) + "\n";
    assertThat(told(inspect(text.getBytes(StandardCharsets.UTF_8))))
        .isEqualTo("error 1:1: lists and objects lie more than 100 deep in each other");
  }

  @Test
  void anErrorInAJobStopsThatJobOnly() {
    String jobs = "jobs: {good: {owner: o}, bad: {owner: o, timout: 3s}}\n";
    Result<Config> loaded =
        LOADER.load(
            new Text(
                List.of(new Document("a.yaml", (jobs + REST).getBytes(StandardCharsets.UTF_8))),
                ""));
    Config config = Objects.requireNonNull(loaded.value());
    assertThat(ConfigFixtures.job(config, "good").canRun()).isTrue();
    assertThat(ConfigFixtures.job(config, "bad").canRun()).isFalse();
  }
}
