package io.espalier.worker.process.spawn;

import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.os.Signals;
import io.espalier.worker.process.output.Channel;
import io.espalier.worker.process.output.StatusLine;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Starts processes with {@link ProcessBuilder}, for platforms without the native mechanism. It
 * needs three threads per task. The status path is a plain file, read after the process has exited.
 * Descendants are detected as members of the task's session, and their output after the exit of the
 * task's own process is lost. Without {@code setsid} there are no process groups, and signals reach
 * only the task's own process.
 */
public final class JdkProcesses implements ProcessBackend {
  private static final int DESCRIPTORS = 3;
  private static final int CHUNK = 8192;
  private static final long FIRST_LOOK_MILLIS = 20;
  private static final long LAST_LOOK_MILLIS = 1000;

  /**
   * Distinguishes a closed gate from the task's own results, by a file that only this script
   * creates.
   */
  private static final String PASS =
      "closed=$1; shift; [ -e \"$0\" ] || { : > \"$closed\"; exit 1; }; exec \"$@\"";

  private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final @Nullable Path gate;
  private final boolean sessions = Files.isExecutable(Path.of("/usr/bin/setsid"));

  /**
   * @param gate file without which nothing starts; null: there is no gate
   */
  public JdkProcesses(@Nullable Path gate) {
    this.gate = gate;
  }

  @Override
  public String description() {
    return "ProcessBuilder" + (sessions ? " with setsid" : ", without process groups");
  }

  @Override
  public int capacity() {
    return ProcFs.descriptorsFor(DESCRIPTORS);
  }

  @Override
  public String statusPath(Path fallback) {
    return fallback.toString();
  }

  @Override
  public String markPath(Path fallback) {
    // Not the status file: a task may replace that.
    return markFile(fallback).toString();
  }

  private static Path markFile(Path statusFile) {
    return statusFile.resolveSibling(statusFile.getFileName() + ".mark");
  }

  private static Path closedFile(Path statusFile) {
    return statusFile.resolveSibling(statusFile.getFileName() + ".closed");
  }

  @Override
  public boolean canTell() {
    return false;
  }

  @Override
  public void spawn(Spawn spawn, Events events) {
    List<String> command = new ArrayList<>();
    if (sessions) {
      command.add("/usr/bin/setsid");
    }
    if (gate != null) {
      command.addAll(
          List.of(
              "/bin/sh", "-c", PASS, gate.toString(), closedFile(spawn.statusFile()).toString()));
    }
    command.add(spawn.executable().toString());
    command.addAll(spawn.argv().subList(1, spawn.argv().size()));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(spawn.directory().toFile())
            .redirectInput(Path.of("/dev/null").toFile());
    Map<String, String> environment = builder.environment();
    environment.clear();
    for (String variable : spawn.environment()) {
      int equals = variable.indexOf('=');
      environment.put(variable.substring(0, equals), variable.substring(equals + 1));
    }
    try {
      JsonArgument.writePrivately(spawn.statusFile(), "", spawn.owner());
      JsonArgument.writePrivately(markFile(spawn.statusFile()), "", spawn.owner());
      JdkChild child = new JdkChild(builder.start(), spawn, events);
      queue.add(
          () -> {
            events.started(child);
            child.begin();
          });
    } catch (IOException e) {
      String cause = e.getMessage() == null ? e.toString() : e.getMessage();
      queue.add(() -> events.failed("cannot start " + spawn.executable() + ": " + cause, false));
    }
  }

  @Override
  public void await(long timeoutNanos) {
    try {
      Runnable first =
          timeoutNanos < 0 ? queue.take() : queue.poll(timeoutNanos, TimeUnit.NANOSECONDS);
      for (Runnable next = first; next != null; next = queue.poll()) {
        next.run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void wakeUp() {
    queue.add(() -> {});
  }

  @Override
  public void close() {
    queue.clear();
  }

  private final class JdkChild implements Child {
    private final Process process;
    private final Spawn spawn;
    private final Events events;
    private final Semaphore[] turns = {new Semaphore(1), new Semaphore(1)};
    private final boolean[] paused = new boolean[2];
    private final boolean[] withheld = new boolean[2];

    JdkChild(Process process, Spawn spawn, Events events) {
      this.process = process;
      this.spawn = spawn;
      this.events = events;
    }

    void begin() {
      thread("out", () -> pump(Channel.STDOUT, process.getInputStream()));
      thread("err", () -> pump(Channel.STDERR, process.getErrorStream()));
      thread("end", this::awaitEnd);
    }

    private void thread(String what, Runnable work) {
      Thread thread = new Thread(null, work, "task-" + pid() + "-" + what, 1 << 17);
      thread.setDaemon(true);
      thread.start();
    }

    private void pump(Channel channel, InputStream in) {
      byte[] bytes = new byte[CHUNK];
      Semaphore turn = turns[channel.index()];
      try (in) {
        turn.acquire();
        for (int length = in.read(bytes); length > 0; length = in.read(bytes)) {
          int count = length;
          queue.add(() -> deliver(channel, bytes, count));
          turn.acquire();
        }
      } catch (IOException e) {
        // The other end is gone: there is no more output, which is what we report.
        queue.add(() -> events.closed(channel));
        return;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      queue.add(() -> events.closed(channel));
    }

    private void deliver(Channel channel, byte[] bytes, int length) {
      int i = channel.index();
      events.output(channel, bytes, length);
      if (paused[i]) {
        withheld[i] = true;
      } else {
        turns[i].release();
      }
    }

    private void awaitEnd() {
      try {
        int result = process.waitFor();
        if (gate != null && Files.exists(closedFile(spawn.statusFile()))) {
          queue.add(
              () -> {
                release();
                events.failed("the lease of this worker has run out", true);
              });
          return;
        }
        // The JDK, like shells, folds a signal into the exit code: the two cannot be distinguished.
        Exit exit =
            result > 128 && result < 160
                ? new Exit(null, result - 128, false, ResourceUsage.UNKNOWN)
                : new Exit(result, null, false, ResourceUsage.UNKNOWN);
        byte[] marks = tail(markFile(spawn.statusFile()));
        byte[] status = tail(spawn.statusFile());
        queue.add(
            () -> {
              events.output(Channel.STATUS, marks, marks.length);
              events.output(Channel.STATUS, status, status.length);
              events.closed(Channel.STATUS);
              events.exited(exit);
            });
        if (spawn.canary()) {
          long wait = FIRST_LOOK_MILLIS;
          while (sessions && isSessionAlive()) {
            TimeUnit.MILLISECONDS.sleep(wait);
            wait = Math.min(2 * wait, LAST_LOOK_MILLIS);
          }
          queue.add(() -> events.closed(Channel.CANARY));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static byte[] tail(Path of) {
      try (FileChannel file = FileChannel.open(of, StandardOpenOption.READ)) {
        ByteBuffer tail = ByteBuffer.allocate(2 * StatusLine.MAX_LINE);
        long at = Math.max(0, file.size() - tail.capacity());
        while (tail.hasRemaining()) {
          int read = file.read(tail, at + tail.position());
          if (read < 0) {
            break;
          }
        }
        byte[] bytes = new byte[tail.position()];
        tail.flip().get(bytes);
        return bytes;
      } catch (IOException e) {
        return new byte[0];
      }
    }

    private boolean isSessionAlive() {
      try {
        for (long pid : ProcFs.pids()) {
          if (ProcFs.stat(pid).filter(s -> s.isAlive() && s.session() == pid()).isPresent()) {
            return true;
          }
        }
        return false;
      } catch (IOException e) {
        // What cannot be examined may exist.
        return true;
      }
    }

    @Override
    public long pid() {
      return process.pid();
    }

    @Override
    public List<Channel> channels() {
      return spawn.canary()
          ? List.of(Channel.STDOUT, Channel.STDERR, Channel.STATUS, Channel.CANARY)
          : List.of(Channel.STDOUT, Channel.STDERR, Channel.STATUS);
    }

    @Override
    public void pause(Channel channel) {
      paused[channel.index()] = true;
    }

    @Override
    public void resume(Channel channel) {
      int i = channel.index();
      if (i < paused.length && paused[i]) {
        paused[i] = false;
        if (withheld[i]) {
          withheld[i] = false;
          turns[i].release();
        }
      }
    }

    @Override
    public void signal(int signal) {
      if (!sessions) {
        if (signal == Signals.KILL) {
          process.destroyForcibly();
        } else {
          process.destroy();
        }
      } else if (process.isAlive() ? awaitGroup() : isSessionAlive()) {
        Signals.group(pid(), signal);
      }
    }

    /** Waits for setsid, because before it there is no group to signal. */
    private boolean awaitGroup() {
      for (int i = 0; i < 1000 && process.isAlive(); i++) {
        try {
          if (ProcFs.stat(pid()).filter(stat -> stat.group() == pid()).isPresent()) {
            return true;
          }
          TimeUnit.MILLISECONDS.sleep(1);
        } catch (IOException e) {
          return true;
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return false;
        }
      }
      return process.isAlive();
    }

    @Override
    public boolean tell(String line) {
      return false;
    }

    @Override
    public void tellEnd() {
      // Its stdin was empty from the start.
    }

    @Override
    public void release() {
      try {
        Files.deleteIfExists(spawn.statusFile());
        Files.deleteIfExists(markFile(spawn.statusFile()));
        Files.deleteIfExists(closedFile(spawn.statusFile()));
      } catch (IOException e) {
        // The file stays in our private directory; the next start empties it.
        return;
      }
    }
  }
}
