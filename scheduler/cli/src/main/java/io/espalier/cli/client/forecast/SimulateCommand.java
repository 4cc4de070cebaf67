package io.espalier.cli.client.forecast;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.config.Config;
import io.espalier.core.config.Resource;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.forecast.Forecast;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.forecast.Simulation;
import io.espalier.core.forecast.WhatIf;
import io.espalier.core.json.Json;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.Plugins;
import io.espalier.server.replay.RecordedEvents;
import io.espalier.server.replay.SnapshotFile;
import io.espalier.webui.v1.ApiV1;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code espalier simulate}: what the scheduler will do, as things are and with changes. */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    description = {
      "Forecast when jobs end, as things are and with other limits, workers, brakes, pauses or jobs.",
      "",
      "Takes a copy of the scheduler's state and runs its scheduling core in this process, in"
          + " virtual time, with durations drawn from those of the tasks that have ended. Nothing"
          + " changes in the scheduler. P50 and P90 are of several runs with different draws."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier simulate",
      "  espalier simulate --set host.migrations=3 --workers +10",
      "  espalier simulate --brake rack4=0 --horizon 24h --plot use.svg",
      "  espalier simulate --resume backup",
      "  espalier simulate --job backup.max_concurrent=4 --job report.enabled=false"
    })
public final class SimulateCommand extends ClientCommand {
  private static final long MOST_SECONDS = 366L * 86_400;
  private static final int MOST_RUNS = 100;

  @Option(
      names = "--set",
      paramLabel = "LEVEL[/NODE].RESOURCE=N",
      description = "With this limit, on all nodes of a level or on one; may be repeated.")
  private List<String> limits = new ArrayList<>();

  @Option(
      names = "--brake",
      paramLabel = "[LEVEL/]NODE=SHARE",
      description = {
        "With this part of the limits on a node and below it, from 0 to below 1; may be repeated."
            + " Node all: everywhere."
      })
  private List<String> brakes = new ArrayList<>();

  @Option(
      names = "--resume",
      paramLabel = "JOB",
      description = "Without the pause of this job; may be repeated.")
  private List<String> resumed = new ArrayList<>();

  @Option(
      names = "--job",
      paramLabel = "JOB.KEY=VALUE",
      description = {
        "With another enabled, max_concurrent, priority or resources.NAME (what a task needs) of a"
            + " job; may be repeated."
      })
  private List<String> jobs = new ArrayList<>();

  @Option(
      names = "--workers",
      paramLabel = "+N|-N",
      description = "With so many more workers, each like the first one, or so many fewer.")
  private @Nullable String workers;

  @Option(
      names = "--horizon",
      paramLabel = "SPAN",
      converter = DurationConverter.class,
      description = "Look so far ahead: 90m, 24h, 7d; at most 366d (default: 7d).")
  private long horizon = 7 * 86_400;

  @Option(
      names = "--assume",
      paramLabel = "SPAN",
      converter = DurationConverter.class,
      description = "How long the tasks of a job take while none has ended: 30s, 5m.")
  private @Nullable Long assume;

  @Option(
      names = "--runs",
      paramLabel = "N",
      description = "Number of runs with different draws, 1 to 100 (default: ${DEFAULT-VALUE}).")
  private int runs = 5;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "Write the use of the resources over time there as SVG.")
  private @Nullable Path plot;

  @Option(
      names = "--snapshot",
      paramLabel = "FILE",
      description = {
        "Start from this copy of a scheduler's state (docs/planning.md), and ask no scheduler: -"
            + " reads it from standard input."
      })
  private @Nullable String copy;

  public SimulateCommand(CommandContext clients) {
    super(clients);
  }

  /** Opens nothing where the state is given: neither a context nor a token is looked at. */
  @Override
  protected Client open(Client.Opener opener) {
    return copy == null ? super.open(opener) : new NoServer();
  }

  @Override
  public int run(Client client) {
    if (horizon > MOST_SECONDS) {
      throw misuse("--horizon is at most 366d");
    }
    if (runs < 1 || runs > MOST_RUNS) {
      throw misuse("--runs is from 1 to " + MOST_RUNS);
    }
    Integer more = workers == null ? null : workersToAdd(workers);
    Plugins plugins = Plugins.load();
    SchedulerSnapshot snapshot = snapshot(copy == null ? fetched(client) : given(copy), plugins);
    CoreEvent.Began began = began(snapshot);
    WhatIf change = change(snapshot, began, more == null ? 0 : more, plugins.configParser());
    Map<String, JobPace> paces = paces(client, snapshot, began);
    Forecasts now = forecasts(snapshot, paces, WhatIf.NOTHING, plugins);
    Forecasts then =
        change.equals(WhatIf.NOTHING) ? null : forecasts(snapshot, paces, change, plugins);
    List<Resource> resources = new ArrayList<>();
    List<String> levels = new ArrayList<>();
    int ofWorkers = began.topology().levels().worker();
    for (Resource resource : began.config().settings().resources().all()) {
      levels.add(
          resource.level() < ofWorkers ? began.topology().levels().name(resource.level()) : "");
      if (resource.level() < ofWorkers) {
        resources.add(resource);
      }
    }
    show(
        new ForecastReport(
            snapshot.atMillis(), now, then, resources, levels, pauses(snapshot, began.config())),
        ignored(snapshot, began.config()));
    return ExitCode.OK;
  }

  private int workersToAdd(String text) {
    try {
      int number = Integer.parseInt(text);
      if (number != 0 && Math.abs((long) number) <= 100_000 && !Character.isDigit(text.charAt(0))) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, together with numbers that make no sense.
    }
    throw misuse("--workers must be like +10 or -2, not \"" + text + "\"");
  }

  private static byte[] fetched(Client client) {
    Json.Obj answer = get(client, ApiV1.SNAPSHOT, Map.of(), Map.of());
    try {
      return Base64.getDecoder().decode(JsonFields.text(answer, "recording"));
    } catch (IllegalArgumentException e) {
      throw unreadable(e);
    }
  }

  private static byte[] given(String file) {
    try {
      return file.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(Path.of(file));
    } catch (IOException | InvalidPathException e) {
      throw new CommandException(ExitCode.USAGE, "--snapshot: cannot read " + file + ": " + e, e);
    }
  }

  private static SchedulerSnapshot snapshot(byte[] recording, Plugins plugins) {
    try {
      return SnapshotFile.read(recording, plugins.configParser());
    } catch (IllegalArgumentException | RecordedEvents.BadRecordingException e) {
      throw unreadable(e);
    }
  }

  private static CommandException unreadable(Exception e) {
    return new CommandException(
        ExitCode.FAILED, "the scheduler's snapshot cannot be read: " + e.getMessage(), e);
  }

  private static CoreEvent.Began began(SchedulerSnapshot snapshot) {
    for (CoreEvent event : snapshot.events()) {
      if (event instanceof CoreEvent.Began began) {
        return began;
      }
    }
    throw new CommandException(ExitCode.FAILED, "the scheduler has no configuration yet");
  }

  private WhatIf change(
      SchedulerSnapshot snapshot, CoreEvent.Began began, int more, ConfigParser known) {
    if (more != 0) {
      long pool = workers(snapshot);
      if (pool == 0) {
        throw misuse("--workers: this scheduler has no workers; it runs tasks on its own host");
      }
      if (pool + more < 0) {
        throw misuse("--workers " + more + ": there are only " + pool + " workers");
      }
    }
    ChangeParser parser = new ChangeParser(began.config(), began.topology(), known);
    Set<String> paused = paused(snapshot, began.config());
    try {
      return new WhatIf(
          limits.stream().map(parser::limit).toList(),
          brakes.stream().map(parser::brake).toList(),
          resumed.stream().map(job -> parser.paused(job, paused)).collect(Collectors.toSet()),
          more,
          parser.jobs(jobs));
    } catch (IllegalArgumentException e) {
      throw misuse(String.valueOf(e.getMessage()));
    }
  }

  private static long workers(SchedulerSnapshot snapshot) {
    for (CoreEvent event : snapshot.events()) {
      if (event instanceof CoreEvent.WorkersNamed named) {
        return named.workers().stream().filter(worker -> !worker.ref().isLocal()).count();
      }
    }
    return 0;
  }

  /**
   * Completes the durations that the scheduler has measured since its start: with those of its
   * history, unless only a copy is there, then with what the caller assumes.
   */
  private Map<String, JobPace> paces(
      Client client, SchedulerSnapshot snapshot, CoreEvent.Began began) {
    Map<String, JobPace> paces = new TreeMap<>(snapshot.paces());
    for (String job : began.config().jobs().keySet()) {
      if (!paces.containsKey(job)) {
        long mean = copy == null ? EtaCommand.history(client, job) : 0;
        if (mean > 0) {
          paces.put(job, JobPace.constant(mean));
        } else if (assume != null) {
          paces.put(job, JobPace.constant(assume * 1000));
        }
      }
    }
    return paces;
  }

  private Forecasts forecasts(
      SchedulerSnapshot snapshot, Map<String, JobPace> paces, WhatIf change, Plugins plugins) {
    List<Forecast> all = new ArrayList<>();
    try {
      for (int seed = 1; seed <= runs; seed++) {
        all.add(
            new Simulation(
                    snapshot, paces, change, plugins.policies(), plugins.workerSelectors(), seed)
                .run(horizon * 1000));
      }
    } catch (Simulation.NoDurationsException e) {
      throw new CommandException(
          ExitCode.FAILED,
          "no task has ended yet of " + e.getMessage() + ": give --assume 30s, or what they take",
          e);
    }
    return new Forecasts(all);
  }

  /** Returns the paused jobs of the configuration, in order. */
  private static Set<String> paused(SchedulerSnapshot snapshot, Config config) {
    Set<String> paused = new TreeSet<>();
    for (CoreEvent event : snapshot.events()) {
      if (event instanceof CoreEvent.Gated gated
          && gated.kind() == GateKind.PAUSE
          && config.job(gated.scope().name()) != null) {
        paused.add(gated.scope().name());
      } else if (event instanceof CoreEvent.StatusSet) {
        break; // Of those there may be millions, and no gate comes after them.
      }
    }
    return paused;
  }

  /** Returns when each paused job resumes by itself, epoch milliseconds; 0: it does not. */
  private static SortedMap<String, Long> pauses(SchedulerSnapshot snapshot, Config config) {
    SortedMap<String, Long> pauses = new TreeMap<>();
    paused(snapshot, config)
        .forEach(job -> pauses.put(job, snapshot.pauses().getOrDefault(job, 0L)));
    return pauses;
  }

  /** Returns what matters in this scheduler and the simulation does not imagine. */
  private static List<String> ignored(SchedulerSnapshot snapshot, Config config) {
    Set<String> ignored = new TreeSet<>();
    for (CoreEvent event : snapshot.events()) {
      if (snapshot.pauses().isEmpty()
          && event instanceof CoreEvent.Gated gated
          && gated.kind() == GateKind.PAUSE) {
        // The scheduler is of a release that does not say when its pauses end.
        ignored.add("pauses do not end");
      } else if (snapshot.brakes().isEmpty() && isOfBrake(event)) {
        // The scheduler is of a release that does not say when its brakes end.
        ignored.add("brakes do not end or ramp up");
      } else if (event instanceof CoreEvent.StatusSet) {
        break; // Of those there may be millions, and nothing that matters here comes after them.
      }
    }
    if (config.jobs().values().stream().anyMatch(job -> job.scheduling().rollout().isPresent())) {
      ignored.add("tasks do not wait for stages of roll-outs");
    }
    return List.copyOf(ignored);
  }

  private static boolean isOfBrake(CoreEvent event) {
    return event instanceof CoreEvent.FactorSet
        || event instanceof CoreEvent.CapSet
        || (event instanceof CoreEvent.Gated gated
            && (gated.kind() == GateKind.JOB_BRAKE || gated.kind() == GateKind.NODE_BRAKE));
  }

  /** Stands for the scheduler where a copy of its state is given. */
  private static final class NoServer implements Client {
    @Override
    public Json.Obj call(
        String method,
        String template,
        Map<String, String> path,
        Map<String, List<String>> query,
        Json.Obj body) {
      throw new CommandException(ExitCode.UNREACHABLE, "with --snapshot no scheduler is asked");
    }

    @Override
    public void follow(Map<String, List<String>> query, Predicate<Json.Obj> onEvent) {
      call("GET", ApiV1.EVENTS, Map.of(), query, Json.Obj.EMPTY);
    }

    @Override
    public void followLogs(Map<String, List<String>> query, Predicate<Json.Obj> onLine) {
      call("GET", ApiV1.LOGS, Map.of(), query, Json.Obj.EMPTY);
    }

    @Override
    public void close() {}
  }

  private void show(ForecastReport report, List<String> ignored) {
    if (plot != null) {
      try {
        Files.writeString(plot, report.svg());
      } catch (IOException e) {
        throw new CommandException(
            ExitCode.FAILED, "cannot write " + plot + ": " + FileFailures.why(e), e);
      }
    }
    if (json()) {
      Json.Builder body = Json.object();
      report.json().members().forEach(body::put);
      print(
          body.put("ignored", new Json.Arr(ignored.stream().map(s -> (Json) Json.of(s)).toList()))
              .build());
      return;
    }
    print(report.table(), "there are no jobs");
    out().println();
    report.plot().forEach(out()::println);
    if (!report.hot().isEmpty()) {
      say("hot: " + String.join(", ", report.hot()));
    }
    if (!report.starved().isEmpty()) {
      say("starved: " + String.join(", ", report.starved()));
    }
    if (!report.windowsMissed().isEmpty()) {
      say("windows missed: " + String.join(", ", report.windowsMissed()));
    }
    if (!report.pauses().isEmpty()) {
      say("paused: " + report.pausesInWords());
    }
    if (!report.isComplete()) {
      say("not all of it ends within the horizon");
    }
    if (!ignored.isEmpty()) {
      say("not simulated: " + String.join("; ", ignored));
    }
  }
}
