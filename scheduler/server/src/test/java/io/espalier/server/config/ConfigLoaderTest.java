package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.testkit.config.ConfigFixtures;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ConfigLoaderTest {
  private static final String SETTINGS =
      "\"bistro_settings\": {\"nodes\": {\"levels\": []}, \"resources\": {}}";

  private static Result<Config> load(Document... documents) {
    return new ConfigLoader(ConfigFixtures.parser()).load(new Text(List.of(documents), "hash"));
  }

  private static Document document(String name, String text) {
    return new Document(name, text);
  }

  private static List<String> lines(Result<Config> result) {
    return result.problems().stream().map(Problem::toString).toList();
  }

  @Test
  void documentsAreMerged() {
    Result<Config> result =
        load(
            document("a.json", "{\"$schema\": \"x\", " + SETTINGS + "}"),
            document("b.json", "{\"bistro_job->b\": {\"owner\": \"o\"}, \"_\": 1}"),
            document(
                "c.json",
                "{\"$schema\": \"x\", \"_\": 1, // c\n\"bistro_job->c\": {\"owner\": \"o\"}}"));
    assertThat(lines(result)).isEmpty();
    assertThat(Objects.requireNonNull(result.value()).jobs()).containsOnlyKeys("b", "c");
  }

  @Test
  void problemsNameTheirFile() {
    Result<Config> result =
        load(
            document("a.json", "{" + SETTINGS + "}"),
            document("b.json", "{\"bistro_job->b\": {\n  \"owner\": [],\n  \"xyz\": 1}}"));
    assertThat(lines(result))
        .containsExactly(
            "error b.json:2:12 bistro_job->b.owner: expected a string, found a list (value: [])",
            "warning b.json:3:3 bistro_job->b.xyz: unknown key, it does nothing (value: 1);"
                + " start it with \"_\" if it is a comment");
    assertThat(result.value()).as("a broken job disables only itself").isNotNull();
  }

  @Test
  void theSameJobInTwoFilesIsAProblemThatNamesBoth() {
    Result<Config> result =
        load(
            document("a.json", "{" + SETTINGS + ", \"bistro_job->x\": {\"owner\": \"o\"}}"),
            document("b.json", "{\n\"bistro_job->x\": {\"owner\": \"o\"}}"));
    assertThat(result.value()).isNull();
    assertThat(lines(result))
        .hasSize(1)
        .allMatch(line -> line.contains("b.json:2:1") && line.contains("a.json:1:"));
  }

  @Test
  void settingsInTwoFilesAreAProblemAndInNoneToo() {
    assertThat(
            load(document("a.json", "{" + SETTINGS + "}"), document("b.json", "{" + SETTINGS + "}"))
                .value())
        .isNull();
    assertThat(lines(load(document("a.json", "{}"), document("b.json", "{}"))))
        .containsExactly(
            "error a.json:1:1 bistro_settings: the key is missing, expected an object");
  }

  @Test
  void aKeyThatIsGivenTwiceHidesNoOtherProblem() {
    Result<Config> result =
        load(
            document("a.json", "{" + SETTINGS + "}"),
            document(
                "b.json",
                "{\"bistro_job->b\": {\"owner\": \"o\",\n\"owner\": \"p\", \"priority\": [],\n"
                    + "\"prioirty\": 1}}"));
    assertThat(result.value()).isNull();
    assertThat(lines(result))
        .satisfiesExactly(
            twice ->
                assertThat(twice)
                    .startsWith("error b.json:2:1 bistro_job->b.owner: the key is given twice")
                    .contains("(value: \"p\")"),
            wrong -> assertThat(wrong).startsWith("error b.json:2:27 bistro_job->b.priority"),
            unknown -> assertThat(unknown).startsWith("error b.json:3:1 bistro_job->b.prioirty"));
  }

  @Test
  void everyFileThatIsNoJsonIsReported() {
    assertThat(
            lines(
                load(
                    document("a.json", ""),
                    document("b.json", "{\"bistro_settings\": "),
                    document("c.json", "[]"))))
        .satisfiesExactly(
            a -> assertThat(a).startsWith("error a.json:1:1: the text is empty"),
            b -> assertThat(b).contains("b.json:1:").contains("not closed"),
            c -> assertThat(c).contains("c.json:1:1: expected an object, found a list"));
  }
}
