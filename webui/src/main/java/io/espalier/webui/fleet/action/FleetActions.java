package io.espalier.webui.fleet.action;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.SchedulerReply;
import io.espalier.webui.fleet.poll.SchedulerUnreachableException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a command to many schedulers and remembers the result of each. It never sends a command
 * twice: a scheduler that did not answer may have carried it out, and the result says so.
 * Thread-safe.
 */
public final class FleetActions {
  private static final Logger LOG = LoggerFactory.getLogger(FleetActions.class);
  private static final int REMEMBERED = 50;

  private final FleetOptions options;
  private final FleetClient client;
  private final InstantSource clock;
  private final Consumer<List<String>> changed;
  private final Map<String, Run> runs = new LinkedHashMap<>();

  /** The result on one scheduler. */
  enum Result {
    /** Not sent yet, or the answer is pending. */
    PENDING,
    OK,
    /** The scheduler refused, with a reason. */
    REFUSED,
    /** It failed on the scheduler. */
    FAILED,
    /** Never sent, because there was no connection. */
    UNREACHABLE,
    /** Sent without an answer: it may have been carried out. */
    UNKNOWN;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The answer of one scheduler.
   *
   * @param answer null when there is none
   */
  record Said(Result result, String detail, @Nullable Json answer) {
    static final Said NOTHING = new Said(Result.PENDING, "", null);
  }

  /** One command to all targets; guarded by its own lock. */
  public static final class Run {
    private final String id = UUID.randomUUID().toString();
    private final String job;
    private final String action;
    private final boolean preview;
    private final long begunMillis;
    private long endedMillis;
    private final Map<String, Said> said = new LinkedHashMap<>();

    private Run(
        String job, String action, boolean preview, long begunMillis, List<FleetSchedulerView> to) {
      this.job = job;
      this.action = action;
      this.preview = preview;
      this.begunMillis = begunMillis;
      to.forEach(host -> said.put(host.id(), Said.NOTHING));
    }

    String id() {
      return id;
    }

    private synchronized void hear(String host, Said what) {
      said.put(host, what);
    }

    private synchronized void end(long millis) {
      endedMillis = millis;
    }

    private synchronized boolean isOver() {
      return endedMillis > 0;
    }

    /** Returns the progress with the result of each scheduler. */
    public synchronized Json.Builder json() {
      Map<Result, Integer> counts = new EnumMap<>(Result.class);
      Map<String, Double> sums = new LinkedHashMap<>();
      List<Json> hosts = new ArrayList<>();
      said.forEach(
          (host, what) -> {
            counts.merge(what.result(), 1, Integer::sum);
            Json.Builder one = Json.object().put("host", host).put("result", what.result().word());
            if (!what.detail().isEmpty()) {
              one.put("detail", what.detail());
            }
            if (what.answer() instanceof Json.Obj answer) {
              for (String key : List.of("changed", "matched", "signaled", "running")) {
                if (answer.get(key) instanceof Json.Num n) {
                  one.put(key, n);
                  sums.merge(key, n.value().doubleValue(), Double::sum);
                }
              }
            }
            hosts.add(one.build());
          });
      Json.Builder results = Json.object();
      for (Result result : Result.values()) {
        results.put(result.word(), counts.getOrDefault(result, 0));
      }
      Json.Builder all = Json.object().put("id", id);
      if (!job.isEmpty()) {
        all.put("job", job);
      }
      all.put("action", action)
          .put("preview", preview)
          .put("begun_ms", begunMillis)
          .put("finished", endedMillis > 0)
          .put("meant", said.size())
          .put("results", results.build());
      if (endedMillis > 0) {
        all.put("ended_ms", endedMillis);
      }
      sums.forEach((key, sum) -> all.put(key, (long) sum.doubleValue()));
      return all.put("hosts", new Json.Arr(hosts));
    }
  }

  /**
   * @param changed gets the ids of the schedulers that received a command
   */
  public FleetActions(
      FleetOptions options,
      FleetClient client,
      InstantSource clock,
      Consumer<List<String>> changed) {
    this.options = options;
    this.client = client;
    this.clock = clock;
    this.changed = changed;
  }

  /**
   * Starts to send a command about a job.
   *
   * @param action last part of the path at the scheduler
   * @param preview whether the body requests a preview, so that nothing changes
   * @param within the stage completes when all have answered, or after this time
   */
  public CompletableFuture<Run> tell(
      String job,
      String action,
      boolean preview,
      Json.Obj body,
      List<FleetSchedulerView> to,
      Duration within) {
    String path =
        "/api/v1/jobs/"
            + URLEncoder.encode(job, StandardCharsets.UTF_8).replace("+", "%20")
            + "/"
            + action;
    return send(new Run(job, action, preview, clock.millis(), to), path, body, to, within);
  }

  /**
   * Starts to send a command that is about no single job.
   *
   * @param action what it is called here
   * @param path its path at the scheduler
   * @param within as above
   */
  public CompletableFuture<Run> tell(
      String action, String path, Json.Obj body, List<FleetSchedulerView> to, Duration within) {
    return send(new Run("", action, false, clock.millis(), to), path, body, to, within);
  }

  private CompletableFuture<Run> send(
      Run run, String path, Json.Obj body, List<FleetSchedulerView> to, Duration within) {
    remember(run);
    if (!run.preview) {
      LOG.info("{} on {} schedulers: {}", Json.of(path), to.size(), run.id());
    }
    return Fanout.each(
            to,
            options.actions(),
            client.readers(),
            host ->
                client
                    .ask(
                        host.address(),
                        "POST",
                        path,
                        body,
                        Map.of("Idempotency-Key", run.id()),
                        options.receive(),
                        FleetActions::said)
                    .exceptionally(FleetActions::silent)
                    .thenAccept(what -> run.hear(host.id(), what)))
        .thenRun(
            () -> {
              run.end(clock.millis());
              if (!run.preview) {
                changed.accept(to.stream().map(FleetSchedulerView::id).toList());
              }
            })
        .completeOnTimeout(null, within.toMillis(), TimeUnit.MILLISECONDS)
        .thenApply(done -> run);
  }

  /** Returns what a brake that is in force still waits for; empty: nothing. */
  private static String doubt(@Nullable Json json) {
    if (!(json instanceof Json.Obj answer)) {
      return "";
    }
    if (Json.of(false).equals(answer.get("durable"))) {
      return "in force, but its store has not answered";
    }
    return answer.get("unconfirmed") instanceof Json.Num workers
        ? "in force, but " + workers.value() + " of its workers have not confirmed it"
        : "";
  }

  private static Said said(SchedulerReply reply) {
    if (reply.isOk()) {
      return new Said(Result.OK, doubt(reply.json()), reply.json());
    }
    if (reply.status() / 100 == 4) {
      return new Said(
          Result.REFUSED,
          reply.status() == 401 ? "it wants a token that it knows" : reply.detail(),
          null);
    }
    return reply.status() / 100 == 3
        ? new Said(Result.REFUSED, "it stands by; its leader is not at this address", null)
        : new Said(Result.FAILED, "status " + reply.status() + ": " + reply.detail(), null);
  }

  private static Said silent(Throwable failure) {
    SchedulerUnreachableException known = SchedulerUnreachableException.of(failure);
    return new Said(known.sent() ? Result.UNKNOWN : Result.UNREACHABLE, known.detail(), null);
  }

  private void remember(Run run) {
    synchronized (runs) {
      runs.put(run.id(), run);
      if (runs.size() > REMEMBERED) {
        runs.values().stream()
            .filter(Run::isOver)
            .findFirst()
            .ifPresent(oldest -> runs.remove(oldest.id()));
      }
    }
  }

  @Nullable
  public Run run(String id) {
    synchronized (runs) {
      return runs.get(id);
    }
  }

  /** Returns the remembered commands, newest first. */
  public List<Run> runs() {
    synchronized (runs) {
      List<Run> all = new ArrayList<>(runs.values());
      Collections.reverse(all);
      return all;
    }
  }
}
