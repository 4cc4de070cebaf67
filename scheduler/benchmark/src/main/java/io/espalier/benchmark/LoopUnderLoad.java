package io.espalier.benchmark;

import io.espalier.core.call.CallbackSigner;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.LoopOptions;
import io.espalier.core.loop.PreparedUpdate;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.app.Plugins;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The real loop, driven by hand, with a runner and a store that do nothing. Its tasks end when they
 * are told to; others start in their place. Confined to one thread.
 */
final class LoopUnderLoad {
  private final Scraping scraping;
  private final SplitMix64 random = new SplitMix64(9);
  private final ArrayDeque<LoopInput> inputs = new ArrayDeque<>();
  private final Runner runner = new Runner();
  private final SchedulingCore core = new SchedulingCore(1);
  private final SchedulerLoop loop;
  private long now = 1_700_000_000_000L;

  /** A loop in which as many tasks run as may. */
  LoopUnderLoad(Scraping scraping) {
    this.scraping = scraping;
    loop =
        new SchedulerLoop(
            core,
            Plugins.load().policies(),
            new StatusParser(JsonReader::parse),
            new LoopPorts(
                runner,
                new NoStore(),
                events -> {},
                view -> {},
                (message, job, node) -> {
                  throw new IllegalStateException(message);
                },
                action -> inputs.add(new LoopInput.Deferred(action)),
                LoopPorts.Notifications.NONE),
            new LoopOptions(1, "here", "host", 0, 1, new CallbackSigner("key")));
    UpdatePlan change = core.prepare(scraping.config(), scraping.topology());
    inputs.add(new LoopInput.WillRead(change, new CompletableFuture<>()));
    inputs.add(
        new LoopInput.Update(
            new PreparedUpdate(change, List.of(), now), new CompletableFuture<>()));
    settle();
  }

  Scraping scraping() {
    return scraping;
  }

  SchedulingCore core() {
    return core;
  }

  SplitMix64 random() {
    return random;
  }

  void add(LoopInput input) {
    inputs.add(input);
  }

  /** Lets time pass. */
  void pass(long millis) {
    now += millis;
  }

  void step() {
    loop.runOnce(now, inputs);
  }

  void settle() {
    while (loop.runOnce(now, inputs).isZero() || !inputs.isEmpty()) {
      // The next step goes on.
    }
  }

  /** Ends so many tasks: most are done, some failed for one of many causes, some wait. */
  void change(int ends) {
    for (int i = 0; i < ends; i++) {
      LaunchSpec launch = runner.removeAt(random.below(runner.running.size()));
      int dice = random.below(10);
      String status =
          dice < 7
              ? "done"
              : "{\"result\": \""
                  + (dice < 9 ? "failed" : "error_backoff")
                  + "\", \"data\": {\"exception\": \"cannot reach replica set "
                  + "abcdefghijklmnopqrst".charAt(random.below(20))
                  + "\"}}";
      inputs.add(
          new LoopInput.TaskEnded(
              TaskResult.exited(launch.job(), launch.node(), launch.invocation(), status, 0)));
      if (i % 100 == 99) {
        now += 10;
        settle();
      }
    }
    settle();
  }

  private static final class NoStore implements LoopPorts.Commits {
    @Override
    public CompletionStage<Void> submit(StoreTransaction batch) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public boolean isSaturated() {
      return false;
    }
  }

  /** Tasks that run until they are told to end. */
  private static final class Runner implements TaskRunner {
    private final List<LaunchSpec> running = new ArrayList<>();

    LaunchSpec removeAt(int index) {
      LaunchSpec launch = running.get(index);
      LaunchSpec last = running.remove(running.size() - 1);
      if (index < running.size()) {
        running.set(index, last);
      }
      return launch;
    }

    @Override
    public String name() {
      return "benchmark";
    }

    @Override
    public String shard() {
      return "here";
    }

    @Override
    public void open(TaskListener listener) {}

    @Override
    public void start(LaunchSpec launch) {
      running.add(launch);
    }

    @Override
    public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
      return false;
    }

    @Override
    public void close() {}
  }
}
