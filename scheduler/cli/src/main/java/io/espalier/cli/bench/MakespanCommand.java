package io.espalier.cli.bench;

import io.espalier.core.forecast.Forecast;
import io.espalier.core.forecast.Forecast.JobEnd;
import io.espalier.core.forecast.Simulation;
import io.espalier.core.forecast.WhatIf;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.Plugins;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code espalier bench makespan}: the experiment of Figure 5 of the Bistro paper. */
@Command(
    name = "makespan",
    mixinStandardHelpOptions = true,
    description = {
      "Measure how long 1 to 20 jobs take together, with each policy (Figure 5 of the Bistro paper).",
      "",
      "Hosts have 25 databases; two tasks at a time on a host. Durations have a long tail. Tasks are"
          + " imagined, in virtual time, and the scheduler's work takes none of it: the policies alone"
          + " differ. The paper's workload is not known: durations are chosen so that a further job"
          + " takes about as much longer as there."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier bench makespan",
      "  espalier bench makespan --hosts 40 --runs 3 --out plots"
    })
final class MakespanCommand implements Callable<Integer> {
  private static final int MOST_HOSTS = 4_000;
  private static final int MOST_RUNS = 100;
  private static final long HORIZON_MILLIS = 366L * 86_400_000;
  private static final int[] JOBS = {1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20};

  /** Figure 5 (b) of the paper: seconds for 2, 4, ..., 20 jobs, read off the plot. */
  private static final double[] PAPER_BRUTE = {
    414, 660, 945, 1292, 1673, 2098, 2680, 3211, 3883, 4409
  };

  private static final double[] PAPER_TREE = {364, 481, 599, 699, 783, 912, 1158, 1309, 1471, 1572};

  private static final List<String> COLOURS =
      List.of("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b");

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--hosts",
      paramLabel = "N",
      description = "Number of hosts, 1 to 4000 (default: ${DEFAULT-VALUE}).")
  private int hosts = 40;

  @Option(
      names = "--runs",
      paramLabel = "N",
      description = "Runs with different seeds per point, 1 to 100 (default: ${DEFAULT-VALUE}).")
  private int runs = 10;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write the plot there, as figure-5.svg; it is made where it does not exist.")
  private @Nullable Path out;

  @Override
  public Integer call() {
    if (hosts < 1 || hosts > MOST_HOSTS || runs < 1 || runs > MOST_RUNS) {
      throw new ParameterException(
          spec.commandLine(), "--hosts is from 1 to 4000, and --runs from 1 to 100");
    }
    Plugins plugins = Plugins.load();
    List<String> policies = plugins.policies().keySet().stream().sorted().toList();
    PrintWriter table = spec.commandLine().getOut();
    StringBuilder heading =
        new StringBuilder(String.format(Locale.ROOT, "%4s %9s", "jobs", "bound"));
    policies.forEach(policy -> heading.append(String.format(Locale.ROOT, " %26s", policy)));
    table.println(
        "seconds until all jobs are over (mean +- deviation), and until one is on average");
    table.println(heading);
    Map<String, double[]> means = new TreeMap<>();
    for (int i = 0; i < JOBS.length; i++) {
      StringBuilder row = new StringBuilder();
      for (String policy : policies) {
        MakespanWorld world = MakespanWorld.of(hosts, JOBS[i], policy, plugins);
        row.append(
            row.isEmpty() ? String.format(Locale.ROOT, "%4d %9.0f", JOBS[i], world.bound()) : "");
        double[] makespans = new double[runs];
        double ends = 0;
        for (int run = 0; run < runs; run++) {
          Forecast forecast = run(world, plugins, run + 1);
          makespans[run] = forecast.millis() / 1000.0;
          ends += forecast.jobs().values().stream().mapToLong(JobEnd::millis).average().orElse(0);
        }
        double mean = mean(makespans);
        means.computeIfAbsent(policy, name -> new double[JOBS.length])[i] = mean;
        row.append(
            String.format(
                Locale.ROOT,
                " %9.0f +- %4.0f %9.0f",
                mean,
                deviation(makespans, mean),
                ends / runs / 1000));
      }
      table.println(row);
      table.flush();
    }
    if (out != null) {
      write(out, plot(policies, means));
    }
    return ExitCode.OK;
  }

  private static Forecast run(MakespanWorld world, Plugins plugins, long seed) {
    return new Simulation(
            world.snapshot(),
            world.paces(),
            WhatIf.NOTHING,
            plugins.policies(),
            plugins.workerSelectors(),
            seed)
        .run(HORIZON_MILLIS);
  }

  private static double mean(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum / values.length;
  }

  private static double deviation(double[] values, double mean) {
    double sum = 0;
    for (double value : values) {
      sum += (value - mean) * (value - mean);
    }
    return Math.sqrt(sum / values.length);
  }

  private static String plot(List<String> policies, Map<String, double[]> means) {
    List<SvgPlot.Tick> ticks = new ArrayList<>();
    for (int jobs = 2; jobs <= 20; jobs += 2) {
      ticks.add(new SvgPlot.Tick(jobs, Integer.toString(jobs)));
    }
    SvgPlot plot =
        new SvgPlot(
            "Makespan of 2 to 20 jobs",
            "virtual time, mean of several seeds; durations chosen for the paper's growth per job",
            "jobs",
            "seconds until all are over",
            ticks,
            4_500,
            500);
    for (int i = 0; i < policies.size(); i++) {
      double[] all = means.getOrDefault(policies.get(i), new double[0]);
      double[] fromTwo = Arrays.copyOfRange(all, 1, all.length);
      plot.add(series(policies.get(i), COLOURS.get(i % COLOURS.size()), false, fromTwo));
    }
    plot.add(series("the paper's brute force", "#888", true, PAPER_BRUTE));
    return plot.add(series("the paper's tree scheduling", "#444", true, PAPER_TREE)).svg();
  }

  private static SvgPlot.Series series(
      String name, String colour, boolean quoted, double[] values) {
    List<double[]> points = new ArrayList<>();
    for (int i = 0; i < values.length; i++) {
      points.add(new double[] {2.0 * (i + 1), values[i]});
    }
    return new SvgPlot.Series(name, colour, quoted, points);
  }

  private static void write(Path directory, String svg) {
    Path file = directory.resolve("figure-5.svg");
    try {
      Files.createDirectories(directory);
      Files.writeString(file, svg);
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILED, "cannot write " + file + ": " + FileFailures.why(e), e);
    }
  }
}
