package io.espalier.core.config;

import static io.espalier.testkit.config.ConfigFixtures.job;
import static io.espalier.testkit.config.ConfigFixtures.withJobs;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Physical resources become slots, slots become limits of tasks
 * (docs/design/bistro.md#resources-of-workers, docs/design/bistro.md#enforcement).
 */
class PhysicalResourcesTest {
  private static final String RESOURCES =
      "'resources': {'worker': {'ram': {'default': 1, 'limit': 100}, 'cpu': {'default': 0,"
          + " 'limit': 7}, 'gpu': {'default': 0, 'limit': 3}, 'GPU: a': {'default': 0, 'limit':"
          + " 0}}, 'instance': {'global': {'default': 5, 'limit': 10}}}";

  private static Config config(String physical, String overrides, String job) {
    return withJobs(
        "{'nodes': {'levels': ['db'], 'node_sources': [{'source': 'empty'}]}, "
            + RESOURCES
            + ", 'physical_resources': {"
            + physical
            + "}, 'worker_resources_override': {"
            + overrides
            + "}}",
        "foo",
        "{'owner': 'o'" + (job.isEmpty() ? "" : ", " + job) + "}");
  }

  private static Settings settings(String physical, String overrides) {
    return config(physical, overrides, "").settings();
  }

  private static Map<String, Integer> slots(Settings settings, Map<String, Long> physical) {
    return WorkerSlots.of(settings, "host:1", "host", "shard", physical);
  }

  private static WorkerAllocation share(String physical, String job) {
    Config config = config(physical, "", job);
    assertThat(job(config, "foo").problems()).isEmpty();
    return WorkerAllocation.of(config.settings(), job(config, "foo"));
  }

  @ParameterizedTest
  @CsvSource({"10, 4", "8, 3", "5, 2", "2, 0", "1, 0", "0, 100", "9007199254740992, 2147483647"})
  void w21_whole_slots_are_left_after_the_reserve(long physical, int slots) {
    Settings settings =
        settings(
            "'ram_mb': {'logical_resource': 'ram', 'multiply_logical_by': 2,"
                + " 'physical_reserve_amount': 1}",
            "");
    assertThat(slots(settings, Map.of("ram_mb", physical))).containsEntry("ram", slots);
  }

  @Test
  void w21_cards_are_counted_under_their_name_and_unknown_names_are_ignored() {
    Settings settings = settings("'gpu_card': {'logical_resource': 'gpu'}", "");
    assertThat(slots(settings, Map.of("gpu_card", 4L, "GPU: a", 3L, "GPU: b", 1L, "ram", 5L)))
        .containsExactly(
            Map.entry("ram", 100),
            Map.entry("cpu", 7),
            Map.entry("gpu", 4),
            Map.entry("GPU: a", 3));
  }

  @Test
  void what_is_not_known_keeps_the_limit_and_a_host_can_be_full_of_its_reserve() {
    String physical =
        "'cpu_core': {'logical_resource': 'cpu', 'multiply_logical_by': 0.01,"
            + " 'physical_reserve_amount': 1}";
    assertThat(slots(settings(physical, ""), Map.of())).containsEntry("cpu", 7);
    assertThat(slots(settings(physical, ""), Map.of("cpu_core", 0L))).containsEntry("cpu", 7);
    assertThat(slots(settings(physical, ""), Map.of("cpu_core", 1L))).containsEntry("cpu", 0);
    assertThat(slots(settings(physical, ""), Map.of("cpu_core", 3L))).containsEntry("cpu", 200);
  }

  @ParameterizedTest
  @CsvSource({
    "'''host:1'': {''ram'': 1}, ''host'': {''ram'': 2}, ''shard'': {''ram'': 3}', 1, 5",
    "'''host'': {''ram'': 2, ''cpu'': 0}, ''shard'': {''ram'': 3}', 2, 0",
    "'''shard'': {''ram'': 3}', 3, 5",
    "'''other'': {''ram'': 3}', 4, 5",
    "'''host:1'': {}, ''shard'': {''ram'': 3}', 4, 5"
  })
  void the_first_override_that_names_the_worker_wins_over_what_it_has(
      String overrides, int ram, int cpu) {
    Settings settings =
        settings(
            "'ram_mb': {'logical_resource': 'ram'}, 'cpu_core': {'logical_resource': 'cpu'}",
            overrides);
    assertThat(slots(settings, Map.of("ram_mb", 4L, "cpu_core", 5L)))
        .containsEntry("ram", ram)
        .containsEntry("cpu", cpu);
  }

  @Test
  void w19_shares_are_rounded_and_memory_is_in_megabytes() {
    WorkerAllocation share =
        share(
            "'cpu_core': {'logical_resource': 'cpu', 'multiply_logical_by': 0.01, 'enforcement':"
                + " 'soft'}, 'ram_mb': {'logical_resource': 'ram', 'multiply_logical_by': 1024,"
                + " 'enforcement': 'hard'}",
            "'resources': {'cpu': 270, 'ram': 3}");
    assertThat(share.slots()).isEqualTo(Map.of("cpu", 270, "ram", 3));
    assertThat(share.limits().cpuShares()).isEqualTo(OptionalInt.of(6));
    assertThat(share.limits().memoryMb()).isEqualTo(OptionalLong.of(3072));
    assertThat(share.warnings()).isEmpty();
  }

  @Test
  void w19_what_a_control_group_cannot_say_is_bent_with_a_warning() {
    WorkerAllocation large =
        share(
            "'cpu_core': {'logical_resource': 'cpu', 'enforcement': 'soft'},"
                + " 'ram_mb': {'logical_resource': 'ram', 'multiply_logical_by': 1e300,"
                + " 'enforcement': 'hard'}",
            "'resources': {'cpu': 40000}");
    assertThat(large.limits().cpuShares()).isEqualTo(OptionalInt.of(65_535));
    assertThat(large.limits().memoryMb()).isEqualTo(OptionalLong.of(1L << 43));
    assertThat(large.warnings())
        .containsExactlyInAnyOrder(
            "CPU shares for an amount of 40000.0 cannot be set: 65535 is used instead",
            "memory in MB for an amount of 1.0E300 cannot be set: 8796093022208 is used instead");
    WorkerAllocation small =
        share(
            "'cpu_core': {'logical_resource': 'cpu', 'multiply_logical_by': 0.1, 'enforcement':"
                + " 'soft'}",
            "'resources': {'cpu': 1}");
    assertThat(small.limits().cpuShares()).isEqualTo(OptionalInt.of(2));
    assertThat(small.warnings()).hasSize(1);
  }

  @Test
  void nothing_is_enforced_that_is_not_needed_or_not_asked_for() {
    String physical =
        "'cpu_core': {'logical_resource': 'cpu', 'enforcement': 'soft'}, 'ram_mb':"
            + " {'logical_resource': 'ram', 'enforcement': 'none'}";
    WorkerAllocation share = share(physical, "'resources': {'ram': 9}");
    assertThat(share.limits().isEmpty()).isTrue();
    assertThat(share.slots()).isEqualTo(Map.of("ram", 9));
  }

  @ParameterizedTest
  @CsvSource({"512, 512", "4096, 3072"})
  void the_smaller_memory_and_the_job_s_own_weight_stand(long own, long inForce) {
    WorkerAllocation share =
        share(
            "'cpu_core': {'logical_resource': 'cpu', 'enforcement': 'soft'}, 'ram_mb':"
                + " {'logical_resource': 'ram', 'multiply_logical_by': 1024, 'enforcement':"
                + " 'hard'}",
            "'resources': {'cpu': 1, 'ram': 3}, 'task_subprocess': {'cgroup_limits':"
                + " {'memory_mb': "
                + own
                + ", 'cpu_weight': 50, 'pids_max': 9, 'enforce': 'required'}}");
    assertThat(share.limits().memoryMb()).isEqualTo(OptionalLong.of(inForce));
    assertThat(share.limits().cpuWeight()).isEqualTo(OptionalInt.of(50));
    assertThat(share.limits().cpuShares()).isEmpty();
    assertThat(share.limits().pidsMax()).isEqualTo(OptionalInt.of(9));
    assertThat(share.limits().required()).isTrue();
  }
}
