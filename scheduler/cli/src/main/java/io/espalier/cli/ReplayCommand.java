package io.espalier.cli;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.scheduling.Replay;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.Plugins;
import io.espalier.server.replay.RecordedEvents;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier replay}: proves that the same events lead to the same placements. */
@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description = {
      "Do again what a scheduler did, and compare every placement.",
      "",
      "FILE was written by run or scheduler with --record FILE. It contains every event that reached the"
          + " scheduling core and every placement; it is replayed on a fresh core of the same seed,"
          + " without starting any task."
    },
    footer = {
      "",
      "Exit codes: 0 every placement is as recorded, 1 one differs (the first is shown), 2 no recording.",
      "",
      "EXAMPLES",
      "  espalier run config.json --record run.rec",
      "  espalier replay run.rec",
      "  espalier replay run.rec --check 1000    # all counters from scratch every 1,000 events"
    })
final class ReplayCommand implements Callable<Integer> {
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(2);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "FILE", description = "What --record has written.")
  private Path file = Path.of("");

  @Option(
      names = "--check",
      paramLabel = "N",
      description =
          "Compute every counter from scratch after each N events and compare. Costs a pass over all"
              + " jobs and nodes each time. Default: once, at the end.")
  private @Nullable Long check;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() {
    if (check != null && check < 1) {
      throw new CommandException(ExitCode.USAGE, "--check must be 1 or more");
    }
    long began = System.nanoTime();
    Plugins plugins = Plugins.load();
    try (RecordedEvents events = RecordedEvents.open(file, plugins.configParser())) {
      SchedulingCore core = new SchedulingCore(events.seed(), plugins.workerSelectors());
      Replay replay = new Replay(core, plugins.policies(), events);
      @Nullable String difference = null;
      try {
        go(replay, core);
      } catch (Replay.DifferenceException e) {
        difference = "line " + events.line() + " or before: " + e.getMessage();
      }
      say(
          replay.summary(),
          events.isCutOff() || replay.summary().cutOff(),
          difference,
          System.nanoTime() - began);
      return difference == null ? ExitCode.OK : ExitCode.FAILED;
    } catch (RecordedEvents.BadRecordingException e) {
      throw new CommandException(ExitCode.USAGE, file + ": " + e.getMessage(), e);
    } catch (NoSuchFileException e) {
      throw new CommandException(ExitCode.USAGE, file + ": there is no such file", e);
    } catch (IOException | UncheckedIOException e) {
      throw new CommandException(ExitCode.USAGE, file + ": cannot be read: " + e.getMessage(), e);
    }
  }

  private void go(Replay replay, SchedulingCore core) {
    long told = System.nanoTime();
    long checked = 0;
    while (replay.next()) {
      long events = replay.summary().events();
      if (check != null && events - checked >= check) {
        verify(core, events);
        checked = events;
      }
      if (System.nanoTime() - told > PROGRESS_NANOS) {
        told = System.nanoTime();
        spec.commandLine()
            .getErr()
            .println(
                String.format(
                    Locale.ROOT,
                    "replayed %,d events, %,d placements",
                    events,
                    replay.summary().placements()));
      }
    }
    verify(core, replay.summary().events());
  }

  private static void verify(SchedulingCore core, long events) {
    try {
      core.verify();
    } catch (IllegalStateException e) {
      throw new Replay.DifferenceException("after " + events + " events: " + e.getMessage());
    }
  }

  private void say(
      Replay.Summary done, boolean cutOff, @Nullable String difference, long tookNanos) {
    if (json) {
      Json.Builder out =
          Json.object()
              .put("same", difference == null)
              .put("events", done.events())
              .put("placements", done.placements())
              .put("running", done.running())
              .put("cut_off", cutOff);
      if (difference != null) {
        out.put("difference", difference);
      }
      spec.commandLine().getOut().println(JsonWriter.pretty(out.build()));
      return;
    }
    if (difference != null) {
      spec.commandLine().getErr().println("espalier: " + file + ": " + difference);
    }
    spec.commandLine()
        .getOut()
        .println(
            String.format(
                Locale.ROOT,
                "%,d events, %,d placements in %.1f s: %s%s",
                done.events(),
                done.placements(),
                tookNanos / 1e9,
                difference == null ? "each as recorded" : "the next one differs",
                cutOff ? " (the recording was cut off; replayed up to there)" : ""));
  }
}
