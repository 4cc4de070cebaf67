package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.bool;
import static io.espalier.core.config.schema.ValueType.int64;
import static io.espalier.core.config.schema.ValueType.known;
import static io.espalier.core.config.schema.ValueType.membersSchema;
import static io.espalier.core.config.schema.ValueType.seconds;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.JobCapacity;
import io.espalier.core.config.JobOptions;
import io.espalier.core.config.Levels;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.NodeWindowRule;
import io.espalier.core.config.Partition;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.SetRule;
import io.espalier.core.config.Settings;
import io.espalier.core.config.StartRate;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.window.Freeze;
import io.espalier.core.config.window.Window;
import io.espalier.core.health.HealthRule;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.notification.NotifierSpec;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The keys of {@code bistro_settings}. */
public final class SettingsKeys extends Section<Settings> {
  private static final double LONGEST_WAIT_SECONDS = 86_400;

  /** The only policy for which {@code shuffle} has a meaning. */
  private static final String SHUFFLED_POLICY = "roundrobin";

  private static final int HASH_LENGTH = 32;

  /** {@code capacity}. */
  static final Section<JobCapacity> CAPACITY =
      new Section<>("capacity", "How much the scheduler takes at once.", JobCapacity.NONE) {
        private final Key<JobCapacity, Integer> runningJobs =
            most(
                "running_jobs",
                JobCapacity::runningJobs,
                "Jobs that may start tasks at once. Further ones wait, in the order of their"
                    + " creation (`create_time`), then of their names, but after those that they"
                    + " depend on. A job that is paused, disabled or has ended needs no place.");
        private final Key<JobCapacity, Integer> waitingJobs =
            most(
                "waiting_jobs",
                JobCapacity::waitingJobs,
                "Jobs that may wait for a place; without `running_jobs`, jobs without a running"
                    + " task. Beyond that, new jobs are refused.");
        private final Key<JobCapacity, Integer> waitingTasks =
            most(
                "waiting_tasks",
                JobCapacity::waitingTasks,
                "Tasks of all jobs that may wait, for whatever reason. While as many wait, new jobs"
                    + " are refused.");

        private final Key<JobCapacity, Integer> maxStarting =
            most(
                "max_starting",
                JobCapacity::maxStarting,
                "Starts of tasks that may be in flight: begun, and [not confirmed"
                    + " yet](limits.md#starts-in-flight). When starts are refused or slow, fewer"
                    + " may.");

        private final Key<JobCapacity, Integer> maxStartingPerWorker =
            most(
                "max_starting_per_worker",
                JobCapacity::maxStartingPerWorker,
                "The same of each [worker](workers.md) by itself; with `--runner local`, of the"
                    + " scheduler's own host.");

        private Key<JobCapacity, Integer> most(
            String name, Function<JobCapacity, Integer> getter, String text) {
          return own(name, ValueType.most(), getter, text);
        }

        @Override
        public JobCapacity read(ConfigObject in, JobCapacity base) {
          return new JobCapacity(
              in.get(runningJobs, base),
              in.get(waitingJobs, base),
              in.get(waitingTasks, base),
              in.get(maxStarting, base),
              in.get(maxStartingPerWorker, base));
        }
      };

  /** The keys of the settings. */
  public static final SettingsKeys SETTINGS = new SettingsKeys();

  private final Key<Settings, Boolean> enabled =
      key(
          "enabled",
          bool(),
          Settings::enabled,
          "`false`: nothing is started and no orphan is killed; what runs goes on. Bistro's default"
              + " is `false`.");
  private final Key<Settings, Duration> workingWait =
      key(
          "working_wait",
          seconds(0, LONGEST_WAIT_SECONDS),
          Settings::workingWait,
          "Seconds from one start of a task to the next, where it could start again at once (it"
              + " said `incomplete`, or an error without a wait). The rest of the wait is rounded"
              + " up to whole seconds, so a task that ends at once starts about once a second. A"
              + " task that ran longer does not wait; back-offs stay as they are; 0: no pause.");
  private final Key<Settings, String> policy =
      key(
          "scheduler",
          known("scheduling policy", Names::policies),
          Settings::policy,
          "The [policy](policies.md) that orders jobs: `roundrobin`, `randomized_priority`,"
              + " `ranked_priority`, `long_tail`, `fair_share`, or another that is installed.");
  private final Key<Settings, Boolean> shuffle =
      own(
          "shuffle",
          bool(),
          Settings::shuffle,
          "With `roundrobin` only: jobs take turns in a [random order](policies.md#shuffled-turns)"
              + " that is drawn again for each turn, in place of that of their names.");
  private final Key<Settings, String> workerSelector =
      key(
          "remote_worker_selector",
          known("worker selector", Names::workerSelectors),
          Settings::workerSelector,
          "Which of the [workers](workers.md#which-worker) that fit gets a task: `roundrobin`,"
              + " `busiest`, `least_loaded`, `two_choice`, `measured`, or another that is"
              + " installed.");
  private final Key<Settings, List<QueueSpec>> queues =
      own(
          "queues",
          QueueKeys.queueList(),
          settings -> settings.rules().queues(),
          "`{QUEUE: {...}}`: tenants that share the tree.");
  private final Key<Settings, JobCapacity> capacity =
      own(
          "capacity",
          CAPACITY.type(),
          Settings::capacity,
          "How many jobs the scheduler takes: beyond that [new jobs are"
              + " refused](limits.md#capacity), and those of configuration files wait.");
  private final Key<Settings, Map<String, SetRule>> sets =
      own(
          "sets",
          SetKeys.setRules(),
          Settings::sets,
          "`{SET: {...}}`: rules of sets of jobs. A set needs no entry here.");
  private final Key<Settings, Map<String, NotifierSpec>> notifications =
      own(
          "notifications",
          NotifierKeys.notifiers(),
          Settings::notifications,
          "`{NAME: {...}}`: [who is told](notifications.md) of failed jobs, problems, brakes and"
              + " the like.");
  private final Key<Settings, List<Window>> windows =
      WindowKeys.windowsOf(this, Settings::schedule, "of any job");
  private final Key<Settings, List<Freeze>> freezes =
      WindowKeys.freezesOf(this, Settings::schedule, "of any job");
  private final Key<Settings, List<NodeWindowRule>> nodeWindows =
      own(
          "node_windows",
          WindowKeys.nodeWindows(),
          Settings::nodeWindows,
          "When tasks may start on and below some nodes; of several entries that match, the last"
              + " counts.");
  private final Key<Settings, Duration> halfLife =
      own(
          "priority_half_life_sec",
          seconds(0.001, ConfigValue.LONGEST_SECONDS),
          settings -> settings.rules().priorityHalfLife(),
          "How many seconds what a queue has used counts for"
              + " [`fair_share`](policies.md#fair-shares): after that time half of it is"
              + " forgotten.");
  private final Key<Settings, NodeKeys.Tree> nodes =
      key(
              "nodes",
              NodeKeys.NODES.type(),
              settings ->
                  new NodeKeys.Tree(
                      settings.levels(), settings.nodeSources(), settings.nodeOrder()),
              "The node tree.")
          .required("an object with \"levels\" and \"node_sources\"");
  private final Key<Settings, List<ResourceKeys.Declared>> resources =
      key(
              "resources",
              ResourceKeys.declaredList(),
              settings -> List.<ResourceKeys.Declared>of(),
              "`{LEVEL: {NAME: ...}}`: what nodes have, may be `{}`. Names are unique over all"
                  + " levels.")
          .required("an object of levels, {} if there are no resources");
  private final Key<Settings, Map<String, Map<String, Integer>>> workerOverrides =
      key(
          "worker_resources_override",
          ResourceKeys.workerSlots(),
          Settings::workerOverrides,
          "`{WORKER: {RESOURCE: slots}}`: what single"
              + " [workers](workers.md#resources-of-workers) have; a worker is `host:port`, a host"
              + " or a shard.");
  private final Key<Settings, List<NodeLimitRule>> nodeLimits =
      own(
          "node_resources_override",
          NodeLimitKeys.NODE_LIMIT.entries(),
          settings -> settings.rules().nodeLimits(),
          "Limits of single nodes, or of workers; of several entries that match, the last counts.");
  private final Key<Settings, List<PhysicalResource>> physicalResources =
      key(
          "physical_resources",
          PhysicalResourceKeys.PHYSICAL_RESOURCES.type(),
          Settings::physicalResources,
          "How physical resources of workers become slots.");
  private final Key<Settings, Map<Integer, StartRate>> startRates =
      own(
          "start_rates",
          startRatesOfLevels(),
          settings -> settings.rules().startRates(),
          "`{LEVEL: start rate}`: how often tasks may start below each node of the level;"
              + " `instance` is the whole scheduler.");

  private final Key<Settings, List<ProbeSpec>> probes =
      own(
          "probes",
          ProbeKeys.probeList(),
          settings -> settings.rules().probes(),
          "`{PROBE: {...}}`: [values that tell how well nodes are](probes.md), for limits that"
              + " follow them.");

  private final Key<Settings, List<GroupRule>> groups =
      own(
          "groups",
          GroupKeys.groupList(),
          settings -> settings.rules().groups(),
          "`{KIND: {...}}`: [redundancy groups](groups.md): at most so many nodes of each may have"
              + " running tasks at once, over all jobs.");

  private final Key<Settings, Map<String, Integer>> shardTags =
      own(
          "shard_tags",
          shardsByTag(),
          settings -> settings.rules().shardTags(),
          "`{TAG: I}`: with [several schedulers](sharding.md#by-tag), the subtree of a node directly"
              + " under the instance with this tag belongs to the scheduler `--shard I/N`; those of"
              + " other nodes belong where the hash of the name says.");

  {
    include(OptionKeys.OPTIONS, Settings::defaults, false);
  }

  private final Key<Settings, Instant> exitInitialWaitBefore =
      key(
          "CAUTION_exit_initial_wait_before_timestamp",
          int64(0, OptionTypes.LAST_SECOND_OF_9999)
              .as(Instant::ofEpochSecond, Instant::getEpochSecond)
              .says("epoch seconds"),
          Settings::exitInitialWaitBefore,
          "While it is before this time, the wait after a start with remote workers and"
              + " `--status-store memory` is left at once, without knowing that no task is alive.");

  private SettingsKeys() {
    super("bistro_settings", "The deployment.", Settings.usual(true));
    spelling("worker_resources_overrides", "worker_resources_override");
    // Belongs into "nodes"; Bistro's documentation puts it here.
    obsolete(
        "idle_wait", "remove it: the scheduler acts on every change at once, and never pauses");
    obsolete("node_order", "write it inside \"nodes\"");
    obsolete("node_source", "list the sources in \"nodes.node_sources\"");
    obsolete("node_source_prefs", "list the sources in \"nodes.node_sources\"");
  }

  private static ValueType<Map<String, Integer>> shardsByTag() {
    ValueType<Integer> index = ValueType.int32(0, Partition.MAX_COUNT - 1);
    return ValueType.of(
        value -> {
          Map<String, ConfigValue> members = value.members();
          if (members == null) {
            return null;
          }
          Map<String, Integer> shards = new HashMap<>();
          members.forEach(
              (tag, member) -> {
                Integer shard = index.reader().read(member, 0);
                if (shard != null) {
                  shards.put(tag, shard);
                }
              });
          return shards;
        },
        shards -> {
          Json.Builder all = Json.object();
          new TreeMap<>(shards).forEach(all::put);
          return all.build();
        },
        "object",
        membersSchema(index.schema()));
  }

  private static ValueType<Map<Integer, StartRate>> startRatesOfLevels() {
    return ValueType.of(
        value -> {
          Map<String, ConfigValue> members = value.members();
          if (members == null) {
            return null;
          }
          Map<Integer, StartRate> rates = new HashMap<>();
          members.forEach(
              (name, member) -> {
                Integer level = member.levelOfKey(name);
                if (level != null && level == value.names().levels().worker()) {
                  member.error("workers are no nodes, so nothing starts below them", null);
                } else if (level != null) {
                  Optional<StartRate> rate =
                      StartRateKeys.RATE.reader().read(member, Optional.empty());
                  if (rate != null) {
                    rate.ifPresent(each -> rates.put(level, each));
                  }
                }
              });
          return rates;
        },
        rates -> Json.Obj.EMPTY,
        "object",
        membersSchema(StartRateKeys.RATE.schema()));
  }

  /**
   * What could be read of settings.
   *
   * @param settings with defaults for what is broken
   * @param names the names that jobs can refer to; those that are not known are broken
   */
  public record Partial(Settings settings, Names names) {
    /** Nothing could be read. */
    public static final Partial NOTHING = of(SETTINGS.usual(), false, false);

    private static Partial of(Settings settings, boolean levelsAreKnown, boolean areKnown) {
      Names names = Names.of(settings);
      return new Partial(
          settings, areKnown ? names : names.broken(settings.levels(), levelsAreKnown));
    }
  }

  /**
   * Reads what can be read. When levels or resources are broken, it reads on, to report the
   * problems of everything that does not depend on them.
   */
  public Partial partial(ConfigValue value) {
    ConfigObject in = open(value);
    return in == null ? Partial.NOTHING : partial(in, usual());
  }

  @Override
  public @Nullable Settings read(ConfigObject in, Settings base) {
    Partial partial = partial(in, base);
    return partial.names().areKnown() ? partial.settings() : null;
  }

  private Partial partial(ConfigObject given, Settings base) {
    ConfigObject in = given;
    Names plugIns = in.value().names();
    ConfigValue tree = in.find(nodes);
    ConfigObject treeKeys = tree == null ? null : NodeKeys.NODES.open(tree);
    Levels levels =
        treeKeys == null ? null : treeKeys.read(NodeKeys.NODES.levels, NodeKeys.NODES.usual());
    List<ResourceKeys.Declared> declared = null;
    if (levels != null) {
      in = in.within(plugIns.with(levels, ResourceCatalog.EMPTY, List.of()));
      declared = in.read(resources, base);
    }
    ResourceCatalog catalog = ResourceKeys.catalog(declared == null ? List.of() : declared);
    Levels known = levels == null ? base.levels() : levels;
    List<QueueSpec> tenants = List.of();
    in = in.within(plugIns.broken(known, levels != null));
    if (declared != null) {
      in = in.within(plugIns.with(known, catalog, List.of()));
      tenants = in.get(queues, base);
      in = in.within(plugIns.with(known, catalog, tenants.stream().map(QueueSpec::name).toList()));
    }
    ConfigValue misplaced = in.find("node_order");
    NodeOrder order =
        misplaced == null
            ? null
            : NodeKeys.NODES.order.type().reader().read(misplaced, base.nodeOrder());
    NodeKeys.Tree read =
        new NodeKeys.Tree(known, List.of(), order == null ? base.nodeOrder() : order);
    read = treeKeys == null ? read : NodeKeys.NODES.read(treeKeys, read);
    Map<String, Duration> killOverLimit = new HashMap<>();
    for (ResourceKeys.Declared each :
        declared == null ? List.<ResourceKeys.Declared>of() : declared) {
      each.killOverLimit().ifPresent(after -> killOverLimit.put(each.name(), after));
    }
    List<ProbeSpec> observers = in.get(probes, base);
    ConfigValue ofLevels = declared == null ? null : in.find(resources);
    Map<String, HealthRule> health =
        declared == null || ofLevels == null
            ? Map.of()
            : ProbeKeys.rules(ofLevels, declared, observers, in.find(probes));
    List<GroupRule> kinds = in.get(groups, base);
    ConfigValue ofKinds = declared == null ? null : in.find(groups);
    if (declared != null && ofKinds != null) {
      ProbeKeys.checkGroups(ofKinds, kinds, declared, observers, in.find(probes));
    }
    String orders = in.get(policy, base);
    Settings settings =
        new Settings(
            in.get(enabled, base),
            in.get(workingWait, base),
            orders,
            shuffled(in, base, orders),
            in.get(workerSelector, base),
            known,
            read.sources(),
            read.order(),
            catalog,
            in.get(workerOverrides, base),
            in.get(physicalResources, base),
            new LimitRules(
                tenants,
                in.get(halfLife, base),
                in.get(nodeLimits, base),
                in.get(startRates, base),
                killOverLimit,
                kinds,
                observers,
                health,
                in.get(shardTags, base)),
            in.get(capacity, base),
            in.get(sets, base),
            in.get(notifications, base),
            WindowKeys.schedule(in, windows, freezes, base),
            in.get(nodeWindows, base),
            in.get(exitInitialWaitBefore, base),
            OptionKeys.OPTIONS.read(in, JobOptions.usual(known.bottom())),
            hash(in.json()),
            in.json());
    return Partial.of(settings, levels != null, declared != null);
  }

  private boolean shuffled(ConfigObject in, Settings base, String orders) {
    boolean wanted = in.get(shuffle, base);
    ConfigValue given = in.find(shuffle);
    if (wanted && given != null && !orders.equals(SHUFFLED_POLICY)) {
      given.error(
          "the policy \"" + orders + "\" has no turns that could be shuffled",
          "remove it, or write \"scheduler\": \"" + SHUFFLED_POLICY + "\"");
    }
    return wanted;
  }

  /**
   * Identifies the input from which the nodes are made: SHA-256 of the compact text, shortened. The
   * order of keys matters, because the node order {@code original} follows it; blanks and comments
   * do not.
   */
  private static String hash(Json.Obj settings) {
    Json nodes = settings.get("nodes");
    String text = nodes == null ? "" : JsonWriter.compact(nodes);
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HASH_LENGTH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
