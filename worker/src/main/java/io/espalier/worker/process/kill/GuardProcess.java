package io.espalier.worker.process.kill;

import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.Signals;
import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The program of the {@link LeaseGuard}: kills the tasks of a scheduler or worker that has died, or
 * whose lease has expired. It runs in a small virtual machine of its own. When it must kill, it
 * needs no fork, no new thread and no class that it has not used before, so it works on a host that
 * has run out of processes or descriptors.
 *
 * <p>Arguments: journal, cookie, gate. Its stdin is a pipe from the guarded process, with the
 * messages:
 *
 * <ul>
 *   <li>{@code lease U W}: tasks may live until {@code /proc/uptime} reaches U (in hundredths) or
 *       the clock reaches W (in ms), whichever comes first;
 *   <li>{@code sync N}: answered by {@code synced N} once nothing is being killed;
 *   <li>{@code ping N}: answered by {@code pong N WHY} at once; WHY names the reason while it is
 *       killing;
 *   <li>{@code done}: a clean end.
 * </ul>
 *
 * <p>End of file means that the process has died. Without a lease there is no deadline. The gate is
 * a file that exists while there is a lease; no task can start without it. It contains the expiry
 * of the last lease, as {@code /proc/uptime} counts.
 */
public final class GuardProcess {
  private static final String END_OF_FILE = "";

  /** The longest wait, because clocks jump. */
  private static final long LONGEST_WAIT_MILLIS = 2_000;

  /**
   * Grace in which messages that arrived while this process was delayed are read before it kills.
   */
  private static final long LATE_MILLIS = 50;

  /**
   * The number of searches that must find nothing: a program that is just being loaded shows
   * neither name nor environment.
   */
  private static final int QUIET_ROUNDS = 4;

  private static final long FIRST_PAUSE_MILLIS = 20;
  private static final long LAST_PAUSE_MILLIS = 1_000;
  private static final int DESCRIPTORS_IN_RESERVE = 4;

  private final Path journal;
  private final String cookie;
  private final Path gate;
  private final FileInputStream in = new FileInputStream(FileDescriptor.in);
  private final PrintStream out;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final List<Closeable> reserve = new ArrayList<>();
  private final List<String> syncs = new ArrayList<>();
  private Journal.Left known;
  private String problem = "";
  private boolean unreadable;
  private boolean leased;
  private boolean inForce;
  private boolean ended;
  private long untilUptime;
  private long untilClock;
  private long ranOutAt;

  private GuardProcess(Path journal, String cookie, Path gate, PrintStream out) {
    this.journal = journal;
    this.cookie = cookie;
    this.gate = gate;
    this.out = out;
    this.known = new Journal.Left(cookie, ProcFs.bootId(), List.of());
  }

  /**
   * Runs until its stdin reports a clean end, or closes; in the latter case everything has been
   * killed.
   */
  public static void main(String[] args) throws InterruptedException {
    GuardProcess guard = new GuardProcess(Path.of(args[0]), args[1], Path.of(args[2]), System.out);
    guard.survive();
    guard.rehearse();
    Thread reader = new Thread(guard::readLines, "guard-input");
    reader.setDaemon(true);
    reader.start();
    guard.run();
  }

  /** Asks the kernel to kill the guard last when the host runs out of memory. */
  private void survive() {
    try {
      Files.writeString(Path.of("/proc/self/oom_score_adj"), "-1000");
    } catch (IOException e) {
      // Only root may lower it. A guard that is killed is replaced.
      reserve.clear();
    }
    for (int i = 0; i < DESCRIPTORS_IN_RESERVE; i++) {
      try {
        reserve.add(new FileInputStream("/dev/null"));
      } catch (IOException e) {
        return;
      }
    }
  }

  /**
   * Executes once, with nothing to kill, all that happens at the deadline: no class may have to be
   * loaded then, from a file that may have been replaced or with memory that is not available.
   */
  private void rehearse() {
    Path group = gate.resolveSibling("rehearsal-" + ProcessHandle.current().pid());
    List<Path> files =
        List.of(group.resolve("cgroup.procs"), group.resolve("freezer.state"), group);
    try {
      Files.createDirectory(group);
      Files.writeString(files.get(0), "");
      Files.writeString(files.get(1), "FROZEN");
      Journal.Left nobody =
          new Journal.Left(
              "nobody",
              ProcFs.bootId(),
              "",
              Long.MAX_VALUE,
              List.of(new Journal.Entry("nobody", Integer.MAX_VALUE, 1)),
              List.of(new Journal.Group("nobody", group)));
      JournalKiller.Found found = kill(new JournalKiller(), nobody, JournalKiller.Reach.RUN);
      TaskGroup fake = TaskGroup.existing(List.of(group));
      TaskGroup.Killing step = fake.kill(Signals::kill);
      fake.thaw();
      problem = step + " " + found + left() + new JournalKiller.Found(Map.of(1L, ""), List.of("-"));
    } catch (IOException e) {
      problem = e.toString();
    }
    for (Path file : files) {
      delete(file);
    }
    boolean unused = read();
    problem = "";
  }

  private void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      problem = e.toString();
    }
  }

  private void readLines() {
    StringBuilder line = new StringBuilder();
    byte[] bytes = new byte[1 << 12];
    try {
      for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
        for (int i = 0; i < count; i++) {
          if (bytes[i] == '\n') {
            lines.add(line.toString());
            line.setLength(0);
          } else {
            line.append((char) bytes[i]);
          }
        }
      }
    } catch (IOException e) {
      // The pipe is unusable: treated as its end.
      line.setLength(0);
    }
    lines.add(END_OF_FILE);
  }

  private void run() throws InterruptedException {
    while (!ended) {
      String line = next();
      if (line == null) {
        runOut();
      } else if (line.equals(END_OF_FILE)) {
        runOut();
        return;
      } else {
        heed(line);
        heedWhatIsThere();
        settle();
      }
    }
  }

  /** Returns the next message; null: the lease has expired and no received message changes that. */
  private @Nullable String next() throws InterruptedException {
    while (true) {
      long left = inForce ? left() : Long.MAX_VALUE;
      if (left <= 0) {
        // A guard that got little CPU time must not act on a lease that was renewed long ago.
        String late = lines.poll(LATE_MILLIS, TimeUnit.MILLISECONDS);
        if (late != null || !isInputWaiting()) {
          return late;
        }
        continue;
      }
      String line =
          inForce
              ? lines.poll(Math.min(left, LONGEST_WAIT_MILLIS), TimeUnit.MILLISECONDS)
              : lines.take();
      if (line != null) {
        return line;
      }
    }
  }

  private boolean isInputWaiting() {
    try {
      return in.available() > 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the remaining milliseconds of the lease. */
  private long left() {
    long byUptime = (untilUptime - ProcFs.uptimeTicks()) * 10;
    return Math.min(byUptime, untilClock - System.currentTimeMillis());
  }

  private void heedWhatIsThere() {
    for (String line = lines.peek();
        line != null && !line.equals(END_OF_FILE);
        line = lines.peek()) {
      lines.remove();
      heed(line);
    }
  }

  private void heed(String line) {
    String[] words = line.split(" ", -1);
    switch (words[0]) {
      case "done" -> ended = true;
      case "lease" -> lease(words);
      case "sync" -> syncs.add(words[1]);
      case "ping" -> pong(words[1], "");
      default -> {}
    }
  }

  private void pong(String number, String killing) {
    out.println("pong " + number + " " + killing + (killing.isEmpty() ? "" : " ") + problem);
  }

  private void lease(String[] words) {
    try {
      untilUptime = Long.parseLong(words[1]);
      untilClock = Long.parseLong(words[2]);
      leased = true;
      inForce = true;
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      problem = "not understood: " + String.join(" ", words);
    }
  }

  /**
   * Applies the newest lease after all messages have been read, and opens the gate if the lease is
   * in force.
   */
  private void settle() {
    if (inForce && left() > 0) {
      read();
      try {
        if (!Files.exists(gate)) {
          Files.writeString(gate, Long.toString(ranOutAt));
        }
      } catch (IOException e) {
        problem = e.toString();
      }
    }
    if (!inForce || left() > 0) {
      answer();
    }
  }

  private void answer() {
    syncs.forEach(number -> out.println("synced " + number));
    syncs.clear();
  }

  /** Closes the gate first, then kills what runs. */
  private void runOut() throws InterruptedException {
    inForce = false;
    ranOutAt = ProcFs.uptimeTicks();
    problem = "";
    for (Closeable spare : reserve) {
      try {
        spare.close();
      } catch (IOException e) {
        problem = e.toString();
      }
    }
    reserve.clear();
    delete(gate);
    if (!leased) {
      warnThose();
    }
    JournalKiller killer = new JournalKiller();
    JournalKiller.Reach reach = leased ? JournalKiller.Reach.RUN : JournalKiller.Reach.INVOCATIONS;
    long pause = FIRST_PAUSE_MILLIS;
    int quiet = 0;
    while (quiet < QUIET_ROUNDS && !ended) {
      boolean isOurs = read();
      JournalKiller.Found found =
          kill(
              killer,
              leased ? known : known.killed(),
              // If somebody deleted the journal with its directory, the tasks are not wanted
              // either.
              isOurs ? reach : JournalKiller.Reach.RUN);
      // Entries since the last look may be in a journal that cannot be read.
      boolean nothing = found.isNothing() && !unreadable && !Files.exists(gate);
      quiet = nothing ? quiet + 1 : 0;
      delete(gate);
      tellWhileKilling(found.toString());
      if (quiet < QUIET_ROUNDS) {
        TimeUnit.MILLISECONDS.sleep(nothing ? 100 : pause);
        pause = Math.min(2 * pause, LAST_PAUSE_MILLIS);
      }
    }
    settle();
  }

  private static JournalKiller.Found kill(
      JournalKiller killer, Journal.Left left, JournalKiller.Reach reach) {
    return killer.round(left, reach, invocation -> Signals.KILL);
  }

  /** Sends signals other than KILL, once; the reaction is up to the task. */
  private void warnThose() {
    boolean unused = read();
    for (Journal.Entry entry : known.entries()) {
      if (entry.signal() != Signals.KILL && entry.signal() != 0) {
        JournalKiller.Found unusedToo =
            new JournalKiller()
                .round(
                    known.withEntries(List.of(entry)),
                    JournalKiller.Reach.INVOCATIONS,
                    invocation -> invocation.equals(entry.invocation()) ? entry.signal() : 0);
      }
    }
  }

  /** Answers messages during a kill. Leases that arrive meanwhile take effect only after it. */
  private void tellWhileKilling(String what) {
    for (String line = lines.peek();
        line != null && !line.equals(END_OF_FILE);
        line = lines.peek()) {
      lines.remove();
      if (line.startsWith("ping ")) {
        pong(line.substring(5), what);
      } else {
        heed(line);
      }
    }
  }

  /**
   * Reads the journal; the previous content stays when it cannot be read.
   *
   * @return true when it exists and belongs to our run
   */
  private boolean read() {
    unreadable = false;
    try {
      Journal.Left now = Journal.parse(Files.readAllLines(journal, StandardCharsets.UTF_8));
      if (now.cookie().equals(cookie)) {
        known = now;
        return true;
      }
      return false;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      problem = e.toString();
      unreadable = true;
      return true;
    }
  }
}
