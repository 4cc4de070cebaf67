package io.espalier.worker.process.spawn;

import io.espalier.core.config.task.ProcessAttributes.RunAs;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.TaskUser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Looks up users by name. Name services may be slow, so a thread of its own queries them, with
 * {@code getent} and {@code id}, and answers are cached for a minute. Confined to the supervisor's
 * thread.
 */
public final class TaskUsers implements AutoCloseable {
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long PATIENCE_SECONDS = 10;

  /** The names that the configuration allows too; none could be mistaken for an option. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}");

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");

  private final Consumer<Runnable> supervisor;
  private final Lookup lookup;
  private final ThreadFactory threads;
  private final Map<RunAs, Answer> answers = new HashMap<>();
  private @Nullable ExecutorService asker;

  private record Answer(@Nullable TaskUser user, String problem, long atNanos) {}

  /** Where users are looked up; may block. */
  interface Lookup {
    TaskUser of(RunAs wanted) throws IOException;
  }

  /**
   * @param supervisor runs actions on the supervisor's thread
   */
  public TaskUsers(Consumer<Runnable> supervisor) {
    this(
        supervisor,
        TaskUsers::lookUp,
        work -> {
          Thread thread = new Thread(work, "task-users");
          thread.setDaemon(true);
          return thread;
        });
  }

  TaskUsers(Consumer<Runnable> supervisor, Lookup lookup, ThreadFactory threads) {
    this.supervisor = supervisor;
    this.lookup = lookup;
    this.threads = threads;
  }

  /**
   * Looks up a user and calls back on the supervisor's thread, perhaps at once: with the user, or
   * with the problem.
   */
  public void find(RunAs wanted, BiConsumer<@Nullable TaskUser, String> then) {
    Answer known = answers.get(wanted);
    if (known != null && System.nanoTime() - known.atNanos() < KEPT_NANOS) {
      then.accept(known.user(), known.problem());
      return;
    }
    if (asker == null) {
      asker = Executors.newSingleThreadExecutor(threads);
    }
    try {
      asker.execute(
          () -> {
            Answer found = answer(wanted);
            supervisor.accept(
                () -> {
                  answers.put(wanted, found);
                  then.accept(found.user(), found.problem());
                });
          });
    } catch (OutOfMemoryError e) {
      // The virtual machine reports out of memory when it gets no thread.
      then.accept(null, problem(wanted, e));
    }
  }

  private Answer answer(RunAs wanted) {
    try {
      return new Answer(lookup.of(wanted), "", System.nanoTime());
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      // Without an answer the task would neither start nor end.
      return new Answer(null, problem(wanted, e), System.nanoTime());
    }
  }

  private static String problem(RunAs wanted, Throwable e) {
    return "run_as " + wanted.text() + ": " + e.getMessage();
  }

  private static TaskUser lookUp(RunAs wanted) throws IOException {
    String[] entry = entry("passwd", wanted.user(), "user");
    TaskUser user;
    if (entry.length < 6) {
      if (!NUMBER.matcher(wanted.user()).matches()) {
        throw new IOException("there is no user \"" + wanted.user() + "\"");
      }
      int uid = number(wanted.user());
      // An unassigned number: it has a group of its own, and no home.
      user = new TaskUser(wanted.user(), uid, uid, List.of(), "/");
    } else {
      user =
          new TaskUser(entry[0], number(entry[2]), number(entry[3]), groupsOf(entry[0]), entry[5]);
    }
    if (wanted.group().isPresent()) {
      String group = wanted.group().get();
      String[] found = entry("group", group, "group");
      if (found.length < 3 && !NUMBER.matcher(group).matches()) {
        throw new IOException("there is no group \"" + group + "\"");
      }
      int gid = number(found.length < 3 ? group : found[2]);
      user = new TaskUser(user.name(), user.uid(), gid, List.of(), user.home());
    }
    int we = ProcFs.effectiveUid();
    if (we != 0 && we != user.uid()) {
      throw new IOException("only root can run tasks as somebody else, and we run as uid " + we);
    }
    return user;
  }

  /** Returns the fields of an entry; an empty array when there is no such entry. */
  private static String[] entry(String database, String name, String what) throws IOException {
    if (!NAME.matcher(name).matches()) {
      throw new IOException("not the name of a " + what + ": \"" + name + "\"");
    }
    String line = null;
    if (Files.isExecutable(Path.of("/usr/bin/getent"))) {
      line = run("/usr/bin/getent", database, name);
    } else {
      boolean number = NUMBER.matcher(name).matches();
      for (String each : Files.readAllLines(Path.of("/etc", database))) {
        String[] fields = each.split(":", -1);
        if (fields.length > 2 && (fields[0].equals(name) || (number && fields[2].equals(name)))) {
          line = each;
          break;
        }
      }
    }
    return line == null || line.isBlank() ? new String[0] : line.strip().split(":", -1);
  }

  private static List<Integer> groupsOf(String name) throws IOException {
    List<Integer> groups = new ArrayList<>();
    String text = run("/usr/bin/id", "-G", name);
    for (String word : text == null ? new String[0] : text.strip().split("\\s+", -1)) {
      groups.add(number(word));
    }
    return groups;
  }

  private static int number(String text) throws IOException {
    try {
      // The largest number means "none" in many calls.
      long number = Long.parseLong(text);
      if (number >= 0 && number < 0x7fffffffL) {
        return (int) number;
      }
    } catch (NumberFormatException e) {
      throw new IOException("not a number of a user or group: \"" + text + "\"", e);
    }
    throw new IOException("not a number of a user or group: " + text);
  }

  /** Returns the output of a command; null when it reports that there is no entry. */
  private static @Nullable String run(String... command) throws IOException {
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException(command[0] + " did not answer within " + PATIENCE_SECONDS + " s");
      }
      try (InputStream in = process.getInputStream()) {
        String text = new String(in.readNBytes(1 << 16), StandardCharsets.UTF_8);
        return process.exitValue() == 0 ? text : null;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }

  @Override
  public void close() {
    if (asker != null) {
      asker.shutdownNow();
    }
  }
}
