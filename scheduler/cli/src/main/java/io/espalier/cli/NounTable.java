package io.espalier.cli;

import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.inspect.NodeCommands;
import io.espalier.cli.client.operate.JobFileCommands;
import io.espalier.cli.client.operate.NodeSwitchCommands;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;

/**
 * The groups of commands, such as {@code job}: most of their verbs are commands of another name.
 */
final class NounTable {
  /** Groups whose names were those of commands before; the verb that such a command has now. */
  private static final Map<String, String> FORMER = Map.of("node", "show", "worker", "run");

  private static final Set<String> HELP = Set.of("-h", "--help", "-V", "--version");

  private final Function<String, Object> others;
  private final Map<String, Noun> nouns = new LinkedHashMap<>();

  /**
   * @param others creates the commands that have a name of their own
   */
  NounTable(CommandContext clients, Function<String, Object> others) {
    this.others = others;
    noun("job", "Look at jobs, change them, and steer them.", "job list", "job show backup")
        .also("list", "jobs")
        .verb("show", () -> new JobFileCommands.Show(clients))
        .verb("diff", () -> new JobFileCommands.Diff(clients))
        .verb("edit", () -> new JobFileCommands.Edit(clients))
        .also("apply", "save-job")
        .also("validate", "validate-job")
        .also("delete", "delete-job")
        .also("history", "job-history")
        .same("pause", "resume", "stop", "waiting", "failures", "levels", "eta", "report", "sets");
    noun("task", "Look at tasks, and steer them.", "task list backup --status failed")
        .also("list", "tasks")
        .same("running", "explain", "logs", "history")
        .same("kill", "extend", "forgive", "cancel", "rerun");
    noun(
            "node",
            "Look at nodes of the tree, and switch them off and on.",
            "node show host db7",
            "node host db7    # the same",
            "node disable host db7 --for 2h --reason 'new disks'")
        .verb("show", () -> new NodeCommands.Node(clients))
        .same("tree")
        .verb("disable", () -> new NodeSwitchCommands.Disable(clients))
        .verb("enable", () -> new NodeSwitchCommands.Enable(clients))
        .same("quarantines", "quarantine", "lift");
    noun(
            "worker",
            "Run a worker, and steer those of a scheduler.",
            "worker run --scheduler 127.0.0.1:6789 --shard-id w1",
            "worker --scheduler 127.0.0.1:6789 --shard-id w1    # the same",
            "worker list")
        .verb("run", WorkerCommand::new)
        .also("list", "workers")
        .same("drain", "cordon", "uncordon");
    noun(
            "limit",
            "Look at limits and change them: of levels, of nodes, by brakes.",
            "limit list",
            "limit set host concurrency 1 --for 2h")
        .also("list", "limits")
        .also("set", "set-limit")
        .also("clear", "clear-limit")
        .same("brakes", "brake", "release", "queues");
    noun(
            "config",
            "Check configurations, translate them, and apply them.",
            "config validate site.yaml",
            "config plan site.yaml")
        .same("validate", "convert", "nodes", "plan", "apply")
        .also("show", "settings");
    noun(
            "server",
            "Run a scheduler, and look at one.",
            "server run --config site.yaml",
            "server problems")
        .also("run", "scheduler")
        .same("ui", "problems", "events", "notifications", "notify", "leadership", "step-down")
        .same("ha-check", "backup", "restore", "replay");
    noun(
            "context",
            "Name schedulers once, so that commands need no address and no files.",
            "context add prod --server https://scheduler:8080 --token-file prod.token",
            "context use prod",
            "jobs --context prod")
        .verb("list", () -> new ContextCommands.List(clients.contexts()))
        .verb("use", () -> new ContextCommands.Use(clients.contexts()))
        .verb("add", () -> new ContextCommands.Add(clients.contexts()))
        .verb("remove", () -> new ContextCommands.Remove(clients.contexts()));
    noun("auth", "Look at who may do what, and at who did it.", "auth whoami", "auth audit")
        .same("whoami", "audit");
  }

  private Noun noun(String name, String description, String... examples) {
    Noun noun = new Noun(name, description, examples);
    nouns.put(name, noun);
    return noun;
  }

  /** Returns the names of all groups. */
  List<String> names() {
    return List.copyOf(nouns.keySet());
  }

  /** Returns the other name of a verb; empty for verbs that have none. */
  String alias(String noun, String verb) {
    Noun group = nouns.get(noun);
    return group == null ? "" : group.aliases.getOrDefault(verb, "");
  }

  /** Creates all commands of a group. */
  Object all(String name) {
    return named(name).create(named(name).verbs.keySet());
  }

  /** Creates a group with the one command that the arguments name, or with all commands. */
  Object neededFor(String... arguments) {
    Noun noun = named(arguments[0]);
    boolean one = arguments.length > 1 && noun.verbs.containsKey(arguments[1]);
    return noun.create(one ? Set.of(arguments[1]) : noun.verbs.keySet());
  }

  private Noun named(String name) {
    return Objects.requireNonNull(nouns.get(name), name);
  }

  /**
   * Returns the arguments with the verb that {@code espalier node} and {@code espalier worker} do
   * not need: they were commands before they were groups.
   */
  String[] expanded(String... arguments) {
    String verb = arguments.length == 0 ? null : FORMER.get(arguments[0]);
    if (verb == null
        || (arguments.length > 1
            && (HELP.contains(arguments[1])
                || named(arguments[0]).verbs.containsKey(arguments[1])))) {
      return arguments.clone();
    }
    List<String> all = new ArrayList<>(Arrays.asList(arguments));
    all.add(1, verb);
    return all.toArray(String[]::new);
  }

  /** One group. */
  private final class Noun {
    private final String name;
    private final String description;
    private final String[] examples;
    private final Map<String, Supplier<Object>> verbs = new LinkedHashMap<>();
    private final Map<String, String> aliases = new LinkedHashMap<>();

    Noun(String name, String description, String... examples) {
      this.name = name;
      this.description = description;
      this.examples = examples;
    }

    /** Adds a command that has no other name. */
    Noun verb(String verb, Supplier<Object> command) {
      verbs.put(verb, command);
      return this;
    }

    /** Adds a command that has another name, too. */
    Noun also(String verb, String other) {
      aliases.put(verb, other);
      return verb(verb, () -> others.apply(other));
    }

    /** Adds commands under the names that they have anyway. */
    Noun same(String... names) {
      for (String each : names) {
        also(each, each);
      }
      return this;
    }

    CommandLine create(Set<String> wanted) {
      Map<String, Object> commands = new LinkedHashMap<>();
      verbs.forEach(
          (verb, command) -> {
            if (wanted.contains(verb)) {
              commands.put(verb, command.get());
            }
          });
      return NounCommand.of(
          name,
          description,
          commands,
          Arrays.stream(examples).map(each -> "  espalier " + each).toArray(String[]::new));
    }
  }
}
