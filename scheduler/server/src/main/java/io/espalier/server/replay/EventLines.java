package io.espalier.server.replay;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.json.Json;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.topology.SpreadGroups;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Encodes events as JSON arrays, one per line, or one for many statuses (docs/replay.md). It writes
 * only what placements depend on: no commands, no environment, no {@code config} of jobs, no
 * settings of node sources, and no task output, so that a recording contains no secrets of them.
 * Not thread-safe. It does not repeat nodes that did not change.
 */
final class EventLines {
  /** The private keys of a job. */
  private static final Set<String> PRIVATE_TO_JOB =
      Set.of(
          "config",
          "command",
          "task_subprocess",
          "kill_subprocess",
          "log_retention",
          "redact",
          "description",
          "labels",
          "links");

  /** The private keys of the settings. */
  private static final Set<String> PRIVATE_TO_SETTINGS =
      Set.of("task_subprocess", "kill_subprocess", "log_retention", "redact");

  private final Consumer<Json> out;
  private final StatusColumns statuses = new StatusColumns();
  private @Nullable Topology written;

  /**
   * @param out gets one value per line
   */
  EventLines(Consumer<Json> out) {
    this.out = out;
  }

  void write(CoreEvent event) {
    if (event instanceof CoreEvent.StatusSet e && e.status() != null) {
      if (!statuses.add(e)) {
        flush();
        statuses.add(e);
      }
      return;
    }
    flush();
    writeAtOnce(event);
  }

  /** Writes the line of statuses that has been begun. */
  void flush() {
    Json line = statuses.take();
    if (line != null) {
      out.accept(line);
    }
  }

  private void writeAtOnce(CoreEvent event) {
    if (event instanceof CoreEvent.Finished e) {
      line("end", Json.of(e.run()), status(e.status()));
    } else if (event instanceof CoreEvent.StatusSet e) {
      line("status", Json.of(e.job()), Json.of(e.node()), status(e.status()));
    } else if (event instanceof CoreEvent.Placed e) {
      line("start", Json.of(e.run()), Json.of(e.job()), Json.of(e.node()), Json.of(e.worker()));
    } else if (event instanceof CoreEvent.RoundBegan e) {
      line("round", Json.of(e.policy()), Json.of(e.maxStarts()));
    } else if (event instanceof CoreEvent.RoundEnded e) {
      line("round-end", Json.of(e.complete()));
    } else if (event instanceof CoreEvent.Advanced e) {
      line("advance", Json.of(e.nowMillis()), Json.of(e.limit()), Json.of(e.done()));
    } else if (event instanceof CoreEvent.Clock e) {
      line("clock", Json.of(e.nowMillis()));
    } else if (event instanceof CoreEvent.Gated e) {
      writeGate(e);
    } else if (event instanceof CoreEvent.Adopted e) {
      writeAdopted(e);
    } else {
      writeRare(event);
    }
  }

  private void writeAdopted(CoreEvent.Adopted e) {
    List<Json> words = new ArrayList<>(List.of(Json.of(e.job()), Json.of(e.node())));
    words.add(Json.of(e.worker().shard()));
    words.add(Json.of(e.worker().instance()));
    words.add(Json.of(e.run()));
    if (!e.batch().isEmpty()) {
      words.add(Json.of(e.batch()));
    }
    line("adopt", words.toArray(new Json[0]));
  }

  private void writeGate(CoreEvent.Gated e) {
    switch (e.kind()) {
      case PAUSE -> gate(e.closed() ? "PAUSE" : "RESUME", e.scope(), "");
      case LOADING -> gate(e.closed() ? "HOLD" : "RELEASE", e.scope(), "");
      default -> gate(e.closed() ? "CLOSE" : "REOPEN", e.scope(), e.kind().name());
    }
  }

  private void gate(String operation, Scope scope, String kind) {
    List<Json> words = new ArrayList<>(List.of(Json.of(operation), Json.of(scope.name())));
    words.add(Json.of(kind));
    if (!scope.level().isEmpty()) {
      words.add(Json.of(scope.level()));
    }
    if (scope.kind() == Scope.Kind.JOB_ON_NODE) {
      words.add(Json.of(scope.job()));
    }
    line("gate", words.toArray(new Json[0]));
  }

  private void writeRare(CoreEvent event) {
    if (event instanceof CoreEvent.Began e) {
      began(e);
    } else if (event instanceof CoreEvent.Stepped e) {
      line("step", Json.of(e.units()), Json.of(e.done()));
    } else if (event instanceof CoreEvent.Overridden e) {
      LimitOverride o = e.override();
      line(
          "limit",
          Json.of(o.level()),
          Json.of(o.resource()),
          Json.of(o.node()),
          Json.of(o.limit()),
          Json.of(o.sinceMillis()),
          Json.of(o.untilMillis()));
    } else if (event instanceof CoreEvent.OverrideEnded e) {
      LimitOverride.Key key = e.key();
      line("limit-end", Json.of(key.level()), Json.of(key.resource()), Json.of(key.node()));
    } else if (event instanceof CoreEvent.FactorSet e) {
      LimitFactor factor = e.factor();
      line(
          "factor",
          Json.of(factor.id()),
          Json.of(factor.scope().kind().name()),
          Json.of(factor.scope().level()),
          Json.of(factor.scope().name()),
          Json.strings(List.copyOf(new TreeSet<>(factor.resources()))),
          Json.of(factor.millionths()));
    } else if (event instanceof CoreEvent.FactorRemoved e) {
      line("factor-end", Json.of(e.id()));
    } else if (event instanceof CoreEvent.HealthSet e) {
      HealthLimit health = e.health();
      line(
          "health",
          Json.of(health.level()),
          Json.of(health.resource()),
          Json.of(health.node()),
          Json.of(health.limit()));
    } else if (event instanceof CoreEvent.HealthRemoved e) {
      line("health-end", Json.of(e.level()), Json.of(e.resource()), Json.of(e.node()));
    } else if (event instanceof CoreEvent.StagesClosed e) {
      StageGate gate = e.gate();
      line(
          "stages",
          Json.of(gate.job()),
          Json.of(gate.members().stages()),
          Json.of(gate.open()),
          Json.strings(gate.members().texts(Integer.MAX_VALUE)),
          Json.strings(gate.apart().stream().map(Scope::level).toList()),
          Json.strings(gate.apart().stream().map(Scope::name).toList()));
    } else if (event instanceof CoreEvent.StagesOpened e) {
      line("stages-end", Json.of(e.job()));
    } else if (event instanceof CoreEvent.CapSet e) {
      RunningCap cap = e.cap();
      line(
          "cap",
          Json.of(cap.id()),
          Json.of(cap.scope().kind().name()),
          Json.of(cap.scope().name()),
          Json.of(cap.most()));
    } else if (event instanceof CoreEvent.CapRemoved e) {
      line("cap-end", Json.of(e.id()));
    } else if (event instanceof CoreEvent.LimitsStepped e) {
      line("limit-step", Json.of(e.units()), Json.of(e.done()));
    } else if (event instanceof CoreEvent.QueuesRestored e) {
      List<Json> items = new ArrayList<>();
      items.add(Json.of("queues"));
      items.add(Json.of(e.nowMillis()));
      for (QueueUsage usage : e.usage()) {
        items.add(Json.of(usage.queue()));
        items.add(Json.of(usage.value()));
        items.add(Json.of(usage.atMillis()));
      }
      out.accept(new Json.Arr(items));
    } else if (event instanceof CoreEvent.WorkersNamed e) {
      List<Json> items = new ArrayList<>();
      items.add(Json.of("workers"));
      e.workers().forEach(worker -> items.add(worker(worker)));
      out.accept(new Json.Arr(items));
    } else {
      throw new IllegalArgumentException("unknown event " + event);
    }
  }

  private void line(String kind, Json... values) {
    List<Json> items = new ArrayList<>(values.length + 1);
    items.add(Json.of(kind));
    items.addAll(List.of(values));
    out.accept(new Json.Arr(items));
  }

  static int flags(TaskStatus status) {
    return (status.usesBackoff() ? 1 : 0)
        | (status.holdsPosition() ? 2 : 0)
        | (status.overwriteable() ? 4 : 0)
        | (status.savedBackoff() ? 8 : 0);
  }

  static Json status(@Nullable TaskStatus status) {
    if (status == null) {
      return Json.Null.NULL;
    }
    return new Json.Arr(
        List.of(
            Json.of(status.main().name()),
            Json.of(flags(status)),
            Json.of(status.sinceMillis()),
            Json.of(status.backoffSeconds()),
            Json.of(status.position()),
            Json.of(status.attempts())));
  }

  private static Json worker(WorkerInfo worker) {
    WorkerRef ref = worker.ref();
    Json.Builder physical = Json.object();
    new TreeMap<>(worker.physical()).forEach(physical::put);
    List<Json> items =
        new ArrayList<>(
            List.of(
                Json.of(ref.shard()),
                Json.of(ref.instance()),
                Json.of(worker.host()),
                Json.of(worker.address()),
                Json.of(worker.state().name()),
                Json.of(worker.cordoned()),
                physical.build(),
                Json.of(worker.maxTasks())));
    boolean isMeasured = worker.measured().fullest() >= 0;
    if (!worker.labels().isEmpty() || isMeasured) {
      Json.Builder labels = Json.object();
      new TreeMap<>(worker.labels()).forEach(labels::put);
      items.add(labels.build());
    }
    if (isMeasured) {
      items.add(Json.of(worker.measured().cpu()));
      items.add(Json.of(worker.measured().memory()));
    }
    return new Json.Arr(items);
  }

  private void began(CoreEvent.Began event) {
    Topology nodes = event.topology();
    boolean same = nodes == written;
    TreeSet<String> broken = new TreeSet<>();
    for (Job job : event.config().jobs().values()) {
      if (!job.isValid()) {
        broken.add(job.name());
      }
    }
    line(
        "change",
        document(event.config()),
        Json.strings(List.copyOf(broken)),
        Json.of(nodes.name(0)),
        Json.of(same ? -1 : nodes.slots()),
        Json.of(event.config().shard().toString()),
        spread(nodes.spreadGroups()));
    if (!same) {
      NodeLines.write(nodes, out);
      written = nodes;
    }
  }

  /** Encodes a list for each kind: level, attribute or tags, and the groups; null: unseen. */
  private static Json.Arr spread(SpreadGroups spread) {
    List<Json> kinds = new ArrayList<>();
    spread.unseen().forEach(kind -> kinds.add(spread(kind, Json.Null.NULL)));
    spread
        .elsewhere()
        .forEach(
            (kind, groups) -> {
              Json.Builder counts = Json.object();
              new TreeMap<>(groups).forEach(counts::put);
              kinds.add(spread(kind, counts.build()));
            });
    return new Json.Arr(kinds);
  }

  private static Json spread(SpreadGroups.Kind kind, Json groups) {
    return new Json.Arr(List.of(Json.of(kind.level()), Json.of(kind.by()), groups));
  }

  /** Encodes the configuration without its private parts. */
  private static Json.Obj document(Config config) {
    Json.Obj settings = without(config.settings().original(), PRIVATE_TO_SETTINGS);
    if (settings.get("nodes") instanceof Json.Obj nodes) {
      settings = settings.with("nodes", nodes.with("node_sources", Json.Arr.EMPTY));
    }
    Json.Builder document = Json.object().put(Config.SETTINGS_KEY, settings);
    for (Job job : config.jobs().values()) {
      document.put(Config.JOB_KEY + job.name(), without(job.original(), PRIVATE_TO_JOB));
    }
    return document.build();
  }

  private static Json.Obj without(Json.Obj object, Set<String> keys) {
    Json.Builder kept = Json.object();
    object.members().forEach((key, value) -> putUnless(keys, key, value, kept));
    return kept.build();
  }

  private static void putUnless(Set<String> keys, String key, Json value, Json.Builder kept) {
    if (!keys.contains(key)) {
      kept.put(key, value);
    }
  }
}
