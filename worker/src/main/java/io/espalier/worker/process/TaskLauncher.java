package io.espalier.worker.process;

import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.LaunchSpec;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.os.FileNames;
import io.espalier.worker.process.os.TaskUser;
import io.espalier.worker.process.spawn.BatchFile;
import io.espalier.worker.process.spawn.CommandLine;
import io.espalier.worker.process.spawn.ExecWrapper;
import io.espalier.worker.process.spawn.JsonArgument;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.process.spawn.TaskEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns a launch into what a mechanism starts: command, environment, working directory, files,
 * control groups, and the prelude for tasks that need one. Confined to the supervisor's thread.
 */
final class TaskLauncher {
  private final SupervisorOptions options;
  private final ProcessBackend processes;
  private final TaskCgroups groups;
  private final Path runningDirectory;
  private final String cookie;
  private final TaskEnvironment environment;
  private final ExecWrapper prelude = new ExecWrapper();
  private final Map<String, Path> jobDirectories = new HashMap<>();
  private long fileSequence;

  /**
   * A prepared start.
   *
   * @param argv as the task sees it
   * @param files what was given to it in files
   * @param throttleFile where it reads how fast to work
   * @param group null: it has none
   * @param unmetLimits optional limits that are not in force
   * @param secret prefix of the prelude's marks; null: there is no prelude
   */
  record Prepared(
      ProcessBackend.Spawn spawn,
      List<String> argv,
      List<JsonArgument> files,
      Path throttleFile,
      @Nullable TaskGroup group,
      boolean killsStrays,
      List<String> unmetLimits,
      @Nullable String secret) {

    /** Deletes the files that it was given. */
    void deleteFiles() {
      files.forEach(JsonArgument::delete);
    }
  }

  TaskLauncher(
      SupervisorOptions options,
      ProcessBackend processes,
      TaskCgroups groups,
      Path runningDirectory,
      String cookie) {
    this.options = options;
    this.processes = processes;
    this.groups = groups;
    this.runningDirectory = runningDirectory;
    this.cookie = cookie;
    this.environment = new TaskEnvironment(options.environment());
  }

  /**
   * Prepares the start of a task, or of a batch.
   *
   * @param launch the task, or the first of the batch
   * @param batch all tasks of the batch; empty: the task is alone
   * @param user the user it becomes; null: no other user
   * @throws IOException with the cause, when it cannot be started
   * @throws IllegalArgumentException when its command is wrong
   */
  Prepared prepare(LaunchSpec launch, List<LaunchSpec> batch, @Nullable TaskUser user)
      throws IOException {
    long number = ++fileSequence;
    Path batchFile = batch.isEmpty() ? null : runningDirectory.resolve(number + ".batch");
    Path statusFile = runningDirectory.resolve(number + ".status");
    String statusPath = processes.statusPath(statusFile);
    JsonArgument json =
        new JsonArgument(
            JsonWriter.compact(
                batchFile == null ? launch.argument() : BatchFile.common(launch.argument())),
            runningDirectory.resolve(number + ".json"),
            user);
    List<String> command = launch.command().isEmpty() ? options.workerCommand() : launch.command();
    if (command.isEmpty()) {
      throw new IOException("the job has no command, and there is no worker command");
    }
    Map<String, String> variables = environment.variables(launch.subprocess().variables(), user);
    Path program =
        CommandLine.resolve(
            command.get(0), options.configDirectory(), variables.getOrDefault("PATH", ""));
    Path directory = jobDirectory(launch.job(), user);
    List<String> argv = CommandLine.argv(launch, command, statusPath, json, batchFile);
    List<String> entries =
        TaskEnvironment.of(
            launch, variables, cookie, statusPath, System.currentTimeMillis(), batchFile);
    Path throttleFile = runningDirectory.resolve(number + ".throttle").toAbsolutePath();
    entries.add(ThrottleFile.VARIABLE + "=" + throttleFile);
    TaskCgroups.Made made = groups.make(launch);
    TaskGroup group = made == null ? null : made.group();
    try {
      ExecWrapper.Wish wish =
          new ExecWrapper.Wish(
              group == null ? List.of() : group.joinFiles(),
              launch.subprocess().attributes(),
              user);
      Path executable = program;
      List<String> started = argv;
      String secret = null;
      if (!wish.isEmpty()) {
        secret = cookie;
        ExecWrapper.Command before =
            prelude.before(program, argv, entries, wish, processes.markPath(statusFile), secret);
        executable = before.executable();
        started = before.argv();
        entries = before.environment();
      }
      List<JsonArgument> files = List.of(json);
      if (batchFile != null) {
        JsonArgument tasks = new JsonArgument(BatchFile.text(batch), batchFile, user);
        Path unused = tasks.file();
        files = List.of(json, tasks);
      }
      return new Prepared(
          new ProcessBackend.Spawn(
              executable,
              started,
              entries,
              directory,
              launch.subprocess().useCanaryPipe(),
              batchFile != null && processes.canTell(),
              statusFile,
              user),
          argv,
          files,
          throttleFile,
          group,
          made != null && made.killsStrays(),
          made == null ? List.of() : made.unmet(),
          secret);
    } catch (IOException e) {
      if (group != null) {
        group.remove().forEach(problem -> e.addSuppressed(new IOException(problem)));
      }
      throw e;
    }
  }

  private Path jobDirectory(String job, @Nullable TaskUser user) throws IOException {
    Path directory =
        jobDirectories.computeIfAbsent(
            job,
            name ->
                options
                    .dataDirectory()
                    .resolve("jobs")
                    .resolve(FileNames.encode(name))
                    .toAbsolutePath());
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(directory);
    }
    if (user != null) {
      if (!user.owns(directory)) {
        user.own(directory);
      }
      user.requireAccess(directory);
    }
    return directory;
  }
}
