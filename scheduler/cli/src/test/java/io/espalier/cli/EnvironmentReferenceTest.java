package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/environment.md lists the variables that the code reads and sets, and no others. */
final class EnvironmentReferenceTest {
  private static final Pattern VARIABLE = Pattern.compile("ESPALIER_[A-Z]+(_[A-Z]+)*(?![A-Z_])");

  /** Names of flags as variables, in texts that explain them. */
  private static final Set<String> FLAGS = Set.of("ESPALIER_DATA_DIR", "ESPALIER_HTTP");

  private static Path root() {
    Path at = Path.of("").toAbsolutePath();
    while (at != null && !Files.exists(at.resolve("docs/environment.md"))) {
      at = at.getParent();
    }
    return Objects.requireNonNull(at, "not within the repository");
  }

  private static Set<String> named(Path file) throws IOException {
    Set<String> found = new TreeSet<>();
    VARIABLE.matcher(Files.readString(file)).results().forEach(r -> found.add(r.group()));
    found.removeAll(FLAGS);
    return found;
  }

  @Test
  void theReferenceListsTheVariablesOfTheCode() throws IOException {
    Path root = root();
    Set<String> used = new TreeSet<>(named(root.resolve("espalier")));
    for (String module : List.of("scheduler", "worker", "node-sources", "policies", "webui")) {
      try (Stream<Path> files = Files.walk(root.resolve(module))) {
        for (Path file : files.filter(EnvironmentReferenceTest::isMain).toList()) {
          used.addAll(named(file));
        }
      }
    }
    assertThat(used).contains("ESPALIER_TASK_DEADLINE", "ESPALIER_LOG_LEVEL");
    assertThat(named(root.resolve("docs/environment.md")))
        .containsExactlyInAnyOrderElementsOf(used);
  }

  private static boolean isMain(Path file) {
    String path = file.toString();
    return path.endsWith(".java")
        && path.contains("/src/main/java/")
        && !path.contains("/benchmark/");
  }
}
