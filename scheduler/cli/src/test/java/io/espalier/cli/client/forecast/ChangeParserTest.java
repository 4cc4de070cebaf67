package io.espalier.cli.client.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.testkit.config.ConfigFixtures;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChangeParserTest {
  private static final Config CONFIG =
      Objects.requireNonNull(
          ConfigFixtures.parser()
              .inspect(
                  ConfigFixtures.json(
                      """
                      {'bistro_settings': {
                         'nodes': {'levels': ['host'], 'node_sources': []},
                         'max_concurrent': 7,
                         'resources': {'host': {'slots': {'default': 1, 'limit': 2},
                                                'disk': {'default': 0, 'limit': 9}}}},
                       'bistro_job->backup': {'owner': 'o', 'resources': {'disk': 3}},
                       'bistro_job->backup.old': {'owner': 'o', 'enabled': false},
                       'bistro_job->broken': {'owner': 'o', 'level_for_tasks': 'nowhere'}}
                      """))
              .value());

  private final ChangeParser parser = new ChangeParser(CONFIG, nodes(), ConfigFixtures.parser());

  private static Topology nodes() {
    TopologyBuilder builder = new TopologyBuilder(CONFIG.settings().levels(), "here");
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value());
  }

  private Job changed(String name, String... texts) {
    Map<String, Job> jobs = parser.jobs(List.of(texts));
    assertThat(jobs).containsOnlyKeys(name);
    return Objects.requireNonNull(jobs.get(name));
  }

  private static int need(Job job, String resource) {
    int index = Objects.requireNonNull(CONFIG.settings().resources().find(resource)).index();
    return job.needs().get(index);
  }

  @Test
  void changesOfOneJobApplyTogether() {
    Job job =
        changed(
            "backup",
            "backup.priority=2.5",
            "backup.max_concurrent=4",
            "backup.resources.slots=2",
            "backup.enabled=false");
    assertThat(job.priority()).isEqualTo(2.5);
    assertThat(job.scheduling().maxConcurrent()).isEqualTo(4);
    assertThat(need(job, "slots")).isEqualTo(2);
    assertThat(need(job, "disk")).as("as before").isEqualTo(3);
    assertThat(job.enabled()).isFalse();
    assertThat(parser.jobs(List.of())).isEmpty();
  }

  @Test
  void namesMayHaveDotsAndWhatIsInheritedStays() {
    Job job = changed("backup.old", "backup.old.enabled=true");
    assertThat(job.canRun()).isTrue();
    assertThat(job.scheduling().maxConcurrent())
        .isEqualTo(Objects.requireNonNull(CONFIG.job("backup")).scheduling().maxConcurrent());
    assertThat(changed("backup", "backup.max_concurrent=false").scheduling().maxConcurrent())
        .as("no bound")
        .isZero();
  }

  @Test
  void aBrokenJobStaysBroken() {
    assertThat(changed("broken", "broken.priority=2").isValid()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "backup                     | must be like backup.max_concurrent=4",
        "backup.priority            | must be like backup.max_concurrent=4",
        "priority=2                 | must be like backup.max_concurrent=4",
        "bakup.priority=2           | there is no job \"bakup\"; did you mean \"backup\"?",
        "bakup.resources.slots=2    | there is no job \"bakup\"; did you mean \"backup\"?",
        "backup.prioritty=2         | cannot change \"prioritty\" of a job; did you mean \"priority\"?",
        "backup.command=2           | there are enabled, max_concurrent, priority, resources.NAME",
        "backup.resources.slotz=2   | there is no resource \"slotz\"; did you mean \"slots\"?",
        "backup.resources.slots=-1  | expected",
        "backup.max_concurrent=many | expected",
        "backup.max_concurrent=0    | expected",
        "backup.enabled=maybe       | expected",
        "backup.priority=-1         | expected",
        "backup.priority=           | expected",
      })
  void whatCannotBeChangedIsRefused(String text, String message) {
    assertThatThrownBy(() -> parser.jobs(List.of("backup.priority=1", text)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("--job \"" + text + "\"")
        .hasMessageContaining(message);
  }
}
