package io.espalier.benchmark;

import io.espalier.core.api.plan.PlanForecast;
import io.espalier.core.config.Config;
import io.espalier.core.forecast.PlanForecaster;
import io.espalier.core.forecast.PlannedWork;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.query.ImpactQuery;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.json.JsonReader;
import io.espalier.server.app.Plugins;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What the plan of a mistyped filter costs: a job of 400 tasks would have all leaves instead.
 * Processor time of the scheduler thread, and of the thread of the request. Argument: the number of
 * hosts with 25 leaves each (160000). Prints Markdown.
 */
public final class PlanBenchmark {
  private static final int ROUNDS = 5;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private PlanBenchmark() {}

  public static void main(String[] args) {
    int hosts = args.length == 0 ? 160_000 : Integer.parseInt(args[0]);
    Scraping all = Scraping.of(hosts, 1);
    Config few = filtered();
    LoopUnderLoad world = new LoopUnderLoad(new Scraping(hosts, 1, few, all.topology()));
    System.out.printf(Locale.ROOT, "%,d leaves; milliseconds of processor time%n%n", all.leaves());
    System.out.println(
        "| comparison | steps | scheduler thread | its longest step | forecast | new tasks |");
    System.out.println("|---|---|---|---|---|---|");
    for (int i = 0; i < ROUNDS; i++) {
      round(world, few, all);
    }
  }

  /** The job of {@link Scraping}, on four databases of a hundred hosts. */
  private static Config filtered() {
    String text =
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "db"]},
           "resources": {"host": {"slots": {"default": 1, "limit": 2}},
                         "db": {"lock": {"default": 1, "limit": 1}}}},
         "bistro_job->job100": {"owner": "b",
           "filters": {"db": {"whitelist_regex": "^db[0-9]{1,2}[.][0-3]$"}}}}
        """;
    return Objects.requireNonNull(
        Plugins.load()
            .configParser()
            .parse(Objects.requireNonNull(JsonReader.config().read(text).value()))
            .value());
  }

  private static void round(LoopUnderLoad world, Config few, Scraping all) {
    long begin = THREADS.getCurrentThreadCpuTime();
    TaskDifference difference =
        TaskDifference.of(few, all.topology(), all.config(), all.topology());
    long comparison = THREADS.getCurrentThreadCpuTime() - begin;

    CompletableFuture<ImpactQuery.@Nullable Measured> answer = new CompletableFuture<>();
    world.add(new LoopInput.Measure(difference, answer));
    long whole = 0;
    long longest = 0;
    int steps = 0;
    while (!answer.isDone()) {
      long before = THREADS.getCurrentThreadCpuTime();
      world.step();
      long took = THREADS.getCurrentThreadCpuTime() - before;
      whole += took;
      longest = Math.max(longest, took);
      steps++;
    }
    ImpactQuery.Measured measured = Objects.requireNonNull(answer.join());

    begin = THREADS.getCurrentThreadCpuTime();
    PlanForecast forecast =
        new PlanForecaster(
                PlannedWork.now(measured.work()),
                PlannedWork.then(measured.work(), difference),
                measured.paces(),
                30_000,
                0)
            .forecast();
    long forecasting = THREADS.getCurrentThreadCpuTime() - begin;
    if (forecast.ends().isEmpty()) {
      throw new IllegalStateException("nothing was forecast");
    }
    System.out.printf(
        Locale.ROOT,
        "| %.0f | %d | %.1f | %.1f | %.0f | %,d |%n",
        comparison / 1e6,
        steps,
        whole / 1e6,
        longest / 1e6,
        forecasting / 1e6,
        measured.impact().added());
  }
}
