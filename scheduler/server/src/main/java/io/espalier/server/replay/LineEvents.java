package io.espalier.server.replay;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Partition;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.rollout.RolloutMembers;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.SpreadGroups;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Decodes what {@link EventLines} encoded. Methods throw {@link IllegalArgumentException}. */
final class LineEvents {
  /** The operations on gates that close one; the others open it. */
  private static final Set<String> CLOSING = Set.of("PAUSE", "HOLD", "CLOSE");

  private final ConfigParser parser;
  private final Supplier<@Nullable Json> lines;
  private @Nullable Topology nodes;

  /** Thrown when the recording ends within an event of several lines. */
  static final class CutOffException extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /**
   * @param parser parses configurations
   * @param lines the following lines, for events that take several; null at the end
   */
  LineEvents(ConfigParser parser, Supplier<@Nullable Json> lines) {
    this.parser = parser;
    this.lines = lines;
  }

  /** Returns the events of a line, at least one. */
  List<CoreEvent> events(Json line) {
    List<Json> in = items(line);
    return text(in, 0).equals("statuses") ? StatusColumns.read(in) : List.of(event(in));
  }

  private CoreEvent event(List<Json> in) {
    return switch (text(in, 0)) {
      case "end" -> new CoreEvent.Finished(whole(in, 1), status(in, 2));
      case "status" -> new CoreEvent.StatusSet(number(in, 1), number(in, 2), status(in, 3));
      case "start" -> new CoreEvent.Placed(whole(in, 1), text(in, 2), text(in, 3), text(in, 4));
      case "round" -> new CoreEvent.RoundBegan(text(in, 1), number(in, 2));
      case "round-end" -> new CoreEvent.RoundEnded(flag(in, 1));
      case "advance" -> new CoreEvent.Advanced(whole(in, 1), number(in, 2), flag(in, 3));
      case "clock" -> new CoreEvent.Clock(whole(in, 1));
      case "gate" -> gate(in);
      case "adopt" ->
          new CoreEvent.Adopted(
              text(in, 1),
              text(in, 2),
              new WorkerRef(text(in, 3), whole(in, 4)),
              in.size() > 6 ? text(in, 6) : "",
              whole(in, 5));
      case "change" -> change(in);
      case "step" -> new CoreEvent.Stepped(number(in, 1), flag(in, 2));
      case "limit" ->
          new CoreEvent.Overridden(
              new LimitOverride(
                  text(in, 1),
                  text(in, 2),
                  text(in, 3),
                  number(in, 4),
                  "",
                  "",
                  whole(in, 5),
                  whole(in, 6)));
      case "limit-end" ->
          new CoreEvent.OverrideEnded(new LimitOverride.Key(text(in, 1), text(in, 2), text(in, 3)));
      case "factor" -> factor(in);
      case "factor-end" -> new CoreEvent.FactorRemoved(text(in, 1));
      case "health" ->
          new CoreEvent.HealthSet(
              new HealthLimit(text(in, 1), text(in, 2), text(in, 3), number(in, 4), "", 0));
      case "health-end" -> new CoreEvent.HealthRemoved(text(in, 1), text(in, 2), text(in, 3));
      case "cap" -> cap(in);
      case "stages" -> stages(in);
      case "stages-end" -> new CoreEvent.StagesOpened(text(in, 1));
      case "cap-end" -> new CoreEvent.CapRemoved(text(in, 1));
      case "limit-step" -> new CoreEvent.LimitsStepped(number(in, 1), flag(in, 2));
      case "queues" -> queues(in);
      case "workers" ->
          new CoreEvent.WorkersNamed(
              in.subList(1, in.size()).stream().map(LineEvents::worker).toList());
      default -> throw new IllegalArgumentException("unknown event \"" + text(in, 0) + "\"");
    };
  }

  private static CoreEvent gate(List<Json> in) {
    String operation = text(in, 1);
    String name = text(in, 2);
    GateKind kind =
        switch (operation) {
          case "PAUSE", "RESUME" -> GateKind.PAUSE;
          case "HOLD", "RELEASE" -> GateKind.LOADING;
          case "CLOSE", "REOPEN" -> GateKind.valueOf(text(in, 3));
          default -> throw new IllegalArgumentException("unknown gate \"" + operation + "\"");
        };
    Scope scope =
        switch (kind.closes()) {
          case NODE -> Scope.node(text(in, 4), name);
          case JOB_ON_NODE -> Scope.jobOnNode(text(in, 5), text(in, 4), name);
          case WORKER -> Scope.worker(name);
          default -> Scope.job(name);
        };
    return new CoreEvent.Gated(kind, scope, CLOSING.contains(operation));
  }

  private static CoreEvent factor(List<Json> in) {
    Set<String> resources = new HashSet<>();
    List<Json> names = items(item(in, 5));
    for (int i = 0; i < names.size(); i++) {
      resources.add(text(names, i));
    }
    Scope scope = new Scope(Scope.Kind.valueOf(text(in, 2)), text(in, 3), text(in, 4), "");
    return new CoreEvent.FactorSet(
        new LimitFactor(text(in, 1), scope, resources, number(in, 6), "", "", 0, 0));
  }

  private static CoreEvent cap(List<Json> in) {
    Scope scope = new Scope(Scope.Kind.valueOf(text(in, 2)), "", text(in, 3), "");
    return new CoreEvent.CapSet(new RunningCap(text(in, 1), scope, number(in, 4), "", "", 0));
  }

  private static CoreEvent stages(List<Json> in) {
    RolloutMembers frozen = RolloutMembers.ofTexts(text(in, 1), texts(in, 4), number(in, 2));
    List<Scope> apart = new ArrayList<>();
    if (in.size() > 6) { // Recordings of earlier versions have less.
      List<String> levels = texts(in, 5);
      List<String> nodes = texts(in, 6);
      for (int i = 0; i < levels.size(); i++) {
        apart.add(Scope.node(levels.get(i), nodes.get(i)));
      }
    }
    return new CoreEvent.StagesClosed(new StageGate(frozen, number(in, 3), apart, ""));
  }

  private static List<String> texts(List<Json> in, int at) {
    List<String> texts = new ArrayList<>();
    if (item(in, at) instanceof Json.Arr array) {
      array.items().forEach(each -> texts.add(each instanceof Json.Str s ? s.value() : ""));
    }
    return texts;
  }

  private static CoreEvent queues(List<Json> in) {
    List<QueueUsage> usage = new ArrayList<>();
    for (int at = 2; at < in.size(); at += 3) {
      if (!(item(in, at + 1) instanceof Json.Num value)) {
        throw new IllegalArgumentException("expected a number at " + (at + 1));
      }
      usage.add(new QueueUsage(text(in, at), value.value().doubleValue(), whole(in, at + 2)));
    }
    return new CoreEvent.QueuesRestored(usage, whole(in, 1));
  }

  static @Nullable TaskStatus status(List<Json> in, int at) {
    if (item(in, at) instanceof Json.Null) {
      return null;
    }
    List<Json> status = items(item(in, at));
    int flags = number(status, 1);
    return TaskStatus.of(
            TaskStatus.Main.valueOf(text(status, 0)), whole(status, 2), number(status, 5))
        .with(
            s ->
                s.usesBackoff((flags & 1) != 0)
                    .holdsPosition((flags & 2) != 0)
                    .overwriteable((flags & 4) != 0)
                    .savedBackoff((flags & 8) != 0)
                    .backoffSeconds(number(status, 3))
                    .position(number(status, 4)));
  }

  private static WorkerInfo worker(Json json) {
    List<Json> in = items(json);
    Map<String, Long> physical = new LinkedHashMap<>();
    if (item(in, 6) instanceof Json.Obj amounts) {
      amounts.members().forEach((name, amount) -> physical.put(name, whole(amount)));
    }
    Map<String, String> labels = new LinkedHashMap<>();
    if (in.size() > 8 && item(in, 8) instanceof Json.Obj recorded) {
      for (String name : recorded.members().keySet()) {
        labels.put(name, String.valueOf(recorded.get(name) instanceof Json.Str s ? s.value() : ""));
      }
    }
    return new WorkerInfo(
        new WorkerRef(text(in, 0), whole(in, 1)),
        text(in, 2),
        text(in, 3),
        WorkerInfo.State.valueOf(text(in, 4)),
        flag(in, 5),
        physical,
        labels,
        number(in, 7),
        0,
        0,
        "",
        in.size() > 10 ? new MeasuredLoad(number(in, 9), number(in, 10)) : MeasuredLoad.UNKNOWN,
        HostFigures.UNKNOWN);
  }

  private CoreEvent change(List<Json> in) {
    Partition shard = in.size() > 5 ? Partition.parse(text(in, 5)) : Partition.WHOLE;
    Config config = config(item(in, 1), items(item(in, 2)), shard);
    int slots = number(in, 4);
    // Recordings of earlier versions have less.
    SpreadGroups spread = in.size() > 6 ? spread(items(item(in, 6))) : SpreadGroups.NONE;
    Topology topology = slots < 0 ? nodes : nodes(config, text(in, 3), slots, spread);
    if (topology == null) {
      throw new IllegalArgumentException("no nodes have been recorded yet");
    }
    nodes = topology;
    return new CoreEvent.Began(config, topology);
  }

  private Config config(Json document, List<Json> broken, Partition shard) {
    Result<Config> read = parser.inspect(document);
    Config config = read.value();
    if (config == null) {
      throw new IllegalArgumentException("a broken configuration: " + read.problems());
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < broken.size(); i++) {
      names.add(text(broken, i));
    }
    TreeMap<String, Job> jobs = new TreeMap<>();
    for (Job job : config.jobs().values()) {
      boolean valid = !names.contains(job.name());
      List<Problem> problems =
          valid ? List.of() : List.of(Problem.error(Config.JOB_KEY + job.name(), "was broken"));
      jobs.put(job.name(), job.isValid() == valid ? job : job.withProblems(problems));
    }
    return new Config(config.settings(), jobs, config.warnings(), shard);
  }

  private static SpreadGroups spread(List<Json> kinds) {
    Set<SpreadGroups.Kind> unseen = new HashSet<>();
    Map<SpreadGroups.Kind, Map<String, Integer>> elsewhere = new HashMap<>();
    for (Json each : kinds) {
      List<Json> in = items(each);
      SpreadGroups.Kind kind = new SpreadGroups.Kind(number(in, 0), text(in, 1));
      if (item(in, 2) instanceof Json.Obj groups) {
        Map<String, Integer> counts = new HashMap<>();
        groups.members().forEach((group, n) -> counts.put(group, Math.toIntExact(whole(n))));
        elsewhere.put(kind, counts);
      } else {
        unseen.add(kind);
      }
    }
    return new SpreadGroups(unseen, elsewhere);
  }

  private Topology nodes(Config config, String instance, int slots, SpreadGroups spread) {
    Levels levels = config.settings().levels();
    TopologyBuilder builder = new TopologyBuilder(levels, instance).spreadGroups(spread);
    int read = 0;
    while (read < slots) {
      Json line = lines.get();
      if (line == null) {
        throw new CutOffException();
      }
      for (NodeSpec node : NodeLines.read(items(line))) {
        if (read++ > 0) { // The first one is the instance.
          builder.add(node);
        }
      }
    }
    Result<Topology> built = builder.build(config.settings().nodeOrder());
    Topology topology = built.value();
    if (topology == null) {
      throw new IllegalArgumentException("broken nodes: " + built.problems());
    }
    return topology;
  }

  // ---- values

  static List<Json> items(Json json) {
    if (!(json instanceof Json.Arr array)) {
      throw new IllegalArgumentException("expected a list, found " + json.kind());
    }
    return new ArrayList<>(array.items());
  }

  static Json item(List<Json> items, int at) {
    if (at >= items.size()) {
      throw new IllegalArgumentException("expected more than " + items.size() + " values");
    }
    return items.get(at);
  }

  static String text(List<Json> items, int at) {
    if (!(item(items, at) instanceof Json.Str text)) {
      throw new IllegalArgumentException("expected a text at " + at);
    }
    return text.value();
  }

  static boolean flag(List<Json> items, int at) {
    if (!(item(items, at) instanceof Json.Bool flag)) {
      throw new IllegalArgumentException("expected true or false at " + at);
    }
    return flag.value();
  }

  static int number(List<Json> items, int at) {
    return Math.toIntExact(whole(items, at));
  }

  private static long whole(List<Json> items, int at) {
    return whole(item(items, at));
  }

  private static long whole(Json json) {
    if (!(json instanceof Json.Num number)) {
      throw new IllegalArgumentException("expected a number, found " + json.kind());
    }
    return number.value().longValue();
  }

  /**
   * @throws RecordedEvents.BadRecordingException when the text is not a number
   */
  static long number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new RecordedEvents.BadRecordingException("the seed is no number: " + text);
    }
  }
}
