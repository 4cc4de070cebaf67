package io.espalier.worker.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * P19 of docs/design/bistro.md#conformance-of-tasks, as far as programs are asked something;
 * scripts of nodes: {@code ScriptNodesTest}.
 */
class NvidiaSmiTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private static final String CARDS =
      """
      00000000:03:00.0, 11519, 55, 0, Tesla M40
      00000000:04:00.0, 11519, 1020, 25, Tesla, M40
      00000000:84:00.0, [N/A], [Not Supported], 100, Tesla K40m
      """;
  private static final String PROCESSES =
      "17, 00000000:03:00.0\n18, 00000000:03:00.0\n17, 00000000:84:00.0\n";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  /** A tool that prints what it is asked for, after these lines. */
  private NvidiaSmi tool(Duration timeout, String script) throws IOException {
    Path tool = directory.resolve("smi");
    Files.writeString(tool, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
    return new NvidiaSmi(tool.toString(), timeout);
  }

  private NvidiaSmi printing(String cards, String processes) throws IOException {
    Files.writeString(directory.resolve("cards"), cards);
    Files.writeString(directory.resolve("processes"), processes);
    return tool(
        LONG,
        "cd '"
            + directory
            + "'; case \"$1\" in --query-gpu=*) cat cards;; --query-compute-apps=*) cat processes;;"
            + " esac");
  }

  @Test
  void r1_without_a_tool_there_are_no_cards() throws IOException {
    assertThat(new NvidiaSmi("", LONG).read()).isEqualTo(GpuTable.EMPTY);
    assertThat(new NvidiaSmi("off", LONG).read()).isEqualTo(GpuTable.EMPTY);
    assertThat(NvidiaSmi.found(directory + ":relative").isOn()).isFalse();
  }

  @Test
  void r1_three_cards_and_their_processes_are_understood() throws IOException {
    GpuTable table = printing(CARDS, PROCESSES).read();
    assertThat(table.gpus())
        .containsExactly(
            new Gpu("00000000:03:00.0", "Tesla M40", 11519, 55, 0),
            new Gpu("00000000:04:00.0", "Tesla, M40", 11519, 1020, 0.25),
            new Gpu("00000000:84:00.0", "Tesla K40m", 0, 0, 1));
    assertThat(table.usedBy(List.of(18L)))
        .extracting(Gpu::busId)
        .containsExactly("00000000:03:00.0");
    assertThat(table.usedBy(List.of(18L, 17L)))
        .extracting(Gpu::name)
        .containsExactly("Tesla M40", "Tesla K40m");
    assertThat(table.usedBy(List.of(1L))).isEmpty();
  }

  @Test
  void r3_a_worker_offers_its_cards_with_all_their_memory() throws IOException {
    HostResources seen = HostResourceReader.ofThisHost(printing(CARDS, "")).read();
    assertThat(seen.gpus()).extracting(Gpu::memoryMb).containsExactly(11519.0, 11519.0, 0.0);
    assertThat(Gpu.COMPUTE).isEqualTo(1.0);
    assertThat(seen.physical()).containsEntry("gpu_card", 3L).containsEntry("GPU: Tesla M40", 1L);
  }

  @Test
  void r4_the_arguments_of_the_tool() {
    assertThat(NvidiaSmi.GPU_ARGUMENTS)
        .containsExactly(
            "--query-gpu=pci.bus_id,memory.total,memory.used,utilization.gpu,name",
            "--format=csv,noheader,nounits");
    assertThat(NvidiaSmi.PROCESS_ARGUMENTS)
        .containsExactly("--query-compute-apps=pid,gpu_bus_id", "--format=csv,noheader,nounits");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NVIDIA-SMI has failed because it could not communicate with the driver.",
        "0000, 1, 2, 3",
        "0000, 1, 2, x, name",
        "0000, -1, 2, 3, name",
        "0000, 1, 2, 3, ",
        "0000, NaN, 2, 3, name"
      })
  void what_cannot_be_understood_is_an_error_and_no_cards_are_offered(String cards)
      throws IOException {
    NvidiaSmi tool = printing(cards, "");
    assertThatThrownBy(tool::read).isInstanceOf(IOException.class).hasMessageContaining("a card");
    HostResources seen = HostResourceReader.ofThisHost(tool).read();
    assertThat(seen.gpus()).isEmpty();
    assertThat(seen.notes()).hasSize(1);
    assertThat(seen.cpuCores()).isPositive();
  }

  @Test
  void a_bad_line_about_a_process_is_an_error() throws IOException {
    NvidiaSmi tool = printing(CARDS, "pid, bus\n");
    assertThatThrownBy(tool::read).hasMessageContaining("about a process");
  }

  @Test
  void a_tool_that_hangs_is_ended_in_time_with_all_that_it_started() throws Exception {
    Path pid = directory.resolve("pid");
    NvidiaSmi tool = tool(Duration.ofMillis(300), "sleep 1000 & echo $! > '" + pid + "'; wait");
    assertThatThrownBy(tool::read).hasMessageContaining("did not answer within 300 ms");
    if (Files.exists(pid)) {
      long child = Long.parseLong(Files.readString(pid).strip());
      org.awaitility.Awaitility.await()
          .until(() -> ProcessHandle.of(child).filter(ProcessHandle::isAlive).isEmpty());
    }
  }

  @Test
  @Timeout(60)
  void a_tool_that_leaves_a_child_on_its_pipe_does_not_hold_us() throws IOException {
    NvidiaSmi tool = tool(Duration.ofMillis(300), "sleep 600 & echo $! > \"$0.child\"; exit 0");
    try {
      // Whether the virtual machine closes the pipe with the tool's end depends on who is first.
      assertThat(tool.read()).isEqualTo(GpuTable.EMPTY);
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("did not answer within 300 ms");
    } finally {
      String child = Files.readString(directory.resolve("smi.child")).strip();
      ProcessHandle.of(Long.parseLong(child)).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void endless_output_is_cut_off() throws IOException {
    NvidiaSmi tool = tool(LONG, "head -c 3000000 /dev/zero");
    assertThatThrownBy(tool::read).hasMessageContaining("more than 1048576 bytes");
  }

  @Test
  void a_tool_that_fails_or_cannot_be_started_is_an_error() throws IOException {
    assertThatThrownBy(tool(LONG, "exit 9")::read).hasMessageContaining("ended with code 9");
    assertThatThrownBy(new NvidiaSmi(directory + "/none", LONG)::read)
        .isInstanceOf(IOException.class);
  }
}
