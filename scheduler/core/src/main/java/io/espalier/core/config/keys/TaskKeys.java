package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.anyOf;
import static io.espalier.core.config.schema.ValueType.bool;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.limit;
import static io.espalier.core.config.schema.ValueType.limit32;
import static io.espalier.core.config.schema.ValueType.list;
import static io.espalier.core.config.schema.ValueType.oneOf;
import static io.espalier.core.config.schema.ValueType.orFalse;
import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.core.config.task.ProcessAttributes.IoClass;
import io.espalier.core.config.task.ProcessAttributes.IoNice;
import io.espalier.core.config.task.ProcessAttributes.RunAs;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import io.espalier.core.config.task.TaskVariables;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of the processes of tasks and of their output. */
public final class TaskKeys {
  // The largest number that can be expressed in bytes.
  private static final long MOST_MB = 1L << 40;
  private static final int MOST_WEIGHT = 10_000;

  private TaskKeys() {}

  /** {@code task_subprocess.cgroups}. */
  public static final Section<Cgroups> CGROUPS =
      new Section<>(
          "cgroups",
          "Where the control groups of tasks are made.",
          SubprocessOptions.DEFAULT.cgroups()) {
        private final Key<Cgroups, String> root =
            key("root", path(), Cgroups::root, "Where the subsystems are mounted.");
        private final Key<Cgroups, String> slice =
            key(
                "slice",
                path(),
                Cgroups::slice,
                "Where the groups of tasks are made, below each subsystem.");
        private final Key<Cgroups, List<String>> subsystems =
            key(
                "subsystems",
                list(
                        text(
                            Pattern.compile("[A-Za-z0-9_,=-]+"),
                            "expected the name of a cgroup subsystem, such as \"freezer\""),
                        "")
                    .says("list of names"),
                Cgroups::subsystems,
                "Which subsystems are used; without any, tasks get no control groups. A job's list"
                    + " replaces the inherited one.");
        private final Key<Cgroups, Boolean> killWithoutFreezer =
            key(
                "kill_without_freezer",
                bool(),
                Cgroups::killWithoutFreezer,
                "Whether members of a group are killed one by one where there is no freezer, which"
                    + " can miss processes.");

        @Override
        public Cgroups read(ConfigObject in, Cgroups base) {
          return new Cgroups(
              in.get(root, base),
              in.get(slice, base),
              in.get(subsystems, base),
              in.get(killWithoutFreezer, base));
        }
      };

  private static ValueType<String> path() {
    return text()
        .checked(
            path -> !List.of(path.split("/")).contains("..") && !ValueType.hasControls(path),
            "a path must not hold \"..\" or control characters")
        .says("path")
        .inSchema(
            anyOf(
                "{'type': 'string', 'pattern': '^[^\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]*$', 'not':"
                    + " {'pattern': '(^|/)\\\\.\\\\.(/|$)'}}",
                "{'type': 'number'}"));
  }

  /** {@code task_subprocess.ionice}. */
  public static final Section<IoNice> IONICE =
      new Section<>(
          "ionice", "I/O scheduling, as of ionice(1).", new IoNice(IoClass.BEST_EFFORT, 4)) {
        private final Key<IoNice, IoClass> ioClass =
            key(
                    "class",
                    oneOf(List.of(IoClass.values()), IoClass::label),
                    IoNice::ioClass,
                    "`realtime` (privileged), `best_effort` or `idle`.")
                .required("one of realtime, best_effort, idle");
        private final Key<IoNice, Integer> level =
            key(
                "level",
                int32(0, 7),
                IoNice::level,
                "0 is the most favoured; `idle` has no levels.");

        @Override
        public @Nullable IoNice read(ConfigObject in, IoNice base) {
          IoClass named = in.read(ioClass, usual());
          Integer given = in.read(level, usual());
          ConfigValue leveled = in.find(level);
          if (named == IoClass.IDLE && leveled != null && given != null && given != 0) {
            leveled.warning("the class \"idle\" has no levels", "remove the key");
          }
          if (named == null) {
            return null;
          }
          int priority = given == null ? usual().level() : given;
          return new IoNice(named, named == IoClass.IDLE ? 0 : priority);
        }
      };

  /** {@code task_subprocess.cgroup_limits}. */
  public static final Section<CgroupLimits> CGROUP_LIMITS =
      new Section<>(
          "cgroup_limits",
          "What the control group of a task may use. Each key is inherited by itself; `false`: no"
              + " limit.",
          CgroupLimits.NONE) {
        private final Key<CgroupLimits, OptionalLong> memoryMb =
            own(
                "memory_mb",
                limit(1, MOST_MB),
                CgroupLimits::memoryMb,
                "Memory with page cache, in MB, hard: the kernel kills a task beyond it.");
        private final Key<CgroupLimits, OptionalLong> memorySwapMb =
            own(
                "memory_swap_mb",
                limit(0, MOST_MB),
                CgroupLimits::memorySwapMb,
                "Swap in addition to the memory, in MB; `0`: none.");
        private final Key<CgroupLimits, OptionalInt> cpuWeight =
            own(
                "cpu_weight",
                limit32(1, MOST_WEIGHT),
                CgroupLimits::cpuWeight,
                "Share of the cores when they are short; 100 is usual.");
        private final Key<CgroupLimits, OptionalInt> cpuQuotaPercent =
            own(
                "cpu_quota_percent",
                limit32(1, 1_000_000),
                CgroupLimits::cpuQuotaPercent,
                "Percent of one core: `250` is two and a half cores.");
        private final Key<CgroupLimits, OptionalInt> pidsMax =
            own(
                "pids_max",
                limit32(1, 1 << 22), // the largest possible kernel.pid_max
                CgroupLimits::pidsMax,
                "Number of processes and threads.");
        private final Key<CgroupLimits, OptionalInt> ioWeight =
            own(
                "io_weight",
                limit32(1, MOST_WEIGHT),
                CgroupLimits::ioWeight,
                "Share of the disks when they are busy; 100 is usual.");
        private final Key<CgroupLimits, Boolean> required =
            own(
                "enforce",
                oneOf(
                    List.of(true, false),
                    strict -> strict ? CgroupLimits.REQUIRED : CgroupLimits.IF_AVAILABLE),
                CgroupLimits::required,
                "`required`: a task does not start where one of its limits cannot be set;"
                    + " `if_available`: it does, with a warning.");

        @Override
        public CgroupLimits read(ConfigObject in, CgroupLimits base) {
          return new CgroupLimits(
              in.get(memoryMb, base),
              in.get(memorySwapMb, base),
              in.get(cpuWeight, base),
              in.get(cpuQuotaPercent, base),
              in.get(pidsMax, base),
              in.get(ioWeight, base),
              in.get(required, base));
        }
      };

  /** {@code task_subprocess} of the settings or a job; each key is inherited separately. */
  public static final Section<SubprocessOptions> TASK_SUBPROCESS =
      new Section<>(
          "task_subprocess",
          "How task processes are started and watched. Each key is inherited by itself.",
          SubprocessOptions.DEFAULT) {
        private final Key<SubprocessOptions, Integer> pollMillis =
            key(
                "poll_ms",
                int32(Integer.MIN_VALUE),
                SubprocessOptions::pollMillis,
                "Period of the log quota, in milliseconds; a value below 1 acts as 1.");
        private final Key<SubprocessOptions, Integer> maxLogLines =
            key(
                "max_log_lines_per_poll_interval",
                int32(Integer.MIN_VALUE),
                SubprocessOptions::maxLogLinesPerPollInterval,
                "Lines of output that a task may write per period before it is held up; 0 or less:"
                    + " no limit.");
        private final Key<SubprocessOptions, Integer> parentDeathSignal =
            key(
                "parent_death_signal",
                signal(),
                SubprocessOptions::parentDeathSignal,
                "Signal that a task gets when its supervisor dies; 0: none.");
        private final Key<SubprocessOptions, Boolean> useCanaryPipe =
            key(
                "use_canary_pipe",
                bool(),
                SubprocessOptions::useCanaryPipe,
                "Whether a task counts as running while a descendant of it lives, which a pipe in"
                    + " every descendant shows.");
        private final Key<SubprocessOptions, Cgroups> cgroups =
            key(
                "cgroups",
                CGROUPS.type(),
                SubprocessOptions::cgroups,
                "Where control groups of tasks are made.");
        private final Key<SubprocessOptions, OptionalInt> umask =
            own(
                "umask",
                umask(),
                options -> options.attributes().umask(),
                "File mode creation mask, such as `\"027\"`; without it, the worker's. A number is"
                    + " refused: it would not say whether it is octal.");
        private final Key<SubprocessOptions, OptionalInt> nice =
            own(
                "nice",
                limit32(-20, 19),
                options -> options.attributes().nice(),
                "Scheduling priority; without it, the worker's. 19 gives way to everything; less"
                    + " than the worker's own needs privileges.");
        private final Key<SubprocessOptions, Optional<IoNice>> ioNice =
            own(
                "ionice",
                orFalse(IONICE.type(), IONICE.usual()),
                options -> options.attributes().ioNice(),
                "I/O scheduling class and level; without it, the worker's.");
        private final Key<SubprocessOptions, Optional<RunAs>> runAs =
            own(
                "run_as",
                runAs(),
                options -> options.attributes().runAs(),
                "`user` or `user:group`, names or numbers, that tasks run as; without it, the"
                    + " worker's user. The worker must be root.");
        private final Key<SubprocessOptions, List<String>> passed =
            own(
                "pass_environment",
                passedVariables(),
                options -> options.variables().passed(),
                "Variables of the worker that tasks get besides `PATH HOME LANG LANGUAGE TZ TMPDIR"
                    + " USER LOGNAME SHELL` and `LC_*`. `NAME*` stands for all that begin like it,"
                    + " `*` for all; never any `ESPALIER_*`. A job's list replaces the inherited"
                    + " one.");
        private final Key<SubprocessOptions, Map<String, String>> set =
            own(
                "environment",
                variables(),
                options -> options.variables().set(),
                "`{NAME: value}`: variables that tasks get; they win over those that are passed."
                    + " Inherited name by name. Names begin with a letter (one that begins with"
                    + " `_` is a comment, as everywhere), not with `ESPALIER_`.");
        private final Key<SubprocessOptions, CgroupLimits> limits =
            own(
                "cgroup_limits",
                CGROUP_LIMITS.type(),
                SubprocessOptions::limits,
                "Limits of the control group of each task.");

        {
          obsolete(
              "process_group_leader",
              "remove it: every task leads a session and a process group of its own, and signals"
                  + " always go to the whole group");
        }

        @Override
        public SubprocessOptions read(ConfigObject in, SubprocessOptions base) {
          return new SubprocessOptions(
              in.get(pollMillis, base),
              in.get(maxLogLines, base),
              in.get(parentDeathSignal, base),
              in.get(useCanaryPipe, base),
              in.get(cgroups, base),
              new ProcessAttributes(
                  in.get(umask, base),
                  in.get(nice, base),
                  in.get(ioNice, base),
                  in.get(runAs, base)),
              new TaskVariables(in.get(passed, base), in.get(set, base)),
              in.get(limits, base));
        }
      };

  private static ValueType<Integer> signal() {
    ValueType<Integer> number = int32(0);
    return new ValueType<>(
        (value, base) -> {
          Integer signal = number.reader().read(value, base);
          if (signal != null && signal > 64) {
            value.warning("there is no such signal, they go from 1 to 64", null);
          }
          return signal;
        },
        number.writer(),
        number.words(),
        number.schema());
  }

  private static ValueType<OptionalInt> umask() {
    Pattern octal = Pattern.compile("[0-7]{1,3}|0[0-7]{3}");
    return ValueType.optionalInt(
        orFalse(
            ValueType.<Integer>of(
                value -> {
                  // With a number it would be unclear whether it is octal.
                  if (value.json() instanceof Json.Str text
                      && octal.matcher(text.value()).matches()) {
                    return Integer.valueOf(text.value(), 8);
                  }
                  value.error("expected a string of three octal digits, such as \"027\"", null);
                  return null;
                },
                umask -> Json.of(String.format(Locale.ROOT, "%03o", umask)),
                "octal text",
                "{'type': 'string', 'pattern': '^([0-7]{1,3}|0[0-7]{3})$'}"),
            0));
  }

  private static ValueType<Optional<RunAs>> runAs() {
    String name = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}";
    Pattern userAndGroup = Pattern.compile("(" + name + ")(?::(" + name + "))?");
    return orFalse(
        text()
            .checked(
                text -> userAndGroup.matcher(text).matches(),
                "expected \"user\" or \"user:group\", names or numbers")
            .as(
                text -> {
                  Matcher parts = userAndGroup.matcher(text);
                  return parts.matches()
                      ? new RunAs(parts.group(1), Optional.ofNullable(parts.group(2)))
                      : new RunAs(text, Optional.empty());
                },
                RunAs::text)
            .inSchema(
                anyOf(
                    "{'type': 'string', 'pattern': '^" + name + "(:" + name + ")?$'}",
                    "{'type': 'integer', 'minimum': 0}")),
        new RunAs("", Optional.empty()));
  }

  private static final String RESERVED =
      "names that begin with \"" + TaskVariables.RESERVED + "\" are Espalier's own";

  private static ValueType<List<String>> passedVariables() {
    Pattern names = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*\\*?|\\*");
    return list(
            text()
                .checked(
                    name -> names.matcher(name).matches(),
                    "expected the name of a variable: letters, digits and \"_\", at its end"
                        + " perhaps \"*\"")
                .checked(
                    name -> !name.startsWith(TaskVariables.RESERVED),
                    RESERVED,
                    "tasks get ESPALIER_TASK_* by themselves")
                .inSchema(
                    "{'type': 'string', 'pattern':"
                        + " '^(?!ESPALIER_)([A-Za-z_][A-Za-z0-9_]*\\\\*?|\\\\*)$'}"),
            "")
        .says("list of names");
  }

  private static ValueType<Map<String, String>> variables() {
    Pattern name = Pattern.compile("[A-Za-z][A-Za-z0-9_]*");
    int longest = 32_768; // The kernel accepts at most 128 KiB for one variable.
    ValueType<String> text =
        text()
            .checked(
                value -> value.indexOf('\0') < 0, "a variable must not hold the character U+0000")
            .checked(value -> value.length() <= longest, "longer than " + longest + " characters");
    return new ValueType<>(
        (value, base) -> {
          Map<String, ConfigValue> members = value.members();
          if (members == null) {
            return null;
          }
          Map<String, String> variables = new TreeMap<>(base);
          members.forEach(
              (key, member) -> {
                if (!name.matcher(key).matches()) {
                  member.text();
                  member.error(
                      "the name of a variable is a letter, then letters, digits and \"_\"", null);
                } else if (key.startsWith(TaskVariables.RESERVED)) {
                  member.text();
                  member.error(RESERVED, null);
                } else {
                  String read = text.reader().read(member, "");
                  if (read != null) {
                    variables.put(key, read);
                  }
                }
              });
          return variables;
        },
        (variables, inherited, names) -> {
          Json.Builder out = Json.object();
          variables.forEach(out::put);
          return out.build();
        },
        "object",
        "{'type': 'object', 'patternProperties': {'^(_|//)': true,"
            + " '^(?!ESPALIER_)[A-Za-z][A-Za-z0-9_]*$': "
            + anyOf(
                "{'type': 'string', 'maxLength': " + longest + ", 'pattern': '^[^\\\\u0000]*$'}",
                "{'type': 'number'}")
            + "}, 'additionalProperties': false}");
  }

  /** {@code kill_subprocess} of the settings or a job. */
  public static final Section<KillRequest> KILL_SUBPROCESS =
      new Section<>(
          "kill_subprocess",
          "How a task is stopped. Each key is inherited by itself.",
          KillRequest.DEFAULT) {
        private final Key<KillRequest, KillRequest.Method> method =
            key(
                "method",
                oneOf(List.of(KillRequest.Method.values()), KillRequest.Method::label),
                KillRequest::method,
                "`term`: SIGTERM; `kill`: SIGKILL; `term_wait_kill`: the first, then the second.");
        private final Key<KillRequest, Integer> waitMillis =
            key(
                "kill_wait_ms",
                int32(Integer.MIN_VALUE),
                KillRequest::waitMillis,
                "Milliseconds that `term_wait_kill` waits between the two signals; 0 or less:"
                    + " SIGKILL at once.");

        @Override
        public KillRequest read(ConfigObject in, KillRequest base) {
          return new KillRequest(in.get(method, base), in.get(waitMillis, base));
        }
      };

  /** {@code log_retention} of the settings or a job. */
  public static final Section<LogOptions> LOG_RETENTION =
      new Section<>(
          "log_retention",
          "How long output is kept. Each key is inherited by itself; `false`: as the log store does"
              + " by itself.",
          LogOptions.DEFAULT) {
        private final Key<LogOptions, OptionalInt> days =
            own(
                "days",
                limit32(1, 36_500),
                LogOptions::retentionDays,
                "Age in days of the oldest line that is kept.");
        private final Key<LogOptions, OptionalLong> maxMb =
            own(
                "max_mb",
                limit(1, MOST_MB),
                LogOptions::maxMb,
                "Size in MB of all lines of the job; the oldest go first.");

        @Override
        public LogOptions read(ConfigObject in, LogOptions base) {
          return new LogOptions(in.get(days, base), in.get(maxMb, base), base.redact());
        }
      };
}
