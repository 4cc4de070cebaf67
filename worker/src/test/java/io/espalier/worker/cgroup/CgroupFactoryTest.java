package io.espalier.worker.cgroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * P11 and P18 of docs/design/bistro.md#conformance-of-tasks with the control groups of this
 * machine.
 */
class CgroupFactoryTest {
  private static final CgroupLimits EVERYTHING =
      new CgroupLimits(
          OptionalLong.of(1337),
          OptionalLong.of(0),
          OptionalInt.of(200),
          OptionalInt.of(150),
          OptionalInt.of(77),
          OptionalInt.empty(),
          true);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private static CgroupFactory site(Cgroups options) {
    return CgroupFactory.configured(options, CgroupHost.discover());
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file).strip();
  }

  @Test
  void p11ATaskGetsADirectoryInEachSubsystemAndToldOnRelease() throws IOException {
    try (RealGroups groups = RealGroups.first("cpu", "memory", "freezer")) {
      CgroupFactory.Made made = site(groups.options()).create("local:x:1:2", CgroupLimits.NONE);
      assertThat(made.unmet()).isEmpty();
      assertThat(made.group().paths())
          .containsExactly(
              groups.slice("cpu").resolve("local:x:1:2"),
              groups.slice("memory").resolve("local:x:1:2"),
              groups.slice("freezer").resolve("local:x:1:2"));
      for (Path path : made.group().paths()) {
        assertThat(read(path.resolve("notify_on_release"))).isEqualTo("1");
        assertThat(read(path.resolve("cgroup.procs"))).isEmpty();
      }
      assertThat(made.group().remove()).isEmpty();
      assertThat(made.group().paths()).noneMatch(Files::exists);
    }
  }

  @Test
  void p11NoSubsystemsMakeNothingAndAMissingSliceIsNamed() {
    try (RealGroups groups = RealGroups.first("cpu")) {
      assertThatThrownBy(
              () ->
                  site(new Cgroups(groups.options().root(), "no/such", List.of("cpu"), false))
                      .create("x", CgroupLimits.NONE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("there is no directory")
          .hasMessageContaining("cpu/no/such");
    }
  }

  @Test
  void p18LimitsAreWrittenAndReadBackInTheirUnits() throws IOException {
    try (RealGroups groups = RealGroups.first("cpu", "memory", "pids")) {
      CgroupFactory.Made made = site(groups.options()).create("x", EVERYTHING);
      assertThat(made.unmet()).isEmpty();
      Path cpu = groups.slice("cpu").resolve("x");
      Path memory = groups.slice("memory").resolve("x");
      assertThat(read(cpu.resolve("cpu.shares"))).isEqualTo("2048");
      assertThat(read(cpu.resolve("cpu.cfs_period_us"))).isEqualTo("100000");
      assertThat(read(cpu.resolve("cpu.cfs_quota_us"))).isEqualTo("150000");
      assertThat(read(groups.slice("pids").resolve("x/pids.max"))).isEqualTo("77");
      long bytes = 1337L << 20;
      assertThat(read(memory.resolve("memory.limit_in_bytes"))).isEqualTo("" + bytes);
      assertThat(read(memory.resolve("memory.memsw.limit_in_bytes"))).isEqualTo("" + bytes);
      made.group().remove();
    }
  }

  /** Shares from cores, as they are (docs/design/bistro.md#enforcement). */
  @Test
  void p18CpuSharesThreeIsThree() throws IOException {
    try (RealGroups groups = RealGroups.first("cpu")) {
      CgroupLimits three =
          new CgroupLimits(
              OptionalLong.empty(),
              OptionalLong.empty(),
              OptionalInt.empty(),
              OptionalInt.empty(),
              OptionalInt.empty(),
              OptionalInt.empty(),
              false,
              OptionalInt.of(3));
      CgroupFactory.Made made = site(groups.options()).create("x", three);
      assertThat(read(groups.slice("cpu").resolve("x/cpu.shares"))).isEqualTo("3");
      made.group().remove();
    }
  }

  @Test
  void p18WhatIsMadeBeforeAProblemIsRemovedAndWhatOthersMadeStays() throws IOException {
    try (RealGroups groups = RealGroups.first("cpu", "memory", "freezer")) {
      Path foreign = Files.createDirectory(groups.slice("memory").resolve("x"));
      Path inUse = Files.createDirectory(groups.slice("freezer").resolve("x"));
      assertThatThrownBy(() -> site(groups.options()).create("x", CgroupLimits.NONE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(foreign + " exists already")
          .hasMessageContaining(inUse + " exists already");
      assertThat(groups.slice("cpu").resolve("x")).doesNotExist();
      assertThat(foreign).exists();
      assertThat(inUse).exists();
    }
  }

  @Test
  void p18SeveralProblemsAreToldTogether() {
    try (RealGroups groups = RealGroups.first("cpu")) {
      Cgroups two = groups.options(false, "cpu", "nonsense", "memory");
      assertThatThrownBy(() -> site(two).create("x", CgroupLimits.NONE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("nonsense")
          .hasMessageContaining("memory");
      assertThat(groups.tasks("cpu")).isEmpty();
    }
  }

  /** A plain directory stands for a hierarchy whose files we may not write. */
  @Test
  void aDirectoryThatIsNoControlGroupIsRefusedAndLeftAsItWas() throws IOException {
    Path slice = Files.createDirectories(directory.resolve("memory/slice"));
    Cgroups plain = new Cgroups(directory.toString(), "slice", List.of("memory"), false);
    assertThatThrownBy(() -> site(plain).create("x", CgroupLimits.NONE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("notify_on_release");
    try (var left = Files.list(slice)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void aLimitWithoutItsControllerIsUnmetAndSaysWhich() throws IOException {
    try (RealGroups groups = RealGroups.first("cpu")) {
      CgroupFactory.Made made = site(groups.options()).create("x", EVERYTHING);
      assertThat(made.unmet())
          .anyMatch(unmet -> unmet.startsWith("memory_mb: ") && unmet.contains("\"memory\""))
          .anyMatch(unmet -> unmet.startsWith("pids_max: ") && unmet.contains("\"pids\""))
          .noneMatch(unmet -> unmet.startsWith("cpu_"));
      made.group().remove();
    }
  }

  @Test
  void aSlotInTheHierarchyOfVersionTwoStandsForAllSubsystems() throws IOException {
    try (RealGroups groups = RealGroups.second()) {
      CgroupFactory site = site(groups.options());
      assertThat(site.problems()).isEmpty();
      assertThat(site.killsStrays()).isTrue();
      CgroupFactory.Made made = site.create("x", CgroupLimits.NONE);
      assertThat(made.group().paths()).containsExactly(groups.slice("freezer").resolve("x"));
      assertThat(made.group().canKill()).isTrue();
      assertThat(made.group().remove()).isEmpty();
    }
  }

  @Test
  void aHostWithoutControlGroupsCanLimitNothing() throws IOException {
    try (CgroupFactory site = CgroupFactory.automatic(CgroupHost.none())) {
      assertThat(site.isEmpty()).isTrue();
      CgroupFactory.Made made = site.create("x", EVERYTHING);
      assertThat(made.group().paths()).isEmpty();
      assertThat(made.unmet()).hasSize(5);
    }
  }
}
