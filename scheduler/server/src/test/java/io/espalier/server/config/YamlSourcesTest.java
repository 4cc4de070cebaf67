package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.JobVersions;
import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** YAML wherever a configuration can be. */
class YamlSourcesTest {
  private static final String TREE =
      "espalier: v1\ntree: {levels: [host], sources: [{empty: }]}\nlimits: {host: {slots: 2}}\n";
  private static final ConfigLoader LOADER =
      new ConfigLoader(ConfigFixtures.parser(), Map.of("TEAM", "storage")::get);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  private static Config good(Text text) {
    Result<Config> loaded = LOADER.load(text);
    assertThat(loaded.problems()).isEmpty();
    return Objects.requireNonNull(loaded.value());
  }

  private static Text fetched(Path path) throws Exception {
    return ConfigSources.open(path.toString()).fetch();
  }

  @Test
  void jobsTakeOverTemplatesVariablesAndFiles() throws Exception {
    file("batch.txt", "250\n");
    Path site =
        file(
            "site.yaml",
            TREE
                + """
                variables: {retries: 3, home: "${env:TEAM}/x"}
                templates:
                  base: {owner: "${env:TEAM}", config: {batch: "${file:batch.txt}", a: 1}, roles: [x]}
                  careful: {extends: base, retry: {max_total_no_progress: "${retries}"}}
                jobs:
                  j: {extends: [base, careful], config: {a: 2, home: "${home}/$${y}"}, roles: z}
                """);
    Config config = good(fetched(site));
    assertThat(ConfigFixtures.job(config, "j").original())
        .isEqualTo(
            ConfigFixtures.json(
                "{'owner': 'storage', 'config': {'batch': '250', 'a': 2, 'home': 'storage/x/${y}'},"
                    + " 'roles': ['z'], 'retry': {'max_total_no_progress': 3}}"));
  }

  @Test
  void includedFilesBelongToTheConfigurationAndTheirChangesAreNoticed() throws Exception {
    Path site = file("site.yaml", TREE + "include: [more/jobs.yaml]\njobs: {a: {owner: o}}\n");
    Files.createDirectory(directory.resolve("more"));
    file("more/jobs.yaml", "espalier: v1\ninclude: ../site.yaml\njobs: {b: {owner: o}}\n");
    ConfigSource source = ConfigSources.open(site.toString());
    Text before = source.fetch();
    assertThat(good(before).jobs()).containsOnlyKeys("a", "b");
    file("more/jobs.yaml", "espalier: v1\njobs: {c: {owner: o}}\n");
    Text after = source.fetch();
    assertThat(after.hash()).isNotEqualTo(before.hash());
    assertThat(good(after).jobs()).containsOnlyKeys("a", "c");
    Files.delete(directory.resolve("more/jobs.yaml"));
    assertThat(LOADER.load(source.fetch()).problems())
        .extracting(Problem::message)
        .containsExactly("this file cannot be read");
  }

  @Test
  void aFileNeedNotIncludeItself() throws Exception {
    Path site = file("site.yaml", TREE + "include: ./site.yaml\njobs: {a: {owner: o}}\n");
    Result<Config> loaded = LOADER.load(fetched(site));
    assertThat(loaded.hasErrors()).isFalse();
    assertThat(loaded.problems())
        .extracting(problem -> problem.path() + ": " + problem.message())
        .containsExactly("include: the file includes itself");
  }

  @Test
  void theFilesOfADirectoryAreOneConfiguration() throws Exception {
    file("a.yaml", TREE + "templates: {base: {owner: o}}\n");
    file("b.yml", "espalier: v1\njobs: {b: {extends: base, needs: {slots: 2}}}\n");
    file("c.json", "{\"bistro_job->c\": {\"owner\": \"o\", \"depends_on\": [\"b\"]}}");
    assertThat(good(fetched(directory)).jobs()).containsOnlyKeys("b", "c");
    file("d.yaml", "espalier: v1\ntree: {}\njobs: {b: {owner: o}}\n");
    file("e.json", "{\"bistro_job->b\": {\"owner\": \"o\"}}");
    String d = directory.resolve("d.yaml").toString();
    String e = directory.resolve("e.json").toString();
    assertThat(LOADER.load(fetched(directory)).problems())
        .extracting(problem -> problem.at().file() + " " + problem.path())
        .containsExactly(d + " tree", d + " jobs.b", e + " bistro_job->b");
  }

  @Test
  void aTextWithoutATellingNameIsKnownByItsFirstKey() {
    for (String start : List.of("", "# a comment\n\n---\n", "\ufeff")) {
      Result<Config> loaded =
          LOADER.load(new Text(List.of(new Document("main", start + TREE)), ""));
      assertThat(loaded.hasErrors()).as(start).isFalse();
    }
  }

  @Test
  void whatIsOutOfItsRangeIsToldWithUnits() {
    String job =
        """
        jobs:
          a: {owner: o, timeout: 99999d, backoff: [500ms, 99999999999s],
              fail_when: {failed: 200%}}
        """;
    assertThat(LOADER.load(new Text(List.of(new Document("a.yaml", TREE + job)), "")).problems())
        .extracting(problem -> problem.path() + ": " + problem.message())
        .containsExactlyInAnyOrder(
            "jobs.a.timeout: expected a time from 1ms to 1000000000s",
            "jobs.a.backoff[0]: expected a time of whole seconds",
            "jobs.a.backoff[1]: expected a time from 1s to 2147483647s",
            "jobs.a.fail_when.failed: expected a share from 0% to 100%");
  }

  @Test
  void problemsOfJsonBesideYamlKeepTheirWords() {
    Text text =
        new Text(
            List.of(
                new Document("a.yaml", TREE + "jobs: {a: {owner: o, timeout: -1s}}\n"),
                new Document(
                    "b.json", "{\"bistro_job->b\": {\"owner\": \"o\", \"timeout_sec\": -1}}")),
            "");
    assertThat(LOADER.load(text).problems())
        .extracting(Problem::path)
        .containsExactly("jobs.a.timeout", "bistro_job->b.timeout_sec");
  }

  @Test
  void jobsInYamlAreNotEdited() throws Exception {
    Path site = file("site.yaml", TREE + "jobs:\n  a: {owner: o}\n");
    String before = Files.readString(site);
    JobEditor editor = editor(site);
    Json.Obj job = Json.object().put("owner", "p").build();
    assertThatThrownBy(() -> editor.save("a", job, JobVersions.ANY, "me", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessage("job a is written in YAML, which is only read: edit " + site + ":5:6");
    assertThatThrownBy(() -> editor.delete("a", JobVersions.ANY, "me", ""))
        .isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> editor.save("new", job, JobVersions.ANY, "me", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("add job new to it by hand, or configure its directory");
    assertThat(Files.readString(site)).isEqualTo(before);
  }

  @Test
  void aNewJobIsSavedBesideYamlInADirectory() throws Exception {
    file("site.yaml", TREE + "jobs:\n  a: {owner: o}\n");
    JobEditor editor = editor(directory);
    Json.Obj job = Json.object().put("owner", "p").build();
    editor.save("b", job, JobVersions.NEW, "me", "");
    editor.save("b", job, JobVersions.EXISTING, "me", "");
    assertThat(good(fetched(directory)).jobs()).containsOnlyKeys("a", "b");
    assertThat(directory.resolve("job-b.json")).exists();
    assertThatThrownBy(() -> editor.save("a", job, JobVersions.ANY, "me", ""))
        .hasMessageContaining("job a is written in YAML");
  }

  @Test
  void aJobThatIsCheckedIsToldInItsOwnNotation() throws Exception {
    Path site = file("site.yaml", TREE + "jobs:\n  a: {owner: o, timout: 3s}\n");
    Json.Obj job = Json.object().put("owner", "p").put("timeout_sec", -1).build();
    assertThat(editor(site).check("a", job).problems())
        .extracting(Problem::path)
        .containsExactly("bistro_job->a.timeout_sec");
  }

  private static JobEditor editor(Path path) throws Exception {
    return new JobEditor(
        ConfigSources.open(path.toString()), ConfigFixtures.parser(), InstantSource.system());
  }
}
