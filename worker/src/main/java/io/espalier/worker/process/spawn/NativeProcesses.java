package io.espalier.worker.process.spawn;

import com.sun.jna.Memory;
import com.sun.jna.Platform;
import io.espalier.worker.process.os.Libc;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.output.Channel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs processes with posix_spawn, one epoll for all their pipes and one thread that waits for all
 * their ends: no thread and three descriptors per task (docs/adr/0009-processes.md).
 *
 * <p>A start blocks its thread until the child has called exec, so starts have two threads of their
 * own. A child is signalled only until it is collected: up to then its number and its group's
 * cannot be reused, so signals cannot hit another process.
 */
public final class NativeProcesses implements ProcessBackend {
  /** The read ends of stdout, stderr and status. */
  private static final int DESCRIPTORS = 3;

  private static final int SPAWNERS = 2;
  private static final int MAX_EVENTS = 256;
  private static final int READ_SIZE = 1 << 16;
  private static final int WAKE = 0;

  private final int epoll;
  private final int wakeFd;
  private final int eventSize;
  private final int dataOffset;
  private final Memory event = new Memory(16);
  private final Memory events;
  private final Memory buffer = new Memory(READ_SIZE);
  private final Memory one = new Memory(8);
  private final byte[] bytes = new byte[READ_SIZE];
  private final Map<Long, NativeChild> children = new HashMap<>();
  private final AtomicLong nextSerial = new AtomicLong(1);
  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  private final Queue<Runnable> results = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean wakePending = new AtomicBoolean();
  private final List<Thread> spawners = new ArrayList<>();
  private final @Nullable Path gate;
  private final ChildReaper reaper = new ChildReaper();

  private record Request(Spawn spawn, Events events) {}

  private NativeProcesses(@Nullable Path gate, String starterName) {
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
      Thread thread = new Thread(() -> spawnAll(spawner), starterName);
      thread.setDaemon(true);
      spawners.add(thread);
    }
    spawners.forEach(Thread::start);
  }

  /**
   * @param gate file without which nothing starts; null: there is no gate
   * @param starterName name of the threads that start processes; a child has it until its exec
   * @throws IOException naming what this platform lacks
   */
  public static NativeProcesses open(@Nullable Path gate, String starterName) throws IOException {
    try {
      if (!Platform.isLinux() || !Platform.is64Bit()) {
        throw new IOException("native process starts need 64-bit Linux");
      }
      return new NativeProcesses(gate, starterName);
    } catch (LinkageError | IllegalStateException e) {
      throw new IOException("native process starts are not available: " + e.getMessage(), e);
    }
  }

  @Override
  public String description() {
    return "posix_spawn and epoll";
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
  public String markPath(Path fallback) {
    return statusPath(fallback);
  }

  @Override
  public boolean canTell() {
    return true;
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
          if (spawned.pid < 0) {
            results.add(() -> refuse(spawned, request.events()));
          } else {
            NativeChild child =
                new NativeChild(nextSerial.getAndIncrement(), spawned, request.events());
            // In this order: its end must not be reported before its start.
            results.add(() -> register(child));
            reaper.add(spawned.pid, child);
          }
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

  private void refuse(NativeSpawner.Spawned spawned, Events sink) {
    if (gate != null && spawned.error == Libc.ENOENT && !Files.exists(gate)) {
      sink.failed("the lease of this worker has run out", true);
      return;
    }
    String why =
        spawned.error == Libc.ENOEXEC
            ? "not in a format that can be run (a script needs a first line like #!/bin/sh)"
            : Libc.strerror(spawned.error);
    sink.failed("cannot " + spawned.failed + ": " + why, Libc.isShortage(spawned.error));
  }

  private void register(NativeChild child) {
    children.put(child.serial, child);
    child.sink.started(child);
    for (Channel channel : child.channels()) {
      child.resume(channel);
    }
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
          child.read(Channel.of((int) (data & 7)));
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
    reaper.close();
    Libc.close(epoll);
    // wakeFd stays open: another thread may be about to write to it, and must not hit a new file.
  }

  private final class NativeChild implements Child, ChildReaper.Child {
    private final long serial;
    private final int pid;
    private final int[] ends;
    private final boolean[] watched = new boolean[3];
    private final Events sink;
    private int writeEnd;
    private boolean collected;

    NativeChild(long serial, NativeSpawner.Spawned spawned, Events sink) {
      this.serial = serial;
      this.pid = spawned.pid;
      this.ends = spawned.readEnds;
      this.writeEnd = spawned.writeEnd;
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
        // Removed, not masked: a mask would still report an end of file, endlessly.
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

    @Override
    public void collect(IntFunction<Exit> wait) {
      Exit exit;
      synchronized (this) {
        exit = wait.apply(pid);
        collected = true;
      }
      results.add(() -> sink.exited(exit));
      wakeUp();
    }

    @Override
    public synchronized void signal(int signal) {
      if (!collected) {
        Libc.kill(-pid, signal);
      }
    }

    @Override
    public boolean tell(String line) {
      if (writeEnd < 0) {
        return false;
      }
      byte[] text = (line + "\n").getBytes(StandardCharsets.UTF_8);
      try (Memory memory = new Memory(text.length)) {
        memory.write(0, text, 0, text.length);
        long written = Libc.write(writeEnd, memory, text.length);
        if (written > 0 && written < text.length) {
          // The rest would have to wait, and no line may follow half of one.
          tellEnd();
        }
        return written == text.length;
      }
    }

    @Override
    public void tellEnd() {
      if (writeEnd >= 0) {
        Libc.close(writeEnd);
        writeEnd = -1;
      }
    }

    @Override
    public void release() {
      tellEnd();
      children.remove(serial);
    }
  }
}
