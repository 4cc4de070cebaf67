package io.espalier.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.read.ConfigSection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** docs/config-reference.md lists exactly the keys that the parser knows. */
class ConfigReferenceTest {
  private static final Path REFERENCE = Path.of("../../docs/config-reference.md");
  private static final Pattern HEADING = Pattern.compile("#+ (.*)");
  private static final Pattern ROW = Pattern.compile("\\| `([^`]+)` \\|.*");

  @ParameterizedTest
  @EnumSource
  void everyKeyIsDocumentedInItsPlaceAndNoOther(ConfigSection place) throws IOException {
    assertThat(keys(heading(place), place == ConfigSection.PHYSICAL_RESOURCE ? 1 : 0))
        .containsExactlyElementsOf(place.keys());
  }

  private static String heading(ConfigSection place) {
    return switch (place) {
      case SETTINGS -> "bistro_settings";
      case NODES -> "nodes";
      case NODE_SOURCE -> "node_sources";
      case CHANGE_GUARD -> "change_guard";
      case RESOURCE -> "resources";
      case NODE_LIMIT -> "node_resources_override";
      case PHYSICAL_RESOURCES, PHYSICAL_RESOURCE -> "physical_resources";
      case TASK_SUBPROCESS -> "task_subprocess";
      case CGROUPS -> "cgroups";
      case IONICE -> "ionice";
      case CGROUP_LIMITS -> "cgroup_limits";
      case START_RATE -> "start_rate";
      case LOG_RETENTION -> "log_retention";
      case RETRY -> "retry";
      case KILL_SUBPROCESS -> "kill_subprocess";
      case JOB -> "bistro_job";
      case QUEUE -> "queues";
      case WHOLE_JOB -> "run_only_after_all_nodes_are_done_for";
      case FAIL_JOB_WHEN -> "fail_job_when";
      case SUCCEED_JOB_WHEN -> "succeed_job_when";
      case FILTER -> "filters";
    };
  }

  /** The first column of the n-th table of keys below a heading. */
  private static List<String> keys(String heading, int table) throws IOException {
    List<String> keys = new ArrayList<>();
    boolean below = false;
    int tables = -1;
    for (String line : Files.readAllLines(REFERENCE)) {
      Matcher title = HEADING.matcher(line);
      if (title.matches()) {
        below = title.group(1).equals(heading);
      } else if (below && line.startsWith("| key |")) {
        tables++;
      } else if (line.startsWith("| ") && !line.startsWith("| `") && !line.startsWith("|---")) {
        below = false; // a table of something else
      }
      Matcher row = ROW.matcher(line);
      if (below && tables == table && row.matches()) {
        keys.add(row.group(1));
      }
    }
    return keys;
  }
}
