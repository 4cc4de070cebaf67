package io.espalier.webui.fleet.poll;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls all schedulers and keeps their last answers, so that a query about all of them is answered
 * at once. It waits for unresponsive schedulers separately and polls them less often. One thread
 * makes all state changes; any thread may read views.
 */
public final class Poller implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
  private static final long TICK_MILLIS = 20;
  private static final long PATIENCE_NANOS = 1_000_000_000L;
  private static final int MOST_PER_SECOND = 200;
  private static final long LONGEST_PAUSE_NANOS = 30_000_000_000L;
  private static final int MOST_DOUBLINGS = 3;

  private final FleetOptions options;
  private final Function<SchedulerAddress, CompletableFuture<SchedulerSummary>> asking;
  private final InstantSource clock;
  private final ScheduledExecutorService thread;
  private final Map<String, Host> hosts = new LinkedHashMap<>();
  private int quick;
  private int slow;
  private boolean changed;
  private volatile FleetView view;

  private static final class Host {
    FleetSchedulerView view;
    long dueNanos;
    long askedNanos;
    boolean asking;
    boolean waitedFor;
    boolean again;

    Host(FleetSchedulerView view, long dueNanos) {
      this.view = view;
      this.dueNanos = dueNanos;
    }
  }

  /**
   * @param asking queries one scheduler; fails with {@link SchedulerUnreachableException}
   */
  public Poller(
      FleetOptions options,
      Function<SchedulerAddress, CompletableFuture<SchedulerSummary>> asking,
      InstantSource clock) {
    this.options = options;
    this.asking = asking;
    this.clock = clock;
    this.view = new FleetView(clock.millis(), List.of());
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread made = new Thread(work, "espalier-fleet-poll");
              made.setDaemon(true);
              return made;
            });
    ScheduledFuture<?> forEver =
        thread.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
    LOG.trace("{}", forEver);
  }

  /** Returns a view that is at most a moment old. */
  public FleetView view() {
    return view;
  }

  /** Replaces the list; keeps the state of schedulers that were in the list before. */
  public void follow(List<SchedulerAddress> addresses) {
    onThread(
        () -> {
          Map<String, Host> before = new LinkedHashMap<>(hosts);
          hosts.clear();
          long now = System.nanoTime();
          for (SchedulerAddress address : addresses) {
            Host known = before.get(address.id());
            hosts.put(
                address.id(),
                known != null && known.view.address().equals(address)
                    ? known
                    : new Host(FleetSchedulerView.waiting(address), now));
          }
          changed = true;
          tick();
        });
  }

  /** Polls these schedulers now, for example after they received a command. */
  public void askSoon(List<String> ids) {
    onThread(
        () -> {
          for (String id : ids) {
            Host host = hosts.get(id);
            if (host != null) {
              host.again = host.asking;
              host.dueNanos = System.nanoTime();
            }
          }
        });
  }

  private void tick() {
    try {
      long now = System.nanoTime();
      List<Host> due = new ArrayList<>();
      for (Host host : hosts.values()) {
        if (host.asking) {
          waitApart(host, now);
        } else if (host.dueNanos - now <= 0) {
          due.add(host);
        }
      }
      due.sort(Comparator.comparingLong(host -> host.dueNanos - now));
      for (Host host : due) {
        ask(host, now);
      }
      if (changed) {
        changed = false;
        view = new FleetView(clock.millis(), hosts.values().stream().map(h -> h.view).toList());
      }
    } catch (RuntimeException | Error e) {
      // The executor would end the polling for good, and say nothing.
      LOG.error("asking schedulers failed", e);
    }
  }

  /** Moves a slow query to the slow ones, so that it frees its slot for others. */
  private void waitApart(Host host, long now) {
    if (!host.waitedFor && now - host.askedNanos > PATIENCE_NANOS && slow < options.slow()) {
      host.waitedFor = true;
      quick--;
      slow++;
      if (host.view.state() == FleetSchedulerState.WAITING
          || host.view.state() == FleetSchedulerState.ANSWERED) {
        FleetSchedulerView v = host.view;
        host.view =
            new FleetSchedulerView(
                v.address(),
                FleetSchedulerState.SLOW,
                "it was asked and has not answered yet",
                v.triedAtMillis(),
                v.answeredAtMillis(),
                v.tookMillis(),
                v.failures(),
                v.summary());
        changed = true;
      }
    }
  }

  private void ask(Host host, long now) {
    // A scheduler that did not answer the last time will hardly be quick now.
    boolean apart = host.view.state() == FleetSchedulerState.SLOW;
    if (apart ? slow >= options.slow() : quick >= options.quick()) {
      return;
    }
    if (apart) {
      slow++;
    } else {
      quick++;
    }
    host.asking = true;
    host.waitedFor = apart;
    host.askedNanos = now;
    long triedAt = clock.millis();
    CompletableFuture<SchedulerSummary> answer;
    try {
      answer = asking.apply(host.view.address());
    } catch (RuntimeException | Error e) {
      answer = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<Void> done =
        answer.handle(
            (summary, failure) -> {
              onThread(() -> answered(host, triedAt, summary, failure));
              return null;
            });
    if (done.isCompletedExceptionally()) {
      LOG.debug("the answer of {} could not be taken", host.view.id());
    }
  }

  private void answered(
      Host host, long triedAt, @Nullable SchedulerSummary summary, @Nullable Throwable failure) {
    host.asking = false;
    if (host.waitedFor) {
      slow--;
    } else {
      quick--;
    }
    long now = System.nanoTime();
    FleetSchedulerView v = host.view;
    if (summary != null) {
      long took = TimeUnit.NANOSECONDS.toMillis(now - host.askedNanos);
      host.view =
          new FleetSchedulerView(
              v.address(),
              FleetSchedulerState.ANSWERED,
              "",
              triedAt,
              clock.millis(),
              took,
              0,
              summary);
    } else {
      SchedulerUnreachableException known =
          SchedulerUnreachableException.of(failure == null ? new IllegalStateException() : failure);
      if (v.failures() == 0) {
        LOG.debug("{} is {}: {}", v.id(), known.state().word(), known.detail());
      }
      host.view =
          new FleetSchedulerView(
              v.address(),
              known.state(),
              known.detail(),
              triedAt,
              v.answeredAtMillis(),
              v.tookMillis(),
              v.failures() + 1,
              v.summary());
    }
    host.dueNanos = host.again ? now : now + pause(host.view.failures());
    host.again = false;
    changed = true;
  }

  private long pause(int failures) {
    Duration least = options.interval();
    Duration bearable = Duration.ofMillis(hosts.size() * 1000L / MOST_PER_SECOND);
    long normal = (least.compareTo(bearable) > 0 ? least : bearable).toNanos();
    if (failures == 0) {
      return normal;
    }
    long longer = normal << Math.min(failures - 1, MOST_DOUBLINGS);
    return Math.max(normal, Math.min(longer, LONGEST_PAUSE_NANOS));
  }

  private void onThread(Runnable work) {
    try {
      thread.execute(work);
    } catch (RejectedExecutionException e) {
      LOG.trace("it is closed", e);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
