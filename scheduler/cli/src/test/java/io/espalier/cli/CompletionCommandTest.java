package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionCommandTest {
  /** What bash offers after these words. */
  private static String completed(Path dir, String... words) throws IOException {
    Path script = dir.resolve("completion");
    Files.writeString(
        script,
        CompletionCommand.script(EspalierCommand.line(Map.of()), CompletionCommand.Shell.bash));
    Path program = dir.resolve("espalier");
    Files.writeString(
        program,
        "#!/bin/sh\n"
            + "[ \"$*\" = 'jobs --names' ] && printf '%s\\n"
            + "' backup 'back up' '$(touch pwned)'\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    StringBuilder array = new StringBuilder();
    for (String word : words) {
      array.append(" '").append(word).append('\'');
    }
    String test =
        """
        set -eu
        compopt() { :; } # only there while completing
        . ./completion
        COMP_WORDS=(./espalier%s) COMP_CWORD=%d COMP_LINE='espalier' COMP_POINT=8
        COMPREPLY=()
        _espalier_with_jobs
        printf '%%s\\n' "${COMPREPLY[@]}"
        """
            .formatted(array, words.length);
    Process bash =
        new ProcessBuilder("bash", "-c", test)
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .start();
    return new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void commandsFlagsAndNamesOfJobsAreCompleted(@TempDir Path dir) throws IOException {
    assertThat(completed(dir, "re")).contains("rerun").contains("resume");
    assertThat(completed(dir, "rerun", "--p")).contains("--preview", "--prefix");
    assertThat(completed(dir, "rerun", "ba").lines())
        .containsExactlyInAnyOrder("backup", "back\\ up");
    assertThat(completed(dir, "job", "sh")).contains("show");
    assertThat(completed(dir, "job", "show", "back").lines())
        .containsExactlyInAnyOrder("backup", "back\\ up");
    assertThat(completed(dir, "completion", "")).contains("bash").contains("zsh");
  }

  @Test
  void aNameOfAJobIsNeverEvaluated(@TempDir Path dir) throws IOException {
    assertThat(completed(dir, "explain", "$").strip()).isEqualTo("\\$\\(touch\\ pwned\\)");
    assertThat(dir.resolve("pwned")).doesNotExist();
  }
}
