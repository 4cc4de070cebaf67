package io.espalier.worker.process.spawn;

import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.TaskUser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Wraps a task's command to do what posix_spawn cannot, before the process becomes the task:
 * joining control groups, umask, nice, ionice, another user. A fixed shell script does this and
 * then execs the next program. All variable parts are arguments of their own; none is ever part of
 * the script's text. Tasks that need none of this start without it.
 *
 * <p>The script writes to the status path, in a line with the secret of this run, that it is about
 * to exec the task, and in another line if that failed. A process that ends without the first line
 * never was the task.
 */
public final class ExecWrapper {
  private static final String NAME = "espalier-start";
  private static final Path NICE = Path.of("/usr/bin/nice");
  private static final Path IONICE = Path.of("/usr/bin/ionice");
  private static final Path SETPRIV = Path.of("/usr/bin/setpriv");
  private static final Path ENV = Path.of("/usr/bin/env");
  private static final Path SHELL = Path.of("/bin/sh");

  private final String join;
  private final String finish;

  public ExecWrapper() {
    join = script("join.sh");
    finish = script("finish.sh");
  }

  /**
   * What a task requires before it begins.
   *
   * @param joinFiles join files of control groups
   * @param user null: the user of this process
   */
  public record Wish(List<Path> joinFiles, ProcessAttributes attributes, @Nullable TaskUser user) {
    public Wish {
      joinFiles = List.copyOf(joinFiles);
    }

    /** Returns whether posix_spawn alone suffices. */
    public boolean isEmpty() {
      return joinFiles.isEmpty()
          && attributes.umask().isEmpty()
          && attributes.nice().isEmpty()
          && attributes.ioNice().isEmpty()
          && user == null;
    }
  }

  /** The command that starts instead of the task. */
  public record Command(Path executable, List<String> argv, List<String> environment) {}

  private static String script(String name) {
    try (var in = ExecWrapper.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is missing from the distribution");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param argv argv of the task; {@code program} replaces its first word
   * @param markPath path to which the script writes its marks
   * @throws IOException naming what this host lacks
   */
  public Command before(
      Path program,
      List<String> argv,
      List<String> environment,
      Wish wish,
      String markPath,
      String secret)
      throws IOException {
    List<String> next = new ArrayList<>();
    List<String> outer = environment;
    ProcessAttributes attributes = wish.attributes();
    if (attributes.nice().isPresent()) {
      int ours = ProcFs.ownNice();
      int wanted = attributes.nice().getAsInt();
      if (wanted < ours && ProcFs.effectiveUid() != 0) {
        // The tool would only print a warning and continue.
        throw new IOException("nice " + wanted + ": only root may favour tasks over itself");
      }
      next.addAll(List.of(tool(NICE, "nice"), "-n", Integer.toString(wanted - ours)));
    }
    if (attributes.ioNice().isPresent()) {
      ProcessAttributes.IoNice ioNice = attributes.ioNice().get();
      next.addAll(
          List.of(tool(IONICE, "ionice"), "-c", Integer.toString(ioNice.ioClass().number())));
      if (ioNice.ioClass() != ProcessAttributes.IoClass.IDLE) {
        next.addAll(List.of("-n", Integer.toString(ioNice.level())));
      }
    }
    TaskUser user = wish.user();
    if (user != null) {
      next.addAll(
          List.of(
              tool(SETPRIV, "run_as"),
              "--reuid=" + user.uid(),
              "--regid=" + user.gid(),
              user.groups().isEmpty()
                  ? "--clear-groups"
                  : "--groups="
                      + String.join(",", user.groups().stream().map(String::valueOf).toList()),
              "--inh-caps=-all",
              "--"));
      // Before the change of user, nothing that a job sets may have an effect, above all
      // LD_PRELOAD.
      outer = environment.stream().filter(ExecWrapper::isOurs).toList();
      next.addAll(List.of(tool(ENV, "run_as"), "-i", "--"));
      next.addAll(environment);
    }
    String script = join;
    if (next.isEmpty()) {
      script += finish;
    } else {
      next.addAll(List.of(SHELL.toString(), "-c", finish, NAME));
    }
    List<String> all = new ArrayList<>(List.of(SHELL.toString(), "-c", script, NAME));
    all.add(
        attributes.umask().isPresent() ? Integer.toOctalString(attributes.umask().getAsInt()) : "");
    all.add(Integer.toString(wish.joinFiles().size()));
    wish.joinFiles().forEach(file -> all.add(file.toString()));
    if (!next.isEmpty()) {
      all.add("exec");
    } else {
      all.add("go on");
    }
    all.addAll(next);
    all.add(markPath);
    all.add(secret);
    all.add(program.toString());
    all.addAll(argv.subList(1, argv.size()));
    return new Command(SHELL, all, outer);
  }

  private static boolean isOurs(String variable) {
    return variable.startsWith("ESPALIER_TASK_");
  }

  private static String tool(Path path, String option) throws IOException {
    if (!Files.isExecutable(path)) {
      throw new IOException(option + " needs " + path + ", which is not on this host");
    }
    return path.toString();
  }
}
