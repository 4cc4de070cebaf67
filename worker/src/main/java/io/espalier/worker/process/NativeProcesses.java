package io.espalier.worker.process;

import com.sun.jna.Memory;
import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Processes by posix_spawn, their pipes and ends by one epoll: no thread, five descriptors per
 * task.
 *
 * <p>A start blocks its thread until the child has called exec, so starts have two threads of their
 * own. A child that has exited stays a zombie until it is released: as long as that is so its
 * number, and its group's, cannot belong to anybody else, and signals cannot hit a stranger.
 */
final class NativeProcesses implements Processes {
  /** Four pipes and the pidfd. */
  private static final int DESCRIPTORS = 5;

  private static final int SPAWNERS = 2;
  private static final int MAX_EVENTS = 256;
  private static final int READ_SIZE = 1 << 16;
  private static final int EXIT_KIND = 7;
  private static final int WAKE = 0;

  private final int epoll;
  private final int wakeFd;
  private final int eventSize;
  private final int dataOffset;
  private final Memory event = new Memory(16);
  private final Memory events;
  private final Memory buffer = new Memory(READ_SIZE);
  private final Memory info = new Memory(128);
  private final Memory one = new Memory(8);
  private final byte[] bytes = new byte[READ_SIZE];
  private final Map<Long, NativeChild> children = new HashMap<>();
  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  private final Queue<Runnable> results = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean wakePending = new AtomicBoolean();
  private final List<Thread> spawners = new ArrayList<>();
  private final @Nullable Path gate;
  private long nextSerial = 1;

  private record Request(Spawn spawn, Events events) {}

  private NativeProcesses(@Nullable Path gate) {
    this.gate = gate;
    // struct epoll_event is packed on x86-64 only.
    boolean packed = Platform.isIntel();
    eventSize = packed ? 12 : 16;
    dataOffset = packed ? 4 : 8;
    events = new Memory((long) eventSize * MAX_EVENTS);
    epoll = NativeSpawner.check("epoll_create1", Libc.epoll_create1(Libc.O_CLOEXEC));
    wakeFd = NativeSpawner.check("eventfd", Libc.eventfd(0, Libc.O_CLOEXEC | Libc.O_NONBLOCK));
    one.setLong(0, 1);
    watch(wakeFd, WAKE);
    for (int i = 0; i < SPAWNERS; i++) {
      NativeSpawner spawner = new NativeSpawner(gate);
      Thread thread = new Thread(() -> spawnAll(spawner), "task-spawner-" + i);
      thread.setDaemon(true);
      spawners.add(thread);
    }
    spawners.forEach(Thread::start);
  }

  /**
   * @param gate without this file nothing is started; null: there is no gate
   * @throws IOException saying what this platform lacks
   */
  static NativeProcesses open(@Nullable Path gate) throws IOException {
    try {
      if (!Platform.isLinux() || !Platform.is64Bit()) {
        throw new IOException("native process starts need 64-bit Linux");
      }
      long pidfd = Libc.syscall(Libc.SYS_PIDFD_OPEN, ProcessHandle.current().pid(), 0);
      if (pidfd < 0) {
        throw new IOException("pidfd_open: " + Libc.strerror(Libc.errno()));
      }
      Libc.close((int) pidfd);
      return new NativeProcesses(gate);
    } catch (LinkageError | IllegalStateException e) {
      throw new IOException("native process starts are not available: " + e.getMessage(), e);
    }
  }

  @Override
  public String description() {
    return "posix_spawn, epoll and pidfd";
  }

  @Override
  public int capacity() {
    return ProcFs.descriptorsFor(DESCRIPTORS);
  }

  @Override
  public String statusPath(Path fallback) {
    return "/dev/fd/" + NativeSpawner.STATUS_FD;
  }

  @Override
  public void spawn(Spawn spawn, Events sink) {
    requests.add(new Request(spawn, sink));
  }

  private void spawnAll(NativeSpawner spawner) {
    try (spawner) {
      while (true) {
        Request request = requests.take();
        try {
          NativeSpawner.Spawned spawned = spawner.spawn(request.spawn());
          results.add(() -> register(spawned, request.events()));
        } catch (RuntimeException e) {
          String cause = "cannot start " + request.spawn().executable() + ": " + e;
          results.add(() -> request.events().failed(cause, true));
        }
        wakeUp();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void register(NativeSpawner.Spawned spawned, Events sink) {
    if (spawned.pid < 0) {
      if (gate != null && spawned.error == Libc.ENOENT && !Files.exists(gate)) {
        sink.failed("the lease of this worker has run out", true);
        return;
      }
      String why =
          spawned.error == Libc.ENOEXEC
              ? "not in a format that can be run (a script needs a first line like #!/bin/sh)"
              : Libc.strerror(spawned.error);
      sink.failed("cannot " + spawned.failed + ": " + why, Libc.isShortage(spawned.error));
      return;
    }
    NativeChild child = new NativeChild(nextSerial++, spawned, sink);
    children.put(child.serial, child);
    sink.started(child);
    for (Channel channel : child.channels()) {
      child.resume(channel);
    }
    watch(child.pidfd, child.serial << 3 | EXIT_KIND);
  }

  @Override
  public void await(long timeoutNanos) {
    int timeout =
        timeoutNanos < 0
            ? -1
            : (int) Math.min(Integer.MAX_VALUE, (timeoutNanos + 999_999) / 1_000_000);
    int count = Libc.epoll_wait(epoll, events, MAX_EVENTS, timeout);
    for (int i = 0; i < count; i++) {
      long data = events.getLong((long) i * eventSize + dataOffset);
      if (data == WAKE) {
        Libc.read(wakeFd, buffer, 8);
        wakePending.set(false);
      } else {
        NativeChild child = children.get(data >>> 3);
        if (child != null) {
          int kind = (int) (data & 7);
          if (kind == EXIT_KIND) {
            child.collectExit();
          } else {
            child.read(Channel.of(kind));
          }
        }
      }
    }
    for (Runnable result = results.poll(); result != null; result = results.poll()) {
      result.run();
    }
  }

  @Override
  public void wakeUp() {
    if (wakePending.compareAndSet(false, true)) {
      Libc.write(wakeFd, one, 8);
    }
  }

  private void watch(int fd, long data) {
    event.setInt(0, Libc.EPOLLIN);
    event.setLong(dataOffset, data);
    NativeSpawner.check("epoll_ctl", Libc.epoll_ctl(epoll, Libc.EPOLL_CTL_ADD, fd, event));
  }

  private void unwatch(int fd) {
    Libc.epoll_ctl(epoll, Libc.EPOLL_CTL_DEL, fd, event);
  }

  @Override
  public void close() {
    spawners.forEach(Thread::interrupt);
    for (Thread spawner : spawners) {
      try {
        spawner.join(10_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    Libc.close(epoll);
    // wakeFd stays open: another thread may be about to wake us, and must not hit a new file.
  }

  private final class NativeChild implements Child {
    private final long serial;
    private final int pid;
    private final int pidfd;
    private final int[] ends;
    private final boolean[] watched = new boolean[4];
    private final Events sink;

    NativeChild(long serial, NativeSpawner.Spawned spawned, Events sink) {
      this.serial = serial;
      this.pid = spawned.pid;
      this.pidfd = spawned.pidfd;
      this.ends = spawned.readEnds;
      this.sink = sink;
    }

    @Override
    public long pid() {
      return pid;
    }

    @Override
    public List<Channel> channels() {
      List<Channel> open = new ArrayList<>();
      for (int i = 0; i < ends.length; i++) {
        if (ends[i] >= 0) {
          open.add(Channel.of(i));
        }
      }
      return open;
    }

    @Override
    public void pause(Channel channel) {
      int i = channel.index();
      if (watched[i]) {
        // Not a change of the mask: an end of file would be reported all the same, for ever.
        watched[i] = false;
        unwatch(ends[i]);
      }
    }

    @Override
    public void resume(Channel channel) {
      int i = channel.index();
      if (!watched[i] && ends[i] >= 0) {
        watched[i] = true;
        watch(ends[i], serial << 3 | i);
      }
    }

    private void read(Channel channel) {
      int i = channel.index();
      if (!watched[i]) {
        return;
      }
      long count = Libc.read(ends[i], buffer, READ_SIZE);
      if (count > 0) {
        buffer.read(0, bytes, 0, (int) count);
        sink.output(channel, bytes, (int) count);
      } else if (count == 0 || (Libc.errno() != Libc.EAGAIN && Libc.errno() != Libc.EINTR)) {
        pause(channel);
        Libc.close(ends[i]);
        ends[i] = -1;
        sink.closed(channel);
      }
    }

    private void collectExit() {
      Exit exit = exitOf(Libc.WNOHANG | Libc.WEXITED | Libc.WNOWAIT);
      if (exit != null) {
        unwatch(pidfd);
        Libc.close(pidfd);
        sink.exited(exit);
      }
    }

    private @Nullable Exit exitOf(int options) {
      info.clear();
      if (Libc.waitid(Libc.P_PID, pid, info, options) < 0 || info.getInt(0) == 0) {
        return null;
      }
      int code = info.getInt(8);
      int status = info.getInt(24);
      return code == 1 ? new Exit(status, null, false) : new Exit(null, status, code == 3);
    }

    @Override
    public void signal(int signal) {
      Libc.kill(-pid, signal);
    }

    @Override
    public void release() {
      children.remove(serial);
      NativeSpawner.reap(pid);
    }
  }
}
