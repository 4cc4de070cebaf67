package io.espalier.benchmark;

import io.espalier.core.api.Query;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.scheduling.spi.SplitMix64;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * P9 in docs/benchmarks.md: how long monitors wait for the scheduler thread, from a question to its
 * answer, while tasks start and end between two questions. The loop is the real one, driven by
 * hand; its runner and its store do nothing. Milliseconds of the thread's processor time, which
 * other load disturbs less, and of the clock. Arguments: numbers of hosts with 25 leaves each (400
 * 4000 40000), ten jobs. Prints Markdown.
 */
public final class QueryBenchmark {
  private static final int JOBS = 10;
  private static final int ASKED = 1_000;
  private static final int FEW = 30;
  private static final int CHANGES_BETWEEN = 20;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final LoopUnderLoad world;
  private final Scraping scraping;
  private final SplitMix64 random;
  private final boolean prints;
  private long longestStep;

  private QueryBenchmark(Scraping scraping, boolean prints) {
    this.scraping = scraping;
    this.prints = prints;
    world = new LoopUnderLoad(scraping);
    random = world.random();
  }

  public static void main(String[] args) {
    int[] hosts =
        args.length == 0
            ? new int[] {400, 4_000, 40_000}
            : Arrays.stream(args).mapToInt(Integer::parseInt).toArray();
    // Warms up: what is asked for the first time is interpreted.
    for (int i = 0; i < 3; i++) {
      new QueryBenchmark(Scraping.of(400, JOBS), false).run();
    }
    System.out.println("| tasks | running | question | p50 | p99 | longest | p99 by the clock |");
    System.out.println("|---|---|---|---|---|---|---|");
    for (int count : hosts) {
      new QueryBenchmark(Scraping.of(count, JOBS), true).run();
    }
  }

  private void run() {
    world.change(scraping.leaves() * JOBS / 20);
    world.pass(1_000);
    world.settle();
    row("explain", ASKED, () -> ask(new Query.Explain(job(), node())));
    row("histogram of all jobs, the first", 1, () -> ask(new Query.Histograms(List.of(), 0)));
    row("histogram of all jobs", FEW, () -> ask(new Query.Histograms(List.of(), 0)));
    row("levels of a job", FEW, () -> ask(new Query.Levels(job(), 5)));
    row("failures of a job", FEW, () -> ask(new Query.Failures(job(), 20)));
    row("waiting tasks of a job by reason", FEW, () -> ask(new Query.Waiting(job())));
    row("the tree, 2,000 nodes, all jobs", FEW, () -> ask(tree("", 2_000)));
    row("the tree, 20,000 nodes, one job", FEW, () -> ask(tree(job(), 20_000)));
    row("a host", FEW, () -> ask(new Query.Node("host", host())));
    row("a page of 100 tasks", FEW, () -> ask(query("", "")));
    row("a page of 100 failed tasks", FEW, () -> ask(query("failed", "")));
    String cause = world.core().tasks().failures(0, 20, 1).groups().get(19).fingerprint();
    row("a page of 100 tasks of one cause", FEW, () -> ask(query("", cause)));
    print(
        String.format(
            Locale.ROOT,
            "| %,d | %,d | *the longest step of the loop while it was asked* | | | %.1f | |",
            (long) scraping.leaves() * JOBS,
            world.core().running().count(),
            longestStep / 1e6));
  }

  private <T> CompletionStage<T> ask(Query<T> query) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    world.add(new LoopInput.Answer<>(query, answer));
    return answer;
  }

  private static Query.Tree tree(String job, int limit) {
    return new Query.Tree("", "", job, 1_000, limit);
  }

  private Query.Tasks query(String status, String cause) {
    return Query.Tasks.all(job(), "", 100)
        .with(
            query ->
                query.statuses(status.isEmpty() ? List.of() : List.of(status)).fingerprint(cause));
  }

  private String job() {
    return "job" + (100 + random.below(JOBS));
  }

  private String host() {
    return "host" + random.below(scraping.hosts());
  }

  private String node() {
    return "db" + random.below(scraping.hosts()) + "." + random.below(Scraping.SHARDS_PER_HOST);
  }

  private void row(String what, int times, Supplier<CompletionStage<?>> question) {
    long[] nanos = new long[times];
    long[] wall = new long[times];
    for (int i = 0; i < times; i++) {
      world.change(CHANGES_BETWEEN);
      // What was made lately is not given again.
      world.pass(60_000);
      world.settle();
      long clock = System.nanoTime();
      long begin = THREADS.getCurrentThreadCpuTime();
      CompletableFuture<?> answer = question.get().toCompletableFuture();
      while (!answer.isDone()) {
        step();
      }
      nanos[i] = THREADS.getCurrentThreadCpuTime() - begin;
      wall[i] = System.nanoTime() - clock;
      if (answer.isCompletedExceptionally()) {
        answer.join();
      }
    }
    Arrays.sort(nanos);
    Arrays.sort(wall);
    print(
        String.format(
            Locale.ROOT,
            "| %,d | %,d | %s | %.2f | %.2f | %.2f | %.2f |",
            (long) scraping.leaves() * JOBS,
            world.core().running().count(),
            what,
            nanos[times / 2] / 1e6,
            nanos[times * 99 / 100] / 1e6,
            nanos[times - 1] / 1e6,
            wall[times * 99 / 100] / 1e6));
  }

  private void print(String line) {
    if (prints) {
      System.out.println(line);
    }
  }

  private void step() {
    long begin = THREADS.getCurrentThreadCpuTime();
    world.step();
    longestStep = Math.max(longestStep, THREADS.getCurrentThreadCpuTime() - begin);
  }
}
