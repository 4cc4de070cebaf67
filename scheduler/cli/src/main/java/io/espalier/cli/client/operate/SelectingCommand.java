package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The common part of {@code rerun}, {@code forgive}, {@code cancel} and {@code kill}: selecting
 * tasks, a dry run, an expected number.
 */
abstract class SelectingCommand extends ClientCommand {
  @Mixin private final SelectorFlags selector = new SelectorFlags();

  @Mixin private final ReasonOption reason = new ReasonOption();

  @Mixin private final ConsentFlags consent = new ConsentFlags();

  @Option(
      names = "--expect",
      paramLabel = "N",
      description = "Only if exactly so many tasks are chosen; otherwise nothing changes.")
  private @Nullable Long expect;

  SelectingCommand(CommandContext clients) {
    this(clients, new DataDirFlag());
  }

  /**
   * @param dataDir as in {@link ClientCommand}
   */
  SelectingCommand(CommandContext clients, @Nullable DataDirFlag dataDir) {
    super(clients, dataDir);
  }

  /** Selects these nodes too. */
  void select(List<String> more) {
    selector.nodes.addAll(more);
  }

  boolean nothingChosen() {
    return selector.isEmpty();
  }

  /** Returns whether the tasks are to be counted: by a dry run, or against an expected number. */
  boolean counts() {
    return consent.preview() || expect != null;
  }

  Json.Builder reason() {
    return reason.body();
  }

  private Json.Obj post(
      Client client, String template, String job, boolean counting, @Nullable Long expected) {
    Json.Builder body = reason.body();
    if (!selector.isEmpty()) {
      body.put("selector", selector.json());
    }
    if (counting) {
      body.put("preview", Json.Bool.TRUE);
    }
    if (expected != null) {
      body.put("expect", expected);
    }
    return client.call("POST", template, Map.of("job", job), Map.of(), body.build());
  }

  /**
   * What a command does to the tasks of its jobs, for people.
   *
   * @param exact whether it applies to as many tasks as were confirmed: if others match meanwhile,
   *     nothing changes
   */
  record Words(String would, String question, String done, boolean exact) {
    Words(String would, String question, String done) {
      this(would, question, done, true);
    }
  }

  /**
   * Changes the chosen tasks of each job; with {@code --preview} it only counts them. On a terminal
   * it says first which tasks these are, and asks.
   *
   * @return the exit code
   */
  int change(Client client, String template, List<String> jobs, Words words) {
    boolean preview = consent.preview();
    boolean asks = consent.asks(this);
    Map<String, @Nullable Long> expected = new LinkedHashMap<>();
    jobs.forEach(each -> expected.put(each, expect));
    if (preview || asks) {
      long all = 0;
      for (Map.Entry<String, @Nullable Long> each : expected.entrySet()) {
        Json.Obj found = post(client, template, each.getKey(), true, expect);
        if (preview && json()) {
          print(found);
        } else {
          printMatches(each.getKey(), found, words.would());
        }
        long matched = JsonFields.number(found, "matched");
        if (words.exact()) {
          each.setValue(matched);
        }
        all += matched;
      }
      if (all == 0) {
        requireNodes(client, jobs);
      }
      if (preview || all == 0) {
        return ExitCode.OK;
      }
      if (!consent.confirmed(this, words.question().formatted(tasks(all)))) {
        return ExitCode.FAILED;
      }
    }
    expected.forEach(
        (each, count) -> {
          Json.Obj done = post(client, template, each, false, count);
          long changed = JsonFields.number(done, "changed");
          if (changed == 0) {
            requireNodes(client, jobs);
          }
          var unused = answered(done, each + ": " + tasks(changed) + words.done());
          // Completed commands stay reported even when a later job refuses.
          out().flush();
        });
    return ExitCode.OK;
  }

  /** Fails if a node that was named has no task of the job: a misspelt name finds none. */
  private void requireNodes(Client client, List<String> jobs) {
    if (jobs.size() == 1) {
      selector.nodes.forEach(node -> requireTask(client, jobs.get(0), node));
    }
  }

  /** Prints the result of a dry run. */
  private void printMatches(String job, Json.Obj found, String would) {
    long matched = JsonFields.number(found, "matched");
    long running = JsonFields.number(found, "running");
    say(
        job
            + ": "
            + tasks(matched)
            + " "
            + would
            + (running > 0 ? "; " + tasks(running) + " running now left alone" : ""));
    var samples = JsonFields.texts(found, "samples");
    if (!samples.isEmpty()) {
      String more = matched > samples.size() ? ", …" : "";
      say("such as " + String.join(", ", samples.subList(0, Math.min(10, samples.size()))) + more);
    }
  }

  static String tasks(long count) {
    return count == 1 ? "1 task" : count + " tasks";
  }

  /** The flags that select tasks of a job. A task must match all given flags. */
  static final class SelectorFlags {
    @Option(
        names = "--status",
        paramLabel = "STATUS",
        split = ",",
        description = "Tasks in one of these statuses, such as failed or done.")
    private List<String> statuses = List.of();

    @Option(names = "--prefix", paramLabel = "TEXT", description = "Nodes that begin with this.")
    private String prefix = "";

    @Option(
        names = "--node",
        paramLabel = "NODE",
        description = "This node; may be given several times.")
    private final List<String> nodes = new ArrayList<>();

    @Option(
        names = "--fingerprint",
        paramLabel = "TEXT",
        description = "Tasks that failed in this way, as `failures` shows it.")
    private String fingerprint = "";

    @Option(names = "--all", description = "All tasks of the job.")
    private boolean all;

    boolean isEmpty() {
      return !all
          && statuses.isEmpty()
          && prefix.isEmpty()
          && nodes.isEmpty()
          && fingerprint.isEmpty();
    }

    Json.Obj json() {
      Json.Builder selector = Json.object();
      if (!statuses.isEmpty()) {
        selector.put("statuses", array(statuses));
      }
      if (!prefix.isEmpty()) {
        selector.put("prefix", prefix);
      }
      if (!nodes.isEmpty()) {
        selector.put("nodes", array(nodes));
      }
      if (!fingerprint.isEmpty()) {
        selector.put("fingerprint", fingerprint);
      }
      if (all) {
        selector.put("all", Json.Bool.TRUE);
      }
      return selector.build();
    }

    private static Json.Arr array(List<String> texts) {
      return new Json.Arr(texts.stream().<Json>map(Json::of).toList());
    }
  }

  /**
   * The flags of commands that change many tasks at once: look first, and do not ask. They all ask
   * on a terminal, and nowhere else: scripts say what they mean
   * (docs/steering.md#before-many-tasks-change).
   */
  static final class ConsentFlags {
    @Option(
        names = {"--preview", "--dry-run"},
        description = "Only say how many tasks and which; change nothing.")
    private boolean preview;

    @Option(
        names = {"-y", "--yes"},
        description = "Do not ask.")
    private boolean yes;

    boolean preview() {
      return preview;
    }

    /** Returns whether the user is to be asked first. */
    boolean asks(ClientCommand command) {
      return !preview && !yes && command.viewport().asks();
    }

    /** Asks the user at the terminal for confirmation, and says so if there is none. */
    boolean confirmed(ClientCommand command, String question) {
      PrintWriter err = command.spec().commandLine().getErr();
      command.out().flush();
      err.print(HumanFormat.clean(question) + " [y/N] ");
      err.flush();
      try {
        // Not closed, because it is the process's standard input.
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        String answer = in.readLine();
        if (answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes")) {
          return true;
        }
      } catch (IOException e) {
        throw new CommandException(ExitCode.FAILED, "cannot read the answer: " + e.getMessage(), e);
      }
      command.remark("nothing was changed");
      return false;
    }
  }
}
