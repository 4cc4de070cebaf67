package io.espalier.cli.bench;

import io.espalier.core.json.JsonWriter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code espalier bench paper}: reproduces Figure 4 of the Bistro paper with the production core.
 */
@Command(
    name = "paper",
    mixinStandardHelpOptions = true,
    description = {
      "Repeat Figure 4 of the Bistro paper (USENIX ATC '15) with this program's scheduling core.",
      "",
      "Hosts have 25 databases; two tasks at a time on a host, one on a database; round robin, in"
          + " (d) random with the job that is turned over first; a task takes a random time between"
          + " 0 and twice the average. Tasks are imagined, in virtual time. The scheduler's work is"
          + " real: each slice of it takes as long in virtual time as it took in fact, so a"
          + " scheduler that is too slow leaves slots empty. One process, one thread."
    },
    footer = {
      "",
      "Takes some minutes and up to 4 GB of heap at full scale; ESPALIER_JAVA_OPTS=-Xmx8g sets it.",
      "",
      "Exit codes: 0 slots are in use for 99 %% of their time at every point, 1 they are not, 2"
          + " usage.",
      "",
      "EXAMPLES",
      "  espalier bench paper                      # all of it",
      "  espalier bench paper --scale 0.01         # a quick look",
      "  espalier bench paper --figure a --json    # one figure, for programs",
      "  espalier bench paper --out plots          # plots/figure-4a.svg to -4d.svg"
    })
final class PaperCommand implements Callable<Integer> {
  private static final double MOST = 3;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--figure", paramLabel = "a|b|c|d|all", description = "Which part. Default: all.")
  private String figure = "all";

  @Option(
      names = "--scale",
      paramLabel = "FRACTION",
      description = "The part of the paper's leaves to take, above 0 and up to 3. Default: 1.")
  private double scale = 1;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of placements and durations. Default: 1.")
  private long seed = 1;

  @Option(
      names = "--clock",
      paramLabel = "cpu|wall|none",
      description = {
        "What the scheduler's work is measured with: processor time of its thread (default), time"
            + " as it passes, or nothing: then it takes no time, and the seed alone decides the"
            + " result."
      })
  private WorkClock.Kind clock = WorkClock.Kind.CPU;

  @Option(
      names = "--bare",
      description =
          "Only place and end tasks; otherwise they also get their statuses, as in the scheduler.")
  private boolean bare;

  @Option(names = "--json", description = "Print one JSON object instead of tables.")
  private boolean json;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write a plot of each figure there as SVG; it is made where it does not exist.")
  private @Nullable Path out;

  @Override
  public Integer call() {
    List<PaperFigure> figures = figures();
    if (!(scale > 0 && scale <= MOST)) {
      throw new ParameterException(
          spec.commandLine(),
          "Invalid value for option '--scale': expected a number above 0 and up to 3, got "
              + scale);
    }
    prepareDirectory();
    List<PaperResult> all = new ArrayList<>();
    try {
      PaperExperiment experiment = new PaperExperiment(clock, seed, !bare);
      progress("warming up");
      experiment.warmUp();
      for (PaperFigure one : figures) {
        List<PaperResult> results = run(one, experiment);
        all.addAll(results);
        write(one, results);
      }
    } catch (OutOfMemoryError e) {
      throw new CommandException(
          ExitCode.FAILED,
          String.format(
              Locale.ROOT,
              "out of memory with a heap of %,d MB; set ESPALIER_JAVA_OPTS=-Xmx8g or take a smaller"
                  + " --scale",
              Runtime.getRuntime().maxMemory() >> 20),
          e);
    }
    if (json) {
      out().println(JsonWriter.pretty(PaperReport.json(all, scale, seed, clock)));
    } else {
      out().println(PaperReport.legend(clock));
    }
    out().flush();
    return PaperReport.met(all) ? ExitCode.OK : ExitCode.FAILED;
  }

  private List<PaperFigure> figures() {
    if (figure.equalsIgnoreCase("all")) {
      return List.of(PaperFigure.values());
    }
    for (PaperFigure known : PaperFigure.values()) {
      if (known.key().equalsIgnoreCase(figure)) {
        return List.of(known);
      }
    }
    throw new ParameterException(
        spec.commandLine(),
        "Invalid value for option '--figure': expected a, b, c, d or all, got '" + figure + "'");
  }

  private List<PaperResult> run(PaperFigure one, PaperExperiment experiment) {
    if (!json) {
      out().println();
      out().println(PaperReport.heading(one, clock));
      out().flush();
    }
    List<PaperResult> results = new ArrayList<>();
    List<PaperPoint> points = one.points(scale);
    for (int i = 0; i < points.size(); i++) {
      PaperPoint point = points.get(i);
      progress(
          String.format(
              Locale.ROOT,
              "(%s) point %d of %d: %,d leaves x %d jobs",
              one.key(),
              i + 1,
              points.size(),
              point.leaves(),
              point.jobs()));
      PaperResult result = experiment.run(point);
      results.add(result);
      if (!json) {
        out().println(PaperReport.row(one, result));
        out().flush();
      }
    }
    return results;
  }

  private void prepareDirectory() {
    if (out != null) {
      try {
        Files.createDirectories(out);
      } catch (IOException e) {
        throw new CommandException(
            ExitCode.USAGE, "cannot make the directory " + out + ": " + e, e);
      }
    }
  }

  private void write(PaperFigure one, List<PaperResult> results) {
    if (out == null) {
      return;
    }
    Path file = out.resolve("figure-4" + one.key() + ".svg");
    try {
      Files.writeString(file, PaperReport.plot(one, results));
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILED, "cannot write " + file + ": " + FileFailures.why(e), e);
    }
    progress("wrote " + file);
  }

  private void progress(String text) {
    PrintWriter err = spec.commandLine().getErr();
    err.println("bench: " + text);
    err.flush();
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
