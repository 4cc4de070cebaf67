package io.espalier.core.loop.command;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.worker.WorkerUtilization;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Manages limit overrides: sets them, ends them on command, and ends them at their expiry. */
public final class LimitOverrideCommands {
  private static final int MOST = 10_000;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final Map<LimitOverride.Key, LimitOverride> overrides = new LinkedHashMap<>();
  private long next = Long.MAX_VALUE;

  public LimitOverrideCommands(SchedulingCore core, LoopEvents events) {
    this.core = core;
    this.events = events;
  }

  /** Restores overrides after a restart; those that have expired meanwhile end in the next step. */
  public void restore(List<LimitOverride> stored) {
    stored.forEach(this::put);
  }

  private void put(LimitOverride override) {
    overrides.put(override.key(), override);
    core.limits().override(override);
    if (override.untilMillis() > 0) {
      next = Math.min(next, override.untilMillis());
    }
  }

  /**
   * Sets an override, replacing an older one with the same key.
   *
   * @throws RefusedException when the level, resource or node does not exist, or there are too many
   *     overrides
   */
  public void set(LimitOverride override, long nowMillis) {
    LimitOverride.Key key = override.key();
    check(key);
    if (overrides.size() >= MOST && !overrides.containsKey(key)) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "there are " + MOST + " overrides of limits already: end some, or change the settings");
    }
    put(override);
    Json.Builder event = about(key).put("limit", override.limit());
    if (override.untilMillis() > 0) {
      event.put("expires_at_ms", override.untilMillis());
    }
    said(event, override.author(), override.reason(), nowMillis);
  }

  /**
   * Ends an override on command.
   *
   * @throws RefusedException when there is no such override
   */
  public LimitView end(LimitOverride.Key key, String author, String reason, long nowMillis) {
    LimitOverride override = overrides.remove(key);
    if (override == null) {
      check(key);
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "nobody overrides the limit of " + key.resource() + " on " + where(key));
    }
    core.limits().endOverride(key);
    said(about(key).put("ended", override.limit()), author, reason, nowMillis);
    return view(override);
  }

  /**
   * Ends the overrides that have expired.
   *
   * @param ended receives the key of each
   */
  public void step(long nowMillis, Consumer<LimitOverride.Key> ended) {
    if (nowMillis < next) {
      return;
    }
    next = Long.MAX_VALUE;
    for (LimitOverride override : List.copyOf(overrides.values())) {
      if (override.untilMillis() > nowMillis) {
        next = Math.min(next, override.untilMillis());
      } else if (override.untilMillis() > 0) {
        overrides.remove(override.key());
        core.limits().endOverride(override.key());
        ended.accept(override.key());
        said(
            about(override.key()).put("ended", override.limit()).put("expired", true),
            override.author(),
            override.reason(),
            nowMillis);
      }
    }
  }

  /** When the next override expires; {@link Long#MAX_VALUE} when none does. */
  public long nextMillis() {
    return next;
  }

  public List<LimitView> view() {
    List<LimitView> views = new ArrayList<>();
    overrides.values().forEach(override -> views.add(view(override)));
    views.sort(
        Comparator.comparing((LimitView v) -> v.override().level())
            .thenComparing(v -> v.override().resource())
            .thenComparing(v -> v.override().node()));
    return views;
  }

  public LimitView view(LimitOverride override) {
    return new LimitView(override, configured(override.key()));
  }

  /**
   * The configured limit: that of the node if it has one of its own; for workers that of their
   * level.
   */
  private @Nullable Integer configured(LimitOverride.Key key) {
    Resource resource = resource(key.level(), key.resource());
    if (resource == null) {
      return null;
    }
    boolean isWorker = resource.level() == core.topology().levels().worker();
    int node =
        isWorker || key.node().isEmpty() ? -1 : core.topology().find(resource.level(), key.node());
    return node < 0 ? resource.limit() : core.capacity().configuredLimit(node, resource.index());
  }

  private @Nullable Resource resource(String level, String name) {
    Resource resource = core.config().settings().resources().find(name);
    return resource != null && core.config().settings().levels().find(level) == resource.level()
        ? resource
        : null;
  }

  private void check(LimitOverride.Key key) {
    Levels levels = core.config().settings().levels();
    int level = levels.find(key.level());
    if (level < 0) {
      throw unknown("there is no level", key.level(), levels.names());
    }
    if (resource(key.level(), key.resource()) == null) {
      List<String> names =
          core.config().settings().resources().ofLevel(level).stream().map(Resource::name).toList();
      throw unknown("level " + key.level() + " has no resource", key.resource(), names);
    }
    if (key.node().isEmpty()) {
      return;
    }
    if (level == levels.worker()) {
      List<String> workers =
          core.capacity().workerUse().stream()
              .map(WorkerUtilization::shard)
              .map(this::workerName)
              .toList();
      if (!workers.contains(key.node())) {
        throw unknown("there is no worker", key.node(), workers);
      }
    } else if (core.topology().find(level, key.node()) < 0) {
      throw unknown("level " + key.level() + " has no node", key.node(), someNodes(level));
    }
  }

  /** The name of a worker; the scheduler's own host has the name of the instance. */
  private String workerName(String shard) {
    return shard.isEmpty() ? core.topology().name(0) : shard;
  }

  /** The first few nodes of a level, enough for a hint. */
  private List<String> someNodes(int level) {
    List<String> names = new ArrayList<>();
    int first = core.topology().levelStart(level);
    int end = Math.min(core.topology().levelEnd(level), first + 1000);
    for (int node = first; node < end; node++) {
      names.add(core.topology().name(node));
    }
    return names;
  }

  /** Refuses a name that nobody knows, with those that are alike. */
  static RefusedException unknown(String what, String name, Collection<String> names) {
    String hint = Suggestions.hint(name, names);
    return new RefusedException(
        RefusedException.Reason.UNKNOWN,
        what + " \"" + name + "\"" + (hint == null ? "" : ": " + hint));
  }

  private static String where(LimitOverride.Key key) {
    return key.node().isEmpty()
        ? "all of level " + key.level()
        : key.node() + " of level " + key.level();
  }

  private Json.Builder about(LimitOverride.Key key) {
    Json.Builder about = Json.object().put("level", key.level()).put("resource", key.resource());
    if (!key.node().isEmpty()) {
      about.put("node", key.node());
    }
    Integer configured = configured(key);
    return configured == null ? about : about.put("configured", configured);
  }

  private void said(Json.Builder event, String author, String reason, long nowMillis) {
    if (!author.isEmpty()) {
      event.put("author", author);
    }
    events.add(nowMillis, EventKind.LIMIT_CHANGED, event.put("reason", reason).build());
  }
}
