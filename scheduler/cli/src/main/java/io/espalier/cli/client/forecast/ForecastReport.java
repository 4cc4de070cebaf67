package io.espalier.cli.client.forecast;

import io.espalier.cli.bench.SvgPlot;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.Table;
import io.espalier.core.config.Resource;
import io.espalier.core.forecast.Forecast;
import io.espalier.core.forecast.Forecast.Sample;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Shows forecasts.
 *
 * @param atMillis when the state was copied, epoch milliseconds
 * @param now what is to come as things are
 * @param then what is to come with the changes; null: there are none
 * @param resources of the configuration
 * @param levels their levels, by index of the resource
 * @param pauses by paused job: when it resumes by itself, epoch milliseconds; 0: it does not
 */
record ForecastReport(
    long atMillis,
    Forecasts now,
    @Nullable Forecasts then,
    List<Resource> resources,
    List<String> levels,
    SortedMap<String, Long> pauses) {
  private static final int COLUMNS = 60;
  private static final String BARS = " ▁▂▃▄▅▆▇█";
  private static final double P50 = 0.5;
  private static final double P90 = 0.9;
  private static final List<String> COLOURS =
      List.of("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b");

  private Forecasts shown() {
    Forecasts changed = then;
    return changed == null ? now : changed;
  }

  Table table() {
    Forecasts changed = then;
    Table table =
        changed == null
            ? new Table("JOB", ">P50", ">P90", ">NEVER")
            : new Table("JOB", ">P50 NOW", ">P90 NOW", ">P50", ">P90", ">CHANGE", ">NEVER");
    row(table, "(all)", now.makespan(P50), now.makespan(P90), null);
    for (String job : now.jobs()) {
      row(table, job, now.end(job, P50), now.end(job, P90), job);
    }
    return table;
  }

  private void row(Table table, String name, long p50, long p90, @Nullable String job) {
    Forecasts changed = then;
    long never = job == null ? 0 : shown().left(job);
    String left = never == 0 ? "" : String.format(Locale.ROOT, "%,d", never);
    if (changed == null) {
      table.row(name, span(p50), span(p90), left);
      return;
    }
    long p50Then = job == null ? changed.makespan(P50) : changed.end(job, P50);
    long p90Then = job == null ? changed.makespan(P90) : changed.end(job, P90);
    table.row(
        name, span(p50), span(p90), span(p50Then), span(p90Then), difference(p50, p50Then), left);
  }

  private static String span(long millis) {
    return millis == Forecasts.NEVER ? "-" : HumanFormat.duration(millis);
  }

  private static String difference(long before, long after) {
    if (before == Forecasts.NEVER || after == Forecasts.NEVER) {
      return before == after ? "" : after == Forecasts.NEVER ? "never" : "ends";
    }
    return before == after ? "" : ForecastLines.change(after - before);
  }

  /** Returns a line for each resource: its use over time, by eighths. */
  List<String> plot() {
    Forecast run = shown().typical();
    List<String> lines = new ArrayList<>();
    long whole = run.use().isEmpty() ? 0 : run.use().get(run.use().size() - 1).millis();
    int width = resources.stream().mapToInt(each -> name(each).length()).max().orElse(0);
    for (Resource resource : resources) {
      StringBuilder bars = new StringBuilder();
      for (int column = 0; column < COLUMNS; column++) {
        bars.append(BARS.charAt(eighths(at(run.use(), whole * column / COLUMNS), resource)));
      }
      lines.add(
          String.format(Locale.ROOT, "%-" + Math.max(1, width) + "s  %s", name(resource), bars));
    }
    if (!lines.isEmpty()) {
      lines.add(" ".repeat(width + 2) + "now" + " ".repeat(COLUMNS - 3) + span(whole));
    }
    return lines;
  }

  private static int eighths(Sample sample, Resource resource) {
    double part = Math.min(1, sample.parts().get(resource.index()));
    return (int) Math.ceil(part * (BARS.length() - 1));
  }

  private static Sample at(List<Sample> samples, long millis) {
    Sample latest = samples.get(0);
    for (Sample sample : samples) {
      latest = sample.millis() <= millis ? sample : latest;
    }
    return latest;
  }

  private String name(Resource resource) {
    return levels.get(resource.index()) + "." + resource.name();
  }

  List<String> hot() {
    return shown().typical().hot().stream()
        .map(
            hot ->
                String.format(
                    Locale.ROOT,
                    "%s/%s.%s %.0f %%",
                    hot.level(),
                    hot.node(),
                    hot.resource(),
                    hot.part() * 100))
        .toList();
  }

  List<String> starved() {
    return shown().starved();
  }

  /** Returns the jobs that miss windows, each with how many. */
  List<String> windowsMissed() {
    return shown().jobs().stream()
        .filter(job -> shown().windowsMissed(job) > 0)
        .map(job -> String.format(Locale.ROOT, "%s %,d", job, shown().windowsMissed(job)))
        .toList();
  }

  /** Returns the paused jobs and when they resume, as things are. */
  String pausesInWords() {
    return pauses.entrySet().stream()
        .map(
            pause ->
                pause.getValue() == 0
                    ? pause.getKey()
                    : pause.getKey()
                        + " (resumes in "
                        + HumanFormat.duration(Math.max(0, pause.getValue() - atMillis))
                        + ")")
        .collect(Collectors.joining(", "));
  }

  boolean isComplete() {
    return shown().isComplete();
  }

  String svg() {
    Forecast run = shown().typical();
    double whole = run.use().isEmpty() ? 1 : run.use().get(run.use().size() - 1).millis();
    List<SvgPlot.Tick> ticks = new ArrayList<>();
    for (int i = 0; i <= 4; i++) {
      ticks.add(new SvgPlot.Tick(whole * i / 4, HumanFormat.duration((long) (whole * i / 4))));
    }
    SvgPlot plot =
        new SvgPlot(
            "Use of the resources",
            "forecast of espalier simulate, one run",
            "time from now",
            "slots in use / slots",
            ticks,
            1,
            0.2);
    for (Resource resource : resources) {
      plot.add(
          new SvgPlot.Series(
              name(resource),
              COLOURS.get(resource.index() % COLOURS.size()),
              false,
              run.use().stream()
                  .map(
                      sample ->
                          new double[] {sample.millis(), sample.parts().get(resource.index())})
                  .toList()));
    }
    return plot.svg();
  }

  Json.Obj json() {
    List<Json> paused = new ArrayList<>();
    pauses.forEach(
        (job, until) -> {
          Json.Builder pause = Json.object().put("job", job);
          if (until > 0) {
            pause.put("until_ms", until);
          }
          paused.add(pause.build());
        });
    Json.Builder body =
        Json.object()
            .put("at_ms", atMillis)
            .put("paused", new Json.Arr(paused))
            .put("now", json(now));
    if (then != null) {
      body.put("then", json(then));
    }
    return body.build();
  }

  private Json json(Forecasts forecasts) {
    Json.Builder jobs = Json.object();
    for (String job : forecasts.jobs()) {
      Json.Builder one =
          spans(forecasts.end(job, P50), forecasts.end(job, P90))
              .put("never", forecasts.left(job))
              .put("windows_missed", forecasts.windowsMissed(job));
      jobs.put(job, one.build());
    }
    Forecast run = forecasts.typical();
    List<Json> hot = new ArrayList<>();
    run.hot()
        .forEach(
            node ->
                hot.add(
                    Json.object()
                        .put("level", node.level())
                        .put("node", node.node())
                        .put("resource", node.resource())
                        .put("use", node.part())
                        .build()));
    Json.Builder use = Json.object();
    use.put("ms", numbers(run, Sample::millis));
    for (Resource resource : resources) {
      use.put(
          name(resource),
          new Json.Arr(
              run.use().stream()
                  .map(s -> (Json) Json.of(s.parts().get(resource.index())))
                  .toList()));
    }
    Json.Obj tasks =
        Json.object()
            .put("ms", numbers(run, Sample::millis))
            .put("running", numbers(run, Sample::running))
            .put("left", numbers(run, Sample::left))
            .build();
    return spans(forecasts.makespan(P50), forecasts.makespan(P90))
        .put("complete", forecasts.isComplete())
        .put("runs", forecasts.runs().size())
        .put("jobs", jobs.build())
        .put("starved", Json.strings(forecasts.starved()))
        .put("hot_nodes", new Json.Arr(hot))
        .put("use", use.build())
        .put("tasks", tasks)
        .build();
  }

  private static Json.Arr numbers(Forecast run, ToLongFunction<Sample> value) {
    return new Json.Arr(
        run.use().stream().map(sample -> (Json) Json.of(value.applyAsLong(sample))).toList());
  }

  private static Json.Builder spans(long p50, long p90) {
    Json.Builder both = Json.object();
    if (p50 != Forecasts.NEVER) {
      both.put("p50_ms", p50);
    }
    if (p90 != Forecasts.NEVER) {
      both.put("p90_ms", p90);
    }
    return both;
  }
}
