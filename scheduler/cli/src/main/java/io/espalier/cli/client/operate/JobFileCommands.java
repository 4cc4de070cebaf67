package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.inspect.JobsCommand;
import io.espalier.cli.client.inspect.SchedulerInfoCommands;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that show what a job is defined as, compare it with a file, and edit it. */
public final class JobFileCommands {
  private JobFileCommands() {}

  /** The common part: one job, as the scheduler knows it. */
  abstract static class OfJob extends ClientCommand {
    @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    OfJob(CommandContext clients) {
      super(clients);
    }

    String job() {
      return job;
    }

    Json.Obj asked(Client client) {
      return get(client, ApiV1.JOB, Map.of("job", job), Map.of());
    }
  }

  /** {@code job show JOB}: shows a job in full. */
  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "Show a job: its state, its problems, and the text that defines it.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier job show backup",
        "  espalier job show backup --effective",
        "  espalier job show backup --definition > backup.json"
      })
  public static final class Show extends OfJob {
    @Option(names = "--effective", description = "With everything inherited, and all defaults.")
    private boolean effective;

    @Option(names = "--definition", description = "Only the definition, as job apply takes it.")
    private boolean definition;

    public Show(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body = asked(client);
      if (json()) {
        print(body);
        return ExitCode.OK;
      }
      if (!definition) {
        Json.Obj progress = JsonFields.object(body, "progress");
        say(
            job()
                + ", version "
                + JsonFields.number(body, "version")
                + ": "
                + JobsCommand.state(body)
                + ", "
                + JsonFields.number(progress, "done")
                + " of "
                + SelectingCommand.tasks(JsonFields.number(progress, "total"))
                + " done, "
                + JsonFields.number(progress, "running")
                + " running, "
                + JsonFields.number(progress, "failed")
                + " failed");
        JsonFields.objects(body, "problems")
            .forEach(problem -> say(SchedulerInfoCommands.Problems.sentence(problem)));
      }
      Json.Obj shown = JsonFields.object(body, effective ? "effective" : "original");
      JsonWriter.pretty(shown).lines().forEach(this::say);
      return ExitCode.OK;
    }
  }

  /** {@code job diff JOB FILE}: compares a job with a file. */
  @Command(
      name = "diff",
      mixinStandardHelpOptions = true,
      description = {
        "Compare a job with the one in FILE, and say what applying that would do. Changes nothing.",
        "Exit code 0 if they are equal, 1 if they differ."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier job diff backup backup.json"})
  public static final class Diff extends OfJob {
    @Parameters(
        index = "1",
        paramLabel = "FILE",
        description = "The job as JSON, comments allowed; - is standard input.")
    private String file = "";

    public Diff(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj wanted = JobEditCommands.SaveJob.read(file);
      Json.Obj now = JsonFields.object(asked(client), "original");
      List<Json> changes = changes(now, wanted);
      Json.Obj plan = JobEditCommands.planned(client, job(), wanted);
      if (json()) {
        print(
            Json.object()
                .put("job", job())
                .put("changes", new Json.Arr(changes))
                .put("plan", plan)
                .build());
      } else {
        changes.forEach(change -> say((Json.Obj) change));
        JsonFields.objects(plan, "problems")
            .forEach(problem -> say(SchedulerInfoCommands.Problems.sentence(problem)));
        String effect = JobEditCommands.summary(plan);
        if (changes.isEmpty()) {
          remark(job() + " is as " + file + " says");
        } else if (!effect.isEmpty()) {
          say(effect);
        }
      }
      return changes.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }

    private void say(Json.Obj change) {
      String key = JsonFields.text(change, "key") + ": ";
      Json before = change.get("before");
      Json after = change.get("after");
      if (before != null) {
        say("- " + key + JsonWriter.compact(before));
      }
      if (after != null) {
        say("+ " + key + JsonWriter.compact(after));
      }
    }
  }

  /** Returns what differs, by path; versions are left out, because saving gives a new one. */
  static List<Json> changes(Json.Obj before, Json.Obj after) {
    Map<String, Json> old = new TreeMap<>();
    Map<String, Json> all = new TreeMap<>();
    flatten("", before, old);
    flatten("", after, all);
    Map<String, Json> fresh = new TreeMap<>(all);
    old.forEach(all::putIfAbsent);
    List<Json> changes = new ArrayList<>();
    for (String key : all.keySet()) {
      Json was = old.get(key);
      Json is = fresh.get(key);
      boolean same = was != null && is != null && was.equals(is);
      if (!same && !key.equals("version_id")) {
        changes.add(
            Json.object()
                .put("key", key)
                .putIfPresent("before", was)
                .putIfPresent("after", is)
                .build());
      }
    }
    return changes;
  }

  private static void flatten(String path, Json.Obj object, Map<String, Json> into) {
    object
        .members()
        .forEach(
            (key, value) -> {
              String name = path.isEmpty() ? key : path + "." + key;
              if (value instanceof Json.Obj inner && !inner.isEmpty()) {
                flatten(name, inner, into);
              } else {
                into.put(name, value);
              }
            });
  }

  /** {@code job edit JOB}: edits a job in an editor, and saves it. */
  @Command(
      name = "edit",
      mixinStandardHelpOptions = true,
      description = {
        "Open the definition of a job in the editor that VISUAL or EDITOR names (default: vi), and"
            + " save it.",
        "Nothing is saved if nothing was changed, if the job has errors, or if somebody else has"
            + " saved it meanwhile; your text is kept then. Comments are not part of it."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier job edit backup --reason 'larger batches'"})
  public static final class Edit extends OfJob {
    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the history.")
    private String reason = "";

    public Edit(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body = asked(client);
      Json.Obj before = JsonFields.object(body, "original");
      Path file = written(JsonWriter.pretty(before) + "\n");
      try {
        edit(file);
        Json.Obj after = JobEditCommands.SaveJob.read(file.toString());
        if (changes(before, after).isEmpty()) {
          Files.delete(file);
          remark("nothing was changed");
          return ExitCode.OK;
        }
        Json.Obj saved =
            client.call(
                "PUT",
                ApiV1.JOB,
                Map.of("job", job()),
                JobEditCommands.DeleteJob.query(JsonFields.number(body, "version"), reason),
                after);
        Files.delete(file);
        return answered(
            saved, job() + " is saved as version " + JsonFields.number(saved, "version"));
      } catch (CommandException e) {
        throw new CommandException(
            e.exitCode(), e.getMessage() + System.lineSeparator() + "your text is in " + file, e);
      } catch (IOException e) {
        throw new CommandException(ExitCode.FAILED, "cannot delete " + file + ": " + e, e);
      }
    }

    /** Writes a file that nobody else can read: definitions may have secrets. */
    private static Path written(String text) {
      try {
        Path file = Files.createTempFile("espalier-job-", ".json");
        Files.writeString(file, text);
        return file;
      } catch (IOException e) {
        throw new CommandException(
            ExitCode.FAILED, "cannot write a file to edit: " + FileFailures.why(e), e);
      }
    }

    private static void edit(Path file) {
      String visual = System.getenv("VISUAL");
      String editor = visual == null || visual.isBlank() ? System.getenv("EDITOR") : visual;
      String program = editor == null || editor.isBlank() ? "vi" : editor;
      try {
        // The variable may have arguments, as in "code --wait": a shell takes it apart.
        int code =
            new ProcessBuilder("sh", "-c", program + " \"$1\"", "editor", file.toString())
                .inheritIO()
                .start()
                .waitFor();
        if (code != 0) {
          throw new CommandException(
              ExitCode.FAILED, "the editor \"" + program + "\" ended with " + code);
        }
      } catch (IOException e) {
        throw new CommandException(
            ExitCode.FAILED, "cannot start the editor \"" + program + "\": " + e, e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CommandException(ExitCode.FAILED, "interrupted", e);
      }
    }
  }
}
