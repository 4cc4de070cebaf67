package io.espalier.server.app.update;

import io.espalier.core.api.AppliedPlan;
import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.RefusedException.Reason;
import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.api.plan.PlanForecast;
import io.espalier.core.api.plan.UpdateImpact;
import io.espalier.core.config.Config;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.event.EventKind;
import io.espalier.core.forecast.PlanForecaster;
import io.espalier.core.forecast.PlannedWork;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.query.ImpactQuery;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.scheduling.ImpactScan;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.topology.Topology;
import io.espalier.server.config.ConfigEditor;
import io.espalier.server.config.ConfigEditor.Edited;
import io.espalier.server.nodes.NodeFetcher;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells what a configuration would do, and applies it when that is what somebody has agreed to.
 *
 * <p>What needs no live state is computed on the calling thread, the rest in slices on the
 * scheduler thread. Blocks; to be called by one thread at a time, because each plan needs memory
 * that grows with the tree.
 */
public final class ConfigPlanner {
  private static final int TRIES = 5;
  private static final int ANSWER_SECONDS = 25;

  private final ConfigEditor editor;
  private final SchedulingCore core;
  private final Consumer<LoopInput> loop;
  private final NodeFetcher nodes;
  private final PlanTokens tokens;
  private final InstantSource clock;

  /** What is in force. */
  private record InForce(Config config, Topology topology) {}

  /** What a configuration would do. */
  private record Effect(UpdateImpact impact, PlanForecast forecast) {}

  /**
   * @param nodes fetches the nodes of settings with other node sources
   */
  public ConfigPlanner(
      ConfigEditor editor,
      SchedulingCore core,
      Consumer<LoopInput> loop,
      NodeFetcher nodes,
      PlanTokens tokens,
      InstantSource clock) {
    this.editor = editor;
    this.core = core;
    this.loop = loop;
    this.nodes = nodes;
    this.tokens = tokens;
    this.clock = clock;
  }

  /**
   * Plans a change.
   *
   * @param fetchesNodes whether nodes are fetched if the node sources differ: their programs and
   *     queries run then
   * @param assumedMillis how long the tasks of a job take while none has ended; 0: not known
   */
  public ConfigPlan plan(ConfigChange change, boolean fetchesNodes, long assumedMillis) {
    return plan(change, editor.edit(change), fetchesNodes, assumedMillis);
  }

  private ConfigPlan plan(
      ConfigChange change, Edited edited, boolean fetchesNodes, long assumedMillis) {
    String version = edited.text().hash();
    Config config = edited.config();
    if (config == null || edited.problems().stream().anyMatch(Problem::isError)) {
      return new ConfigPlan(
          version,
          edited.problems(),
          List.of(),
          List.of(),
          null,
          null,
          "the configuration has errors",
          Map.of(),
          "",
          0);
    }
    InForce now = inForce();
    String uncounted = "";
    Effect effect = null;
    Topology topology = now.topology();
    if (!config.settings().nodesHash().equals(now.config().settings().nodesHash())) {
      if (fetchesNodes) {
        Result<Topology> fetched = fetched(config);
        topology = fetched.value();
        uncounted =
            topology != null
                ? ""
                : "its nodes cannot be fetched: "
                    + fetched.problems().stream()
                        .filter(Problem::isError)
                        .map(Problem::toString)
                        .findFirst()
                        .orElse("no reason is given");
      } else {
        topology = null;
        uncounted = "its node sources are others, and only an admin may have them run";
      }
    }
    if (topology != null
        && ImpactScan.mayKillOnWorkers(now.config().settings(), config.settings())) {
      uncounted = "tasks may be killed on workers, whose slots change";
    } else if (topology != null) {
      effect = effect(now, config, topology, assumedMillis);
    }
    UpdateImpact impact = effect == null ? null : effect.impact();
    long until = clock.millis() + PlanTokens.GOOD_FOR.toMillis();
    return new ConfigPlan(
        version,
        edited.problems(),
        ConfigDifference.settings(now.config(), config),
        ConfigDifference.jobs(now.config(), config),
        impact,
        effect == null ? null : effect.forecast(),
        uncounted,
        exceeding(impact, Map.of()),
        tokens.sign(version, hash(change), until),
        until);
  }

  /**
   * Applies a change that was planned.
   *
   * @throws RefusedException when the token is not good for it, when the configuration has changed
   *     since, or when more would happen than was consented to
   */
  public AppliedPlan apply(
      ConfigChange change, String token, Map<String, Long> consents, String author, String reason) {
    String version = tokens.check(token, hash(change), clock.millis());
    Edited edited = editor.edit(change);
    if (!edited.text().hash().equals(version)) {
      throw outdated();
    }
    ConfigPlan plan = plan(change, edited, true, 0);
    Map<String, Long> exceeding = exceeding(plan.impact(), consents);
    if (!exceeding.isEmpty()) {
      throw new RefusedException(
          Reason.CONFLICT, "plan_needs_consent", Consent.words(exceeding, consents, plan));
    }
    if (edited.members().isEmpty()) {
      return new AppliedPlan(List.of(), false, plan);
    }
    List<JobVersion> written = editor.write(edited, author, reason);
    if (written == null) {
      throw outdated();
    }
    boolean settings = edited.members().containsKey(Config.SETTINGS_KEY);
    loop.accept(
        new LoopInput.Announce(
            EventKind.CONFIG_APPLIED, event(written, settings, plan.impact(), author, reason)));
    return new AppliedPlan(written, settings, plan);
  }

  private static RefusedException outdated() {
    return new RefusedException(
        Reason.STALE, "plan_outdated", "the configuration has changed since this plan; plan again");
  }

  private static Json.Obj event(
      List<JobVersion> written,
      boolean settings,
      @Nullable UpdateImpact impact,
      String author,
      String reason) {
    Json.Builder data =
        Json.object()
            .put("saved", written.stream().filter(version -> version.job() != null).count())
            .put("deleted", written.stream().filter(version -> version.job() == null).count())
            .put("settings", settings);
    if (impact != null) {
      data.put("kills", impact.kills())
          .put("new", impact.added())
          .put("nodes", impact.nodesRemoved());
    }
    return data.put("author", author).put("reason", reason).build();
  }

  private static Map<String, Long> exceeding(
      @Nullable UpdateImpact impact, Map<String, Long> consents) {
    Map<String, Long> exceeding = new TreeMap<>();
    for (Consent consent : Consent.values()) {
      long number = consent.number(impact);
      if (number > consents.getOrDefault(consent.word(), consent.free(impact))) {
        exceeding.put(consent.word(), number);
      }
    }
    return exceeding;
  }

  private Result<Topology> fetched(Config config) {
    try {
      return nodes.fetch(config.settings(), clock.instant());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(Reason.UNAVAILABLE, "interrupted");
    }
  }

  private InForce inForce() {
    CompletableFuture<InForce> answer = new CompletableFuture<>();
    loop.accept(
        new LoopInput.Inspect(() -> answer.complete(new InForce(core.config(), core.topology()))));
    return answered(answer);
  }

  private Effect effect(InForce first, Config config, Topology topology, long assumedMillis) {
    InForce now = first;
    for (int i = 0; i < TRIES; i++) {
      Topology next = topology == first.topology() ? now.topology() : topology;
      TaskDifference difference = TaskDifference.of(now.config(), now.topology(), config, next);
      CompletableFuture<ImpactQuery.@Nullable Measured> answer = new CompletableFuture<>();
      loop.accept(new LoopInput.Measure(difference, answer));
      ImpactQuery.Measured measured = answered(answer);
      if (measured != null) {
        PlannedWork work = PlannedWork.now(measured.work());
        PlannedWork planned = PlannedWork.then(measured.work(), difference);
        return new Effect(
            measured.impact(),
            new PlanForecaster(work, planned, measured.paces(), assumedMillis, clock.millis())
                .forecast());
      }
      // Other nodes or another configuration have come into force meanwhile.
      now = inForce();
    }
    throw new RefusedException(
        Reason.UNAVAILABLE, "the nodes change faster than a plan can be made; try again");
  }

  private static <T extends @Nullable Object> T answered(CompletableFuture<T> answer) {
    try {
      return answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new RefusedException(Reason.UNAVAILABLE, "the scheduler does not answer: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(Reason.UNAVAILABLE, "interrupted");
    }
  }

  /** Returns the hash of a change, whatever the order of its members. */
  private static String hash(ConfigChange change) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      new TreeMap<>(change.members().members())
          .forEach(
              (key, value) -> {
                String text = JsonWriter.compact(value);
                digest.update(
                    (key.length() + " " + text.length() + " " + key + text)
                        .getBytes(StandardCharsets.UTF_8));
              });
      digest.update((byte) (change.prune() ? 1 : 0));
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
