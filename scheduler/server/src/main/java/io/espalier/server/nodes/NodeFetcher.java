package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Division;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeNames;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.ProbeUse;
import io.espalier.core.topology.PushDown;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the node sources of a configuration once, one after the other, and packs their nodes. Any
 * error means that there is no tree. {@link NodeSourceCoordinator} manages the sources over time.
 * Immutable and thread-safe; concurrent calls run the sources concurrently.
 */
public final class NodeFetcher {
  private static final Logger LOG = LoggerFactory.getLogger(NodeFetcher.class);

  /** Sources whose nodes hang under those of a level. */
  private static final Set<String> OF_ROWS = Set.of("file", "http", "script", "sql");

  /** Sources that say which columns of their rows are what, unless told otherwise. */
  private static final Set<String> WITH_COLUMNS = Set.of("file", "http");

  private final Map<String, NodeSourceType> types;
  private final String instanceName;
  private final NodeSourceContext context;
  private final Supplier<Division> division;

  /**
   * @param types by the name that configurations use
   * @param instanceName of the root node
   */
  public NodeFetcher(
      Map<String, NodeSourceType> types, String instanceName, NodeSourceContext context) {
    this(types, instanceName, context, () -> Division.WHOLE);
  }

  /**
   * @param types by the name that configurations use
   * @param instanceName of the root node
   * @param shard the partition that trees contain; sources are fetched completely
   */
  public NodeFetcher(
      Map<String, NodeSourceType> types,
      String instanceName,
      NodeSourceContext context,
      Partition shard) {
    this(types, instanceName, context, always(Division.byHash(shard)));
  }

  /**
   * @param types by the name that configurations use
   * @param instanceName of the root node
   * @param division says which subtrees trees contain; asked once for each tree, on any thread
   */
  public NodeFetcher(
      Map<String, NodeSourceType> types,
      String instanceName,
      NodeSourceContext context,
      Supplier<Division> division) {
    this.types = new TreeMap<>(types);
    this.instanceName = instanceName;
    this.context = context;
    this.division = division;
  }

  private static Supplier<Division> always(Division division) {
    return () -> division;
  }

  /** Returns the division by which the next tree is built. */
  Division division() {
    return division.get();
  }

  /**
   * Returns the problems in the preferences of the sources, those of probes included. Fetches
   * nothing and does no I/O.
   */
  public List<Problem> check(Settings settings) {
    List<Problem> problems = new ArrayList<>(create(settings).problems());
    for (ProbeSpec probe : settings.rules().probes()) {
      NodeSource source = probe.isPushed() ? null : create(probe, problems);
      if (source != null) {
        source.close();
      }
    }
    return problems;
  }

  /**
   * Fetches all nodes.
   *
   * @return no value if there is any error; a value may come with warnings
   */
  public Result<Topology> fetch(Settings settings, Instant now) throws InterruptedException {
    Result<List<NodeSource>> created = create(settings);
    List<Problem> problems = new ArrayList<>(created.problems());
    List<NodeSource> sources = created.value();
    if (sources == null) {
      return new Result<>(null, problems);
    }
    TopologyBuilder builder = builder(settings, division());
    try {
      for (int i = 0; i < sources.size(); i++) {
        NodeSourceSpec spec = settings.nodeSources().get(i);
        builder.from(spec.path());
        NodeSource source = sources.get(i);
        NodeBuffer tape = new NodeBuffer();
        NodeSink sink = source.pushDown() == PushDown.NONE ? builder : tape;
        NodeLookup shown = PushDownRules.visible(source, builder, builder);
        if (!run(source, spec, shown, sink, now, problems)) {
          return new Result<>(null, problems);
        }
        tape.forEach(builder::add);
      }
    } finally {
      sources.forEach(NodeSource::close);
    }
    Result<Topology> built = builder.build(settings.nodeOrder());
    problems.addAll(built.problems());
    return new Result<>(built.value(), problems);
  }

  /** Creates a builder of a tree that has only its root. */
  TopologyBuilder builder(Settings settings, Division parts) {
    return new TopologyBuilder(settings.levels(), instanceName, parts)
        .groups(settings.rules().groups(), settings.lowestSharedLevel());
  }

  /** Creates the sources of the settings; no value if there is any error. */
  Result<List<NodeSource>> create(Settings settings) {
    List<Problem> problems = new ArrayList<>();
    String objection = NodeNames.objection(instanceName);
    if (objection != null) {
      problems.add(Problem.error("--instance-node-name", "the name of the instance " + objection));
    }
    List<NodeSource> sources = new ArrayList<>();
    for (NodeSourceSpec spec : settings.nodeSources()) {
      NodeSource source = create(spec, settings.levels(), problems);
      if (source != null && source.probeUse() != ProbeUse.POSSIBLE) {
        problems.add(
            Problem.error(
                spec.path(),
                "these preferences of a "
                    + spec.source()
                    + " are for probes only: the rows are values of nodes"));
        source.close();
      } else if (source != null) {
        sources.add(source);
      }
    }
    boolean bad = problems.stream().anyMatch(Problem::isError);
    return new Result<>(bad ? null : sources, problems);
  }

  /**
   * Creates the source of a probe, whose rows are nodes under the instance; null, with problems,
   * when that is not possible.
   */
  public @Nullable NodeSource create(ProbeSpec probe, List<Problem> problems) {
    Map<String, Json> prefs = new LinkedHashMap<>();
    Json.Obj given = probe.prefs();
    given.members().keySet().forEach(key -> prefs.put(key, Objects.requireNonNull(given.get(key))));
    if (OF_ROWS.contains(probe.source())) {
      prefs.putIfAbsent("parent_level", Json.of(Levels.INSTANCE));
    }
    if (WITH_COLUMNS.contains(probe.source())) {
      prefs.putIfAbsent(
          "columns",
          Json.object()
              .put("name", "name")
              .put("attributes", Json.strings(List.of("value", "at")))
              .build());
    }
    return create(
        new NodeSourceSpec(probe.source(), new Json.Obj(prefs), probe.path()),
        Levels.of(List.of("node")),
        problems);
  }

  private @Nullable NodeSource create(NodeSourceSpec spec, Levels levels, List<Problem> problems) {
    NodeSourceType type =
        Objects.requireNonNull(types.get(spec.source()), "the parser refuses unknown sources");
    try {
      Result<NodeSource> result = type.create(spec, levels, context);
      problems.addAll(result.problems());
      if (result.value() == null && !result.hasErrors()) {
        problems.add(Problem.error(spec.path(), "the source gives no reason for not being made"));
      }
      return result.hasErrors() ? null : result.value();
    } catch (RuntimeException | Error e) {
      problems.add(defect(spec, e));
      return null;
    }
  }

  /** Runs a source. Returns false and adds a problem when it fails. */
  static boolean run(
      NodeSource source,
      NodeSourceSpec spec,
      NodeLookup soFar,
      NodeSink sink,
      Instant now,
      List<Problem> problems)
      throws InterruptedException {
    try {
      source.fetch(soFar, now, PushDownRules.taking(source, sink));
      if (sink instanceof NodeBuffer tape) {
        PushDownRules.check(source, spec.path(), tape);
      }
      return true;
    } catch (NodeSourceException e) {
      problems.addAll(
          e.problems().isEmpty()
              ? List.of(Problem.error(spec.path(), "the source gives no reason for its failure"))
              : e.problems());
    } catch (RuntimeException | Error e) {
      problems.add(defect(spec, e));
    }
    return false;
  }

  /**
   * Converts a bug in a source to a problem. Sources are plug-ins, and neither their bugs nor the
   * classes that they miss must end the polling.
   */
  static Problem defect(NodeSourceSpec spec, Throwable e) {
    LOG.error("The node source {} at {} has a defect", spec.source(), spec.path(), e);
    return Problem.error(
        spec.path(), "the node source \"" + spec.source() + "\" has a defect: " + e);
  }
}
