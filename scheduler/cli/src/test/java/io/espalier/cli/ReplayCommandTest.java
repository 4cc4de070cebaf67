package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.json.JsonReader;
import io.espalier.server.ExitCode;
import io.espalier.server.app.Plugins;
import io.espalier.server.replay.Recording;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ReplayCommandTest {
  private static final String SECRET = "hunter2";
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "scheduler": "%s",
         "nodes": {"levels": ["host", "db"], "node_order": "random",
                   "node_sources": [{"source": "manual", "prefs": {"password": "hunter2"}}]},
         "resources": {"host": {"slots": {"default": 1, "limit": 3}},
                       "worker": {"cpu": {"default": 1, "limit": 4}}},
         "remote_worker_selector": "%s"},
       "bistro_job->light": {"owner": "o", "command": ["/bin/echo", "hunter2"], "priority": 2},
       "bistro_job->heavy": {"owner": "o", "config": {"key": "hunter2"}, "resources": {"slots": 2},
                             "filters": {"db": {"tag_whitelist": ["big"]}},
                             "workers": "not slow or zone == 'a'"},
       "bistro_job->broken": {"owner": "o", "level_for_tasks": "nowhere"}}
      """;

  private final Plugins plugins = Plugins.load();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Path file;

  ReplayCommandTest(@TempDir Path directory) {
    file = directory.resolve("run.rec");
  }

  private int replay(String... more) {
    List<String> args = new ArrayList<>(List.of(file.toString()));
    args.addAll(List.of(more));
    CommandLine line = EspalierCommand.line(Map.of());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    args.add(0, "replay");
    return line.execute(args.toArray(String[]::new));
  }

  private Config config(String policy, String selector) {
    Json document =
        Objects.requireNonNull(JsonReader.parse(CONFIG.formatted(policy, selector)).value());
    return Objects.requireNonNull(plugins.configParser().parse(document).value());
  }

  private static Topology nodes(Levels levels, int hosts) {
    TopologyBuilder builder = new TopologyBuilder(levels, "here");
    for (int host = 0; host < hosts; host++) {
      builder.add(NodeSpec.child(1, "h" + host, "here"));
    }
    for (int db = 0; db < hosts * 5; db++) {
      Set<String> tags = db % 2 == 0 ? Set.of("big") : Set.of();
      Json.Obj size = Json.object().put("size", db).build();
      builder.add(new NodeSpec(2, "d" + db, "h" + db % hosts, 1, db % 7 > 0, tags, size));
      if (db % 3 == 0) {
        // A replica.
        builder.add(NodeSpec.child(2, "d" + db, "h" + (db + 1) % hosts));
      }
    }
    return Objects.requireNonNull(builder.build(io.espalier.core.config.NodeOrder.RANDOM).value());
  }

  private static List<WorkerInfo> workers(int count) {
    List<WorkerInfo> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(
          new WorkerInfo(
              new WorkerRef("w" + i, i),
              "host" + i,
              "host" + i + ":1",
              WorkerInfo.State.HEALTHY,
              false,
              Map.of("ram_mb", 1L << 33),
              i == 0 ? Map.of() : Map.of("slow", "yes", "zone", i == 1 ? "a" : "b"),
              0,
              0,
              0,
              "",
              i == 0 ? MeasuredLoad.UNKNOWN : new MeasuredLoad(i == 1 ? -1 : 300, count * 100),
              HostFigures.UNKNOWN));
    }
    return all;
  }

  /** Lives through some of everything; returns how many tasks were started. */
  private int record(long seed, String policyName) throws IOException {
    return record(seed, policyName, "busiest");
  }

  private int record(long seed, String policyName, String selector) throws IOException {
    Random random = new Random(seed);
    SchedulingPolicy policy = Objects.requireNonNull(plugins.policies().get(policyName));
    List<Long> running = new ArrayList<>();
    int[] starts = {0};
    try (Recording recording = Recording.create(file, seed, plugins.workerSelectors().keySet())) {
      SchedulingCore core = new SchedulingCore(seed, plugins.workerSelectors());
      core.recordTo(recording);
      Config config = config(policyName, selector);
      core.workers(workers(3));
      core.gates().close(Gate.of(GateKind.LOADING, "light", ""));
      core.apply(config, nodes(config.settings().levels(), 4), 1_000);
      core.gates().open(GateKind.LOADING, "light");
      running.add(core.adopt("heavy", "d2", new WorkerRef("w1", 1)));
      for (int i = 0; i < 200; i++) {
        long now = 1_000 + i * 700L;
        core.advance(now, 1 + random.nextInt(3));
        switch (random.nextInt(9)) {
          case 0 -> core.gates().close(Gate.of(GateKind.PAUSE, "heavy", ""));
          case 1 -> core.gates().open(GateKind.PAUSE, "heavy");
          case 2 -> core.workers(workers(1 + random.nextInt(4)));
          case 3 ->
              core.limits()
                  .override(
                      new LimitOverride(
                          "host", "slots", "h1", random.nextInt(5), "me", SECRET, now, 0));
          case 4 -> core.limits().endOverride(new LimitOverride.Key("host", "slots", "h1"));
          case 5 -> core.apply(config, nodes(config.settings().levels(), 3 + i % 3), now);
          default -> {
            while (!running.isEmpty() && random.nextInt(3) > 0) {
              core.finish(running.remove(random.nextInt(running.size())), status(random, now));
            }
          }
        }
        while (!core.stepLimits(1)) {
          // In slices.
        }
        boolean complete = false;
        while (!complete) {
          complete =
              core.round(
                  policy,
                  4,
                  run -> {
                    running.add(run);
                    starts[0]++;
                    core.setStatus(
                        core.running().job(run),
                        core.running().node(run),
                        TaskStatus.of(Main.RUNNING, now, 1));
                  });
        }
      }
    }
    return starts[0];
  }

  private static TaskStatus status(Random random, long now) {
    Json.Obj said = Json.object().put("said", SECRET).build();
    return random.nextInt(3) == 0
        ? TaskStatus.of(Main.DONE, now, 1).withData(said)
        : TaskStatus.waiting(now, 2, 1).withData(said);
  }

  private String text() throws IOException {
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(Files.readAllBytes(file)))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void rewrite(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
      zip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    Files.write(file, bytes.toByteArray());
  }

  @Test
  void whatWasRecordedIsReplayedUnderEveryPolicy() throws Exception {
    for (String policy : plugins.policies().keySet()) {
      int starts = record(policy.hashCode(), policy);
      assertThat(starts).as(policy).isGreaterThan(50);
      assertThat(replay("--check", "50")).as("%s: %s", policy, err).isEqualTo(ExitCode.OK);
      assertThat(out.toString()).contains(String.format("%,d placements", starts), "as recorded");
      Files.delete(file);
    }
  }

  @Test
  void whatWasRecordedIsReplayedUnderEverySelectorOfWorkers() throws Exception {
    for (String selector : plugins.workerSelectors().keySet()) {
      int starts = record(6, "roundrobin", selector);
      assertThat(replay()).as("%s: %s", selector, err).isEqualTo(ExitCode.OK);
      assertThat(out.toString()).contains(String.format("%,d placements", starts), "as recorded");
      Files.delete(file);
    }
  }

  @Test
  void anotherMeasurementIsADifferenceForTheSelectorThatUsesIt() throws Exception {
    record(6, "roundrobin", "measured");
    rewrite(text().replaceAll(",300,\\d+\\]", ",1000,1000]"));
    assertThat(replay()).isEqualTo(ExitCode.FAILED);
  }

  @Test
  void noSecretsAreRecordedAndOnlyTheOwnerMayRead() throws Exception {
    record(1, "roundrobin");
    assertThat(text()).contains("\"start\"").doesNotContain(SECRET);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @Test
  void anotherPlacementIsFound() throws Exception {
    record(2, "roundrobin");
    rewrite(
        text()
            .replaceFirst(
                "\\[\"start\",(\\d+),\"light\",\"d\\d+\"", "[\"start\",$1,\"light\",\"d77\""));
    assertThat(replay()).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("d77", "replayed Placed[", "line ");
    assertThat(replay("--json")).isEqualTo(ExitCode.FAILED);
    assertThat(out.toString()).contains("\"same\": false");
  }

  @Test
  void anEndOfWhatDoesNotRunIsADifference() throws Exception {
    record(5, "roundrobin");
    rewrite(text().replaceFirst("\\[\"end\",\\d+,", "[\"end\",77,"));
    assertThat(replay()).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("recorded Finished[run=77", "refused here");
  }

  @Test
  void anotherSeedIsFound() throws Exception {
    record(3, "roundrobin");
    rewrite(text().replaceFirst("\"seed\":\"3\"", "\"seed\":\"4\""));
    assertThat(replay()).isEqualTo(ExitCode.FAILED);
  }

  @Test
  void aRecordingThatWasCutOffIsReplayedUpToThere() throws Exception {
    record(4, "roundrobin");
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length * 2 / 3));
    assertThat(replay()).as("%s", err).isEqualTo(ExitCode.OK);
    assertThat(out.toString()).contains("cut off");
  }

  @Test
  void whatIsNoRecordingIsRefused() throws Exception {
    assertThat(replay()).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("there is no such file");
    Files.writeString(file, "hello");
    assertThat(replay()).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("this is no recording");
    rewrite("{\"espalier_recording\":99,\"seed\":\"1\"}\n");
    assertThat(replay()).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("no recording of version 1 to 2 of espalier");
    rewrite("{\"espalier_recording\":1,\"seed\":\"1\"}\n[\"leap\",3]\n");
    assertThat(replay()).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("line 2: unknown event \"leap\"");
    assertThat(replay("--check", "0")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void aFileThatIsThereIsNotWrittenOver() throws Exception {
    Files.writeString(file, "precious");
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> record(1, "roundrobin"))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(file).hasContent("precious");
  }
}
