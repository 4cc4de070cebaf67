package io.espalier.core.config.keys;

import static io.espalier.core.config.keys.ValueType.bool;
import static io.espalier.core.config.keys.ValueType.byResource;
import static io.espalier.core.config.keys.ValueType.int32;
import static io.espalier.core.config.keys.ValueType.int64;
import static io.espalier.core.config.keys.ValueType.membersSchema;
import static io.espalier.core.config.keys.ValueType.number;
import static io.espalier.core.config.keys.ValueType.oneOf;
import static io.espalier.core.config.keys.ValueType.orFalse;
import static io.espalier.core.config.keys.ValueType.plugIn;
import static io.espalier.core.config.keys.ValueType.seconds;
import static io.espalier.core.config.keys.ValueType.text;

import io.espalier.core.config.JobCapacity;
import io.espalier.core.config.JobOptions;
import io.espalier.core.config.Levels;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.PhysicalResource.Enforcement;
import io.espalier.core.config.PhysicalResource.Kind;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.SetRule;
import io.espalier.core.config.Settings;
import io.espalier.core.config.StartRate;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of {@code bistro_settings}. */
public final class SettingsKeys extends Section<Settings> {
  private static final double LONGEST_WAIT_SECONDS = 86_400;

  /** The only policy for which {@code shuffle} has a meaning. */
  private static final String SHUFFLED_POLICY = "roundrobin";

  private static final int HASH_LENGTH = 32;

  /** The maximum number of queues, because each is a label of metrics. */
  private static final int MOST_QUEUES = 1000;

  private static final int MOST_SETS = 10_000;
  private static final String SET_NAME = "[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}";

  private static final Pattern QUEUE_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}");

  /** A resource of a level before it has an index. */
  record Declared(
      String name,
      int level,
      int defaultNeed,
      int limit,
      int weight,
      Optional<Duration> killOverLimit) {}

  /** A resource of a level in {@code bistro_settings.resources}. */
  static final Section<Declared> RESOURCE =
      new Section<>(
          "resources",
          "A counter that every node of the level has.",
          new Declared("", 0, 0, 0, 0, Optional.empty())) {
        private final Key<Declared, Integer> defaultNeed =
            key(
                    "default",
                    int32(0),
                    Declared::defaultNeed,
                    "Slots that a task takes when its job does not say.")
                .required("the slots that a job takes when it does not say");
        private final Key<Declared, Integer> limit =
            key("limit", int32(0), Declared::limit, "Slots on each node of the level.")
                .required("the slots on each node of the level");
        private final Key<Declared, Integer> weight =
            key("weight", int32(0), Declared::weight, "Weight for the worker selector `busiest`.");
        private final Key<Declared, Optional<Duration>> killOverLimit =
            own(
                "kill_over_limit_after_sec",
                orFalse(seconds(0, ConfigValue.LONGEST_SECONDS), Duration.ZERO),
                Declared::killOverLimit,
                "Lowering a limit below what is in use kills nothing by itself. With this key, once"
                    + " a node has been over the limit for this many seconds, its [youngest tasks"
                    + " are killed](steering.md#more-in-use-than-the-limit) until it is within the"
                    + " limit.");

        @Override
        @Nullable Declared read(ConfigObject in, Declared base) {
          Integer need = in.read(defaultNeed, base);
          Integer most = in.read(limit, base);
          int share = in.get(weight, base);
          Optional<Duration> kill = in.get(killOverLimit, base);
          return need == null || most == null
              ? null
              : new Declared(base.name(), base.level(), need, most, share, kill);
        }
      };

  /** One set in {@code sets}. */
  static final Section<SetRule> SET =
      new Section<>("sets", "The rule of a set of jobs.", new SetRule(0)) {
        private final Key<SetRule, Integer> failedJobs =
            own(
                "fail_when_failed_jobs",
                ValueType.limit32(1, ValueType.MAX)
                    .as(
                        limit -> limit.orElse(0),
                        most -> most == 0 ? OptionalInt.empty() : OptionalInt.of(most)),
                SetRule::failWhenFailedJobs,
                "When so many jobs of the set have failed, all its other jobs that have not ended"
                    + " fail too: they start nothing more, until an operator resumes them.");

        @Override
        SetRule read(ConfigObject in, SetRule base) {
          return new SetRule(in.get(failedJobs, base));
        }
      };

  /** One queue in {@code queues}. */
  static final Section<QueueSpec> QUEUE =
      new Section<>(
          "queues",
          "A tenant: how much is due to it, and how much it may hold.",
          new QueueSpec("", 1, Map.of(), Map.of())) {
        private final Key<QueueSpec, Double> factor =
            key(
                    "priority_factor",
                    number(1e-6, 1e6).says("number from 0.000001 to 1000000"),
                    QueueSpec::priorityFactor,
                    "The older way: with the same history half of it doubles the share; under"
                        + " constant load factors 1 and 3 give [1.73 to"
                        + " 1](policies.md#priority-factors). An error beside a `weight`, of this"
                        + " queue or another.")
                .own();
        private final Key<QueueSpec, OptionalDouble> weight =
            own(
                "weight",
                OptionKeys.optionalDouble(
                    number(1e-6, 1e6).says("number from 0.000001 to 1000000")),
                QueueSpec::weight,
                "For the policy [`fair_share`](policies.md#fair-shares): what queues use is shared"
                    + " out in proportion to their weights; 3 and 1 make it 3 to 1. `1` if another"
                    + " queue has one.");
        private final Key<QueueSpec, Map<Integer, Integer>> maxSlots =
            own(
                "max_slots",
                byIndex(int32(0), 0),
                QueueSpec::maxSlots,
                "`{RESOURCE: slots}` that the running tasks of the queue may hold in all, over all"
                    + " nodes; `0`: nothing of it starts that needs the resource.");
        private final Key<QueueSpec, Map<Integer, Double>> maxFraction =
            own(
                "max_fraction",
                byIndex(number(0, 1), 0.0),
                QueueSpec::maxFraction,
                "`{RESOURCE: part}`, 0 to 1: the same as a part of all slots there are, rounded"
                    + " down: of the limits in effect on all nodes of the level, or on all workers."
                    + " Of both the smaller counts.");

        @Override
        QueueSpec read(ConfigObject in, QueueSpec base) {
          return new QueueSpec(
              base.name(),
              in.get(factor, base),
              in.get(weight, base),
              in.get(maxSlots, base),
              in.get(maxFraction, base));
        }
      };

  private static <N> ValueType<Map<Integer, N>> byIndex(ValueType<N> amount, N none) {
    return byResource(amount, none, false)
        .as(
            amounts -> {
              Map<Integer, N> byIndex = new LinkedHashMap<>();
              amounts.forEach((resource, each) -> byIndex.put(resource.index(), each));
              return byIndex;
            },
            byIndex -> Map.of());
  }

  /** How one physical resource of workers becomes slots. */
  private static final class PhysicalKeys extends Section<PhysicalResource> {
    private final Key<PhysicalResource, String> logical =
        key(
                "logical_resource",
                text().says("name"),
                PhysicalResource::logicalResource,
                "The resource of the level `worker` that it fills.")
            .required("the name of a resource of the worker level");
    private final Key<PhysicalResource, Double> factor =
        key(
            "multiply_logical_by",
            number(1e-12, Double.MAX_VALUE).says("number"),
            PhysicalResource::multiplyLogicalBy,
            "Physical units per slot.");
    private final Key<PhysicalResource, Enforcement> enforcement;
    private final Key<PhysicalResource, Double> reserve;

    PhysicalKeys(Kind kind, Enforcement... allowed) {
      super(
          kind.label(),
          "How this physical resource of workers becomes slots.",
          new PhysicalResource(kind, "", 1, 0, Enforcement.NONE));
      enforcement =
          key(
              "enforcement",
              oneOf(List.of(allowed), Enforcement::label),
              PhysicalResource::enforcement,
              "What holds a task to its share.");
      reserve =
          key(
              "physical_reserve_amount",
              number(-Double.MAX_VALUE, Double.MAX_VALUE),
              PhysicalResource::reserveAmount,
              "Physical units that are taken off first, and tasks do not get.");
    }

    @Override
    @Nullable PhysicalResource read(ConfigObject in, PhysicalResource base) {
      double by = in.get(factor, base);
      double kept = in.get(reserve, base);
      Enforcement enforced = in.get(enforcement, base);
      ConfigValue given = in.find(logical);
      String name = given == null ? null : in.read(logical, base);
      int worker = in.value().names().levels().worker();
      return given == null || name == null || given.resource(name, worker) == null
          ? null
          : new PhysicalResource(base.kind(), name, by, kept, enforced);
    }
  }

  private static final Map<String, Section<PhysicalResource>> PHYSICAL =
      Map.of(
          "ram_mb", new PhysicalKeys(Kind.RAM_MB, Enforcement.NONE, Enforcement.HARD),
          "cpu_core", new PhysicalKeys(Kind.CPU_CORE, Enforcement.NONE, Enforcement.SOFT),
          "gpu_card", new PhysicalKeys(Kind.GPU_CARD, Enforcement.NONE));

  static Section<PhysicalResource> physical(String kind) {
    return Objects.requireNonNull(PHYSICAL.get(kind), kind);
  }

  /** {@code physical_resources}: each key is a kind. */
  static final Section<List<PhysicalResource>> PHYSICAL_RESOURCES =
      new Section<>(
          "physical_resources", "How physical resources of workers become slots.", List.of()) {
        {
          kind(Kind.RAM_MB, "Memory of a worker in MB; `enforcement` may be `none` or `hard`.");
          kind(Kind.CPU_CORE, "Cores of a worker; `enforcement` may be `none` or `soft`.");
          kind(Kind.GPU_CARD, "Graphics cards of a worker; `enforcement` may be `none`.");
        }

        private void kind(Kind kind, String text) {
          Section<PhysicalResource> section = physical(kind.label());
          key(
              kind.label(),
              ValueType.optional(section.type(), section.usual()),
              all -> Optional.empty(),
              text);
        }

        /** Unknown kinds have a message of their own. */
        @Override
        public @Nullable List<PhysicalResource> read(
            ConfigValue value, List<PhysicalResource> base) {
          Map<String, ConfigValue> members = value.names().areKnown() ? value.members() : null;
          if (members == null) {
            return null;
          }
          List<PhysicalResource> all = new ArrayList<>();
          Map<String, String> users = new HashMap<>();
          members.forEach(
              (name, member) -> {
                Section<PhysicalResource> section = PHYSICAL.get(name);
                if (section == null) {
                  member.error(
                      "unknown physical resource, expected one of " + String.join(", ", names()),
                      null);
                  return;
                }
                PhysicalResource read = section.read(member, section.usual());
                String user = read == null ? null : users.putIfAbsent(read.logicalResource(), name);
                if (user != null) {
                  ConfigValue logical = member.member("logical_resource");
                  logical.error("\"" + user + "\" already stands for this resource", null);
                } else if (read != null) {
                  all.add(read);
                }
              });
          return all;
        }

        @Override
        List<PhysicalResource> read(ConfigObject in, List<PhysicalResource> base) {
          return base;
        }
      };

  /** {@code capacity}. */
  static final Section<JobCapacity> CAPACITY =
      new Section<>("capacity", "How many jobs the scheduler takes.", JobCapacity.NONE) {
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
                "Jobs that may wait for a place; without `running_jobs`, jobs of which no task"
                    + " runs. Beyond that, new jobs are refused.");
        private final Key<JobCapacity, Integer> waitingTasks =
            most(
                "waiting_tasks",
                JobCapacity::waitingTasks,
                "Tasks of all jobs that may wait, for whatever reason. While as many wait, new jobs"
                    + " are refused.");

        private Key<JobCapacity, Integer> most(
            String name, Function<JobCapacity, Integer> getter, String text) {
          ValueType<Integer> number =
              ValueType.limit32(1, ValueType.MAX)
                  .as(
                      given -> given.orElse(0),
                      most -> most == 0 ? OptionalInt.empty() : OptionalInt.of(most));
          return own(name, number, getter, text);
        }

        @Override
        JobCapacity read(ConfigObject in, JobCapacity base) {
          return new JobCapacity(
              in.get(runningJobs, base), in.get(waitingJobs, base), in.get(waitingTasks, base));
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
          plugIn("scheduling policy", Names::policies),
          Settings::policy,
          "The [policy](policies.md) that orders jobs: `roundrobin`, `randomized_priority`,"
              + " `ranked_priority`, `long_tail`, `fair_share`, or another that is installed.");
  private final Key<Settings, Boolean> shuffle =
      own(
          "shuffle",
          bool(),
          Settings::shuffle,
          "With `roundrobin` only: jobs take turns in a [random order](policies.md#shuffled-turns)"
              + " that is drawn anew for each turn, in place of that of their names.");
  private final Key<Settings, String> workerSelector =
      key(
          "remote_worker_selector",
          plugIn("worker selector", Names::workerSelectors),
          Settings::workerSelector,
          "Which of the [workers](workers.md#which-worker) that fit gets a task: `roundrobin`,"
              + " `busiest`, `least_loaded`, `two_choice`, or another that is installed.");
  private final Key<Settings, List<QueueSpec>> queues =
      own(
          "queues",
          queueList(),
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
          setRules(),
          Settings::sets,
          "`{SET: {...}}`: rules of sets of jobs. A set needs no entry here.");
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
  private final Key<Settings, List<Declared>> resources =
      key(
              "resources",
              ValueType.of(
                  SettingsKeys::declared,
                  declared -> Json.Obj.EMPTY,
                  "object",
                  membersSchema(membersSchema(RESOURCE.type().schema()))),
              settings -> List.<Declared>of(),
              "`{LEVEL: {NAME: ...}}`: what nodes have, may be `{}`. Names are unique over all"
                  + " levels.")
          .required("an object of levels, {} if there are no resources");
  private final Key<Settings, Map<String, Map<String, Integer>>> workerOverrides =
      key(
          "worker_resources_override",
          workerSlots(),
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
          PHYSICAL_RESOURCES.type(),
          Settings::physicalResources,
          "How physical resources of workers become slots.");
  private final Key<Settings, Map<Integer, StartRate>> startRates =
      own(
          "start_rates",
          startRatesOfLevels(),
          settings -> settings.rules().startRates(),
          "`{LEVEL: start rate}`: how often tasks may start below each node of the level;"
              + " `instance` is the whole scheduler.");

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

  /** The name of a set of jobs. */
  static ValueType<String> setName() {
    return ValueType.text(
        Pattern.compile(SET_NAME),
        "the name of a set must have 1 to 200 letters (a-z, A-Z), digits, and \"_-.:\", and start"
            + " with a letter, a digit or \"_\"");
  }

  private static ValueType<Map<String, SetRule>> setRules() {
    return ValueType.of(
        SettingsKeys::readSets,
        rules -> Json.Obj.EMPTY,
        "object",
        membersSchema(SET.type().schema())
            .replaceFirst(
                ",",
                ", 'maxProperties': "
                    + MOST_SETS
                    + ", 'propertyNames': {'pattern': '^("
                    + SET_NAME
                    + "\\$|_|//)'},"));
  }

  private static @Nullable Map<String, SetRule> readSets(ConfigValue value) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > MOST_SETS) {
      value.error("expected at most " + MOST_SETS + " sets, found " + members.size(), null);
      return null;
    }
    Map<String, SetRule> rules = new HashMap<>();
    members.forEach(
        (name, member) -> {
          SetRule rule = SET.read(member, SET.usual());
          if (!name.matches(SET_NAME)) {
            member.error(
                "the name of a set must have 1 to 200 letters (a-z, A-Z), digits, and \"_-.:\","
                    + " and start with a letter, a digit or \"_\"",
                null);
          }
          if (rule != null) {
            rules.put(name, rule);
          }
        });
    return rules;
  }

  private static ValueType<List<QueueSpec>> queueList() {
    return ValueType.of(
        SettingsKeys::readQueues,
        queues -> Json.Obj.EMPTY,
        "object",
        membersSchema(QUEUE.type().schema())
            .replaceFirst(
                ",",
                ", 'maxProperties': "
                    + MOST_QUEUES
                    + ", 'propertyNames': {'pattern': '^([A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}\\$|_|//)'},"));
  }

  private static @Nullable List<QueueSpec> readQueues(ConfigValue value) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > MOST_QUEUES) {
      value.error("expected at most " + MOST_QUEUES + " queues, found " + members.size(), null);
      return null;
    }
    List<QueueSpec> queues = new ArrayList<>();
    members.forEach(
        (name, member) -> {
          QueueSpec queue = QUEUE.read(member, new QueueSpec(name, 1, Map.of(), Map.of()));
          if (!QUEUE_NAME.matcher(name).matches()) {
            member.error(
                "the name of a queue must have 1 to 200 letters (a-z, A-Z), digits, and \"_-.:\","
                    + " and start with a letter, a digit or \"_\"",
                null);
          }
          if (queue != null) {
            queues.add(queue);
          }
        });
    if (queues.stream().anyMatch(queue -> queue.weight().isPresent())) {
      members.values().forEach(SettingsKeys::refuseFactor);
    }
    return queues;
  }

  /** Reports a priority factor beside a weight, because they are alternatives. */
  private static void refuseFactor(ConfigValue queue) {
    if (queue.json() instanceof Json.Obj object && object.get("priority_factor") != null) {
      queue
          .member("priority_factor")
          .error(
              "\"priority_factor\" cannot stand beside \"weight\", here or in another queue",
              "give all queues weights, or all of them factors");
    }
  }

  /** The resources in the order of the document; null when one of them is broken. */
  private static @Nullable List<Declared> declared(ConfigValue value) {
    Map<String, ConfigValue> ofLevels = value.members();
    if (ofLevels == null) {
      return null;
    }
    List<Declared> all = new ArrayList<>();
    Map<String, String> levelOf = new HashMap<>();
    boolean good = true;
    for (Map.Entry<String, ConfigValue> entry : ofLevels.entrySet()) {
      Integer level = entry.getValue().levelOfKey(entry.getKey());
      Map<String, ConfigValue> members = level == null ? null : entry.getValue().members();
      if (level == null || members == null) {
        good = false;
        continue;
      }
      for (Map.Entry<String, ConfigValue> member : members.entrySet()) {
        Declared read = declared(member.getKey(), level, member.getValue(), levelOf);
        good &= read != null && all.add(read);
      }
    }
    return good ? all : null;
  }

  private static @Nullable Declared declared(
      String name, int level, ConfigValue value, Map<String, String> levelOf) {
    Levels levels = value.names().levels();
    boolean good = true;
    if (name.isEmpty() || ValueType.hasControls(name)) {
      value.error("the name of a resource must not be empty or hold control characters", null);
      good = false;
    }
    Declared read = RESOURCE.read(value, new Declared(name, level, 0, 0, 0, Optional.empty()));
    String other = levelOf.putIfAbsent(name, levels.name(level));
    if (other != null) {
      value.error(
          "a resource of this name is also on the level \"" + other + "\"",
          "resource names must be unique over all levels");
      good = false;
    }
    return good ? read : null;
  }

  private static ValueType<Map<String, Map<String, Integer>>> workerSlots() {
    ValueType<Map<Resource, Integer>> slots = byResource(int32(0), 0, true);
    return ValueType.of(
        value -> {
          Map<String, ConfigValue> workers = value.names().areKnown() ? value.members() : null;
          if (workers == null) {
            return null;
          }
          Map<String, Map<String, Integer>> overrides = new LinkedHashMap<>();
          workers.forEach(
              (worker, entry) -> {
                Map<Resource, Integer> given = slots.reader().read(entry, Map.of());
                if (given != null) {
                  Map<String, Integer> byName = new HashMap<>();
                  given.forEach((resource, amount) -> byName.put(resource.name(), amount));
                  overrides.put(worker, Map.copyOf(byName));
                }
              });
          return overrides;
        },
        overrides -> Json.Obj.EMPTY,
        "object",
        membersSchema(slots.schema()));
  }

  private static ValueType<Map<Integer, StartRate>> startRatesOfLevels() {
    return ValueType.of(
        value -> {
          Map<String, ConfigValue> members = value.names().areKnown() ? value.members() : null;
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
                      OptionKeys.RATE.reader().read(member, Optional.empty());
                  if (rate != null) {
                    rate.ifPresent(each -> rates.put(level, each));
                  }
                }
              });
          return rates;
        },
        rates -> Json.Obj.EMPTY,
        "object",
        membersSchema(OptionKeys.RATE.schema()));
  }

  /**
   * Reads the settings. When levels or resources are broken, it reads on, to report the problems of
   * everything that does not depend on them.
   *
   * @return settings against which jobs can be checked; null when levels or resources are broken
   */
  @Override
  @Nullable Settings read(ConfigObject given, Settings base) {
    ConfigObject in = given;
    Names plugIns = in.value().names();
    ConfigValue tree = in.find(nodes);
    ConfigObject treeKeys = tree == null ? null : NodeKeys.NODES.open(tree);
    Levels levels =
        treeKeys == null ? null : treeKeys.read(NodeKeys.NODES.levels, NodeKeys.NODES.usual());
    List<Declared> declared = null;
    if (levels != null) {
      in = in.within(plugIns.with(levels, ResourceCatalog.EMPTY, List.of()));
      declared = in.read(resources, base);
    }
    ResourceCatalog catalog = catalog(declared == null ? List.of() : declared);
    Levels known = levels == null ? base.levels() : levels;
    List<QueueSpec> tenants = List.of();
    in = in.within(plugIns);
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
    for (Declared each : declared == null ? List.<Declared>of() : declared) {
      each.killOverLimit().ifPresent(after -> killOverLimit.put(each.name(), after));
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
                killOverLimit),
            in.get(capacity, base),
            in.get(sets, base),
            in.get(exitInitialWaitBefore, base),
            OptionKeys.OPTIONS.read(in, JobOptions.usual(known.bottom())),
            hash(in.json()),
            in.json());
    return declared == null ? null : settings;
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

  private static ResourceCatalog catalog(List<Declared> declared) {
    List<Resource> all = new ArrayList<>();
    declared.stream()
        .sorted(Comparator.comparingInt(Declared::level))
        .forEach(
            r ->
                all.add(
                    new Resource(
                        all.size(), r.name(), r.level(), r.defaultNeed(), r.limit(), r.weight())));
    return new ResourceCatalog(all);
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
