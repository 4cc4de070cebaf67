package io.espalier.benchmark;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.json.JsonReader;
import io.espalier.thrift.rpc.CallTable;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.thrift.rpc.RpcException;
import io.espalier.thrift.rpc.RpcSecurity;
import io.espalier.thrift.rpc.RpcServer;
import io.espalier.thrift.rpc.WorkerClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * P6 in docs/benchmarks.md: remote tasks through Thrift, with the scheduler as a process of its own
 * and a durable store. Prints Markdown.
 *
 * <ol>
 *   <li>how many calls per second one connection over loopback makes;
 *   <li>how many no-op tasks per second one scheduler gives to three worker processes ({@code
 *       --executor noop}) and makes durable;
 *   <li>the same with a thousand simulated workers in one process;
 *   <li>how long a freed slot stays free, at about a thousand tasks per second.
 * </ol>
 *
 * <p>Arguments: {@code [TASKS [ROUNDS [SIMULATED_WORKERS]]]}, by default 200000, 5 and 1000.
 */
public final class RemoteBenchmark {
  private static final Pattern PROGRESS = Pattern.compile("\"done\":(\\d+)");
  private static final int AT_ONCE = 3_000;
  private static final int HOLD_MILLIS = 100;

  private final Path directory;
  private final HttpClient http = HttpClient.newHttpClient();

  private RemoteBenchmark(Path directory) {
    this.directory = directory;
  }

  public static void main(String[] args) throws Exception {
    int tasks = args.length > 0 ? Integer.parseInt(args[0]) : 200_000;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    int simulated = args.length > 2 ? Integer.parseInt(args[2]) : 1_000;
    Path directory = Files.createTempDirectory("remote-benchmark");
    try {
      RemoteBenchmark benchmark = new RemoteBenchmark(directory);
      List<Double> pings = new ArrayList<>();
      List<Double> processes = new ArrayList<>();
      List<Double> fleet = new ArrayList<>();
      List<Double> median = new ArrayList<>();
      List<Double> worst = new ArrayList<>();
      List<Double> rate = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        pings.add(pings());
        processes.add(benchmark.processes(tasks, "a" + round));
        fleet.add(benchmark.fleet(tasks, simulated, "b" + round));
        benchmark.latency("c" + round, median, worst, rate);
        System.err.printf(
            Locale.ROOT,
            "round %d: %,.0f calls, %,.0f tasks, %,.0f tasks of simulated workers per second;"
                + " p50 %.1f ms, p99 %.1f ms at %,.0f per second%n",
            round + 1,
            pings.get(round),
            processes.get(round),
            fleet.get(round),
            median.get(round),
            worst.get(round),
            rate.get(round));
      }
      System.out.println("| | median | lowest | highest |\n|---|---|---|---|");
      row("calls per second on one connection", pings, "%,.0f");
      row("no-op tasks per second, 3 worker processes", processes, "%,.0f");
      row("no-op tasks per second, " + simulated + " simulated workers", fleet, "%,.0f");
      row("tasks per second of the next two lines", rate, "%,.0f");
      row("freed slot to start, p50, ms", median, "%.1f");
      row("freed slot to start, p99, ms", worst, "%.1f");
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  private static void row(String what, List<Double> values, String format) {
    List<Double> sorted = values.stream().sorted().toList();
    System.out.printf(
        Locale.ROOT,
        "| %s | " + format + " | " + format + " | " + format + " |%n",
        what,
        sorted.get(sorted.size() / 2),
        sorted.get(0),
        sorted.get(sorted.size() - 1));
  }

  /** Calls that carry next to nothing, one after the other. */
  private static double pings() throws IOException, RpcException {
    PeerOptions peer = PeerOptions.of("benchmark", RpcSecurity.none());
    CallTable.OfWorker nothing =
        new CallTable.OfWorker() {
          @Override
          public CompletionStage<WorkResponse> work(WorkBatch work) {
            return CompletableFuture.failedFuture(new IllegalStateException("not asked"));
          }

          @Override
          public CompletionStage<LogPage> logs(LogQuery query) {
            return CompletableFuture.completedFuture(new LogPage(List.of(), LogPage.END));
          }
        };
    LogQuery query = LogQuery.of(LogLine.Stream.STDOUT);
    try (RpcServer server =
            RpcServer.worker(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                peer,
                JsonReader::parse,
                nothing);
        WorkerClient client = new WorkerClient(peer)) {
      for (int warm = 0; warm < 2_000; warm++) {
        LogPage unused = client.logs(server.address(), query, 2_000);
      }
      long calls = 0;
      long begin = System.nanoTime();
      long nanos = 0;
      while (nanos < 3_000_000_000L) {
        LogPage unused = client.logs(server.address(), query, 2_000);
        calls++;
        nanos = System.nanoTime() - begin;
      }
      return calls * 1e9 / nanos;
    }
  }

  private double processes(int tasks, String name) throws Exception {
    try (Parts parts = new Parts(name, tasks, AT_ONCE, false)) {
      for (int i = 0; i < 3; i++) {
        parts.start(
            "worker",
            "--scheduler",
            parts.thrift,
            "--shard-id",
            "w" + i,
            "--executor",
            "noop",
            "--data-dir",
            name + "-w" + i);
      }
      parts.awaitWorkers(3);
      return parts.rate(tasks);
    }
  }

  private double fleet(int tasks, int count, String name) throws Exception {
    try (Parts parts = new Parts(name, tasks, AT_ONCE, false);
        SimulatedWorkers workers = new SimulatedWorkers(count, parts.address(), 0)) {
      parts.awaitWorkers(count);
      double rate = parts.rate(tasks);
      parts.awaitDone(tasks);
      if (workers.started() != tasks) {
        throw new IllegalStateException(workers.started() + " starts of " + tasks + " tasks");
      }
      return rate;
    }
  }

  private void latency(String name, List<Double> median, List<Double> worst, List<Double> rate)
      throws Exception {
    // A hundred tasks at a time, a tenth of a second each: about a thousand per second.
    int tasks = 15_000;
    try (Parts parts = new Parts(name, tasks, 100, false);
        SimulatedWorkers workers = new SimulatedWorkers(3, parts.address(), HOLD_MILLIS)) {
      parts.awaitWorkers(3);
      parts.enable();
      parts.awaitDone(3_000);
      workers.measureAnew();
      rate.add(parts.rateBetween(3_000, tasks - 1_000));
      long[] waits = workers.waits();
      median.add(waits[waits.length / 2] / 1e6);
      worst.add(waits[waits.length - 1 - waits.length / 100] / 1e6);
    }
  }

  /** A scheduler and what belongs to it. */
  private final class Parts implements AutoCloseable {
    private final Deque<Process> processes = new ArrayDeque<>();
    private final Path config;
    private final int tasks;
    private final int atOnce;
    private final String url;
    private final String thrift;

    Parts(String name, int tasks, int atOnce, boolean enabled) throws Exception {
      this.tasks = tasks;
      this.atOnce = atOnce;
      this.config = directory.resolve(name + ".json");
      write(enabled);
      Path said =
          start(
              "scheduler",
              "--config",
              config.toString(),
              "--runner",
              "remote",
              "--thrift",
              "127.0.0.1:0",
              "--http",
              "127.0.0.1:0",
              "--data-dir",
              name);
      url = said(said, "listening on (http://\\S+)");
      thrift = said(said, "workers are expected at (\\S+)");
    }

    InetSocketAddress address() {
      return new InetSocketAddress(
          InetAddress.getLoopbackAddress(),
          Integer.parseInt(thrift.substring(thrift.lastIndexOf(':') + 1)));
    }

    private void write(boolean enabled) throws IOException {
      Path fresh = config.resolveSibling(config.getFileName() + ".new");
      Files.writeString(
          fresh,
          """
          {"bistro_settings": {
             "nodes": {"levels": ["shard"], "node_order": "original", "node_sources": [
               {"source": "range_label",
                "prefs": {"parent_level": "instance", "start": 1, "end": TASKS}}]},
             "resources": {"instance": {"at_once": {"limit": AT_ONCE, "default": 1}}}},
           "bistro_job->noop": {"owner": "benchmark", "command": ["/bin/true"], "enabled": ENABLED}}
          """
              .replace("TASKS", Integer.toString(tasks))
              .replace("AT_ONCE", Integer.toString(atOnce))
              .replace("ENABLED", Boolean.toString(enabled)));
      Files.move(fresh, config, StandardCopyOption.ATOMIC_MOVE);
    }

    void enable() throws IOException {
      write(true);
    }

    /**
     * @return where its standard error goes
     */
    Path start(String... arguments) throws IOException {
      List<String> command =
          new ArrayList<>(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:+UseSerialGC",
                  "-Xmx1g",
                  "-Despalier.log.level=WARN",
                  "-cp",
                  System.getProperty("java.class.path"),
                  "io.espalier.cli.Main"));
      command.addAll(List.of(arguments));
      Path err = Files.createTempFile(directory, "part", ".err");
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(err.toFile());
      builder.environment().keySet().removeIf(variable -> variable.startsWith("ESPALIER_"));
      processes.push(builder.start());
      return err;
    }

    private String said(Path file, String regex) throws Exception {
      Pattern pattern = Pattern.compile(regex);
      long deadline = System.nanoTime() + 60_000_000_000L;
      while (System.nanoTime() < deadline) {
        Matcher matcher = pattern.matcher(Files.readString(file));
        if (matcher.find()) {
          return matcher.group(1);
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
      throw new IllegalStateException("never said: " + regex + "\n" + Files.readString(file));
    }

    private String get(String path) throws Exception {
      return http.send(
              HttpRequest.newBuilder(URI.create(url + path)).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }

    void awaitWorkers(int count) throws Exception {
      long deadline = System.nanoTime() + 300_000_000_000L;
      String healthy = "\"state\":\"healthy\"";
      while (System.nanoTime() < deadline) {
        if (get("/api/v1/workers").split(healthy, -1).length - 1 >= count) {
          return;
        }
        TimeUnit.MILLISECONDS.sleep(200);
      }
      throw new IllegalStateException("not " + count + " healthy workers: " + get("/metrics"));
    }

    private long done() throws Exception {
      Matcher matcher = PROGRESS.matcher(get("/api/v1/jobs/noop"));
      return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    void awaitDone(int count) throws Exception {
      while (done() < count) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
    }

    /** Enables the job; done tasks per second from a tenth to nine tenths of them. */
    double rate(int all) throws Exception {
      enable();
      return rateBetween(all / 10, all / 10 * 9);
    }

    double rateBetween(int first, int last) throws Exception {
      long begin = 0;
      long from = 0;
      while (true) {
        long done = done();
        long now = System.nanoTime();
        if (begin == 0 && done >= first) {
          begin = now;
          from = done;
        }
        if (begin != 0 && done >= last) {
          return (done - from) * 1e9 / (now - begin);
        }
        TimeUnit.MILLISECONDS.sleep(10);
      }
    }

    @Override
    public void close() {
      while (!processes.isEmpty()) {
        Process process = processes.pop();
        process.destroy();
        try {
          if (!process.waitFor(20, TimeUnit.SECONDS)) {
            Process unused = process.destroyForcibly();
          }
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new UncheckedIOException(new IOException("interrupted"));
        }
      }
    }
  }
}
