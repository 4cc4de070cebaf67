package io.espalier.worker.process.spawn;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.espalier.worker.process.os.Libc;
import io.espalier.worker.process.os.TaskUser;
import io.espalier.worker.process.output.Channel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Starts processes with {@code posix_spawn}; confined to one thread.
 *
 * <p>What the child must do between fork and exec never changes, so it is described once: the write
 * ends of its pipes and its directory are moved to descriptors that this spawner reserves, and from
 * there to their numbers in the child. Everything else is closed in the child.
 */
final class NativeSpawner implements AutoCloseable {
  /**
   * The status pipe in the child: {@code /dev/fd/99}. The number is high because scripts like to
   * use 3 to 9 for files of their own: what they write to "their" 3 would become the status, or
   * worse, what they write to the status would end up in their file.
   */
  static final int STATUS_FD = 99;

  static final int CANARY_FD = 98;

  /** The gate's descriptor, closed again with all descriptors below the canary. */
  private static final int GATE_FD = 97;

  private static final int FIRST_RESERVED = 100;

  /** Stdout, stderr and status; the canary is another descriptor of the status pipe. */
  private static final int PIPES = 3;

  private final int devNull;
  private final int[] reserved = new int[PIPES];
  private final int stdin;
  private final int directory;
  private final @Nullable Memory gatePath;
  private final Memory attributes = zeroed(1024);
  private final Memory actions = zeroed(1024);
  private final Memory actionsWithCanary = zeroed(1024);
  private final int[] pid = new int[1];
  private final int[] ends = new int[2];

  /**
   * @param gate a file that the child must be able to open before its exec; null: there is none.
   *     Removing it stops all starts at once, even those of a frozen process
   */
  NativeSpawner(@Nullable Path gate) {
    int opened = check("open", Libc.open("/dev/null", 2 | Libc.O_CLOEXEC));
    devNull = check("fcntl", Libc.fcntl(opened, Libc.F_DUPFD_CLOEXEC, FIRST_RESERVED));
    Libc.close(opened);
    for (int i = 0; i < reserved.length; i++) {
      reserved[i] = check("fcntl", Libc.fcntl(devNull, Libc.F_DUPFD_CLOEXEC, FIRST_RESERVED));
    }
    stdin = check("fcntl", Libc.fcntl(devNull, Libc.F_DUPFD_CLOEXEC, FIRST_RESERVED));
    directory = check("fcntl", Libc.fcntl(devNull, Libc.F_DUPFD_CLOEXEC, FIRST_RESERVED));
    Libc.posix_spawnattr_init(attributes);
    Libc.posix_spawnattr_setflags(
        attributes,
        (short)
            (Libc.POSIX_SPAWN_SETSID | Libc.POSIX_SPAWN_SETSIGDEF | Libc.POSIX_SPAWN_SETSIGMASK));
    try (Memory signals = zeroed(128)) {
      Libc.posix_spawnattr_setsigmask(attributes, signals);
      signals.setLong(0, (1L << 31) - 1);
      Libc.posix_spawnattr_setsigdefault(attributes, signals);
    }
    gatePath = gate == null ? null : text(gate.toString());
    describe(actions, false);
    describe(actionsWithCanary, true);
  }

  private static Memory text(String string) {
    byte[] bytes = string.getBytes(StandardCharsets.UTF_8);
    Memory memory = zeroed(bytes.length + 1L);
    memory.write(0, bytes, 0, bytes.length);
    return memory;
  }

  private void describe(Memory to, boolean canary) {
    Libc.posix_spawn_file_actions_init(to);
    if (gatePath != null) {
      Libc.posix_spawn_file_actions_addopen(to, GATE_FD, gatePath, 0, 0);
    }
    Libc.posix_spawn_file_actions_adddup2(to, stdin, 0);
    Libc.posix_spawn_file_actions_adddup2(to, reserved[Channel.STDOUT.index()], 1);
    Libc.posix_spawn_file_actions_adddup2(to, reserved[Channel.STDERR.index()], 2);
    Libc.posix_spawn_file_actions_adddup2(to, reserved[Channel.STATUS.index()], STATUS_FD);
    if (canary) {
      Libc.posix_spawn_file_actions_adddup2(to, reserved[Channel.STATUS.index()], CANARY_FD);
    }
    Libc.posix_spawn_file_actions_addfchdir_np(to, directory);
    for (int fd = 3; fd < (canary ? CANARY_FD : STATUS_FD); fd++) {
      Libc.posix_spawn_file_actions_addclose(to, fd);
    }
    check("closefrom", -Libc.posix_spawn_file_actions_addclosefrom_np(to, FIRST_RESERVED));
  }

  /** The result: a pid with its open read ends by channel, or what failed and why. */
  static final class Spawned {
    final int pid;
    final int[] readEnds;

    /** The end of its stdin to write to; -1: it does not listen. */
    final int writeEnd;

    final int error;
    final String failed;

    private Spawned(int pid, int[] readEnds, int writeEnd, int error, String failed) {
      this.pid = pid;
      this.readEnds = readEnds;
      this.writeEnd = writeEnd;
      this.error = error;
      this.failed = failed;
    }

    private static Spawned failure(String what, int error, int[] ours) {
      for (int end : ours) {
        if (end >= 0) {
          Libc.close(end);
        }
      }
      return new Spawned(-1, new int[0], -1, error, what);
    }
  }

  Spawned spawn(ProcessBackend.Spawn spawn) {
    // Our ends of its pipes: those to read, and at last that to write.
    int[] ours = {-1, -1, -1, -1};
    TaskUser owner = spawn.owner();
    try {
      for (int i = 0; i < PIPES; i++) {
        int error = pipe(ours, i, 0, reserved[i], owner);
        if (error != 0) {
          return Spawned.failure("make a pipe", error, ours);
        }
      }
      int error = spawn.listens() ? pipe(ours, PIPES, 1, stdin, owner) : 0;
      if (error != 0) {
        return Spawned.failure("make a pipe", error, ours);
      }
      int opened = Libc.open(spawn.directory().toString(), Libc.O_PATH | Libc.O_CLOEXEC);
      if (opened < 0) {
        return Spawned.failure("enter " + spawn.directory(), Libc.errno(), ours);
      }
      int moved = Libc.dup3(opened, directory, Libc.O_CLOEXEC);
      int moveError = Libc.errno();
      Libc.close(opened);
      if (moved < 0) {
        return Spawned.failure("enter " + spawn.directory(), moveError, ours);
      }
      error = posixSpawn(spawn);
      if (error != 0) {
        return Spawned.failure("start " + spawn.executable(), error, ours);
      }
      return new Spawned(pid[0], Arrays.copyOf(ours, PIPES), ours[PIPES], 0, "");
    } finally {
      // Close our copies of the child's ends, or the pipes would never report an end.
      if (spawn.listens()) {
        Libc.dup3(devNull, stdin, Libc.O_CLOEXEC);
      }
      for (int fd : reserved) {
        Libc.dup3(devNull, fd, Libc.O_CLOEXEC);
      }
    }
  }

  /**
   * Makes a pipe between us and the next child.
   *
   * @param end which end is ours: 0 to read, 1 to write
   * @param reservedFd where the child's end goes
   * @return the error; 0: none
   */
  private int pipe(int[] ours, int index, int end, int reservedFd, @Nullable TaskUser owner) {
    if (Libc.pipe2(ends, Libc.O_CLOEXEC) < 0) {
      return Libc.errno();
    }
    int theirs = ends[1 - end];
    ours[index] = ends[end];
    Libc.fcntl(ends[end], Libc.F_SETFL, Libc.O_NONBLOCK);
    if (owner != null) {
      // Otherwise it could not open /dev/fd/99, /dev/stdin or /dev/stdout.
      Libc.fchown(theirs, owner.uid(), owner.gid());
    }
    int moved = Libc.dup3(theirs, reservedFd, Libc.O_CLOEXEC);
    int error = moved < 0 ? Libc.errno() : 0;
    Libc.close(theirs);
    return error;
  }

  private int posixSpawn(ProcessBackend.Spawn spawn) {
    List<byte[]> strings = new ArrayList<>();
    spawn.argv().forEach(s -> strings.add(s.getBytes(StandardCharsets.UTF_8)));
    spawn.environment().forEach(s -> strings.add(s.getBytes(StandardCharsets.UTF_8)));
    byte[] path = spawn.executable().toString().getBytes(StandardCharsets.UTF_8);
    strings.add(path);
    long pointers = 8L * (strings.size() + 2);
    long size = pointers;
    for (byte[] string : strings) {
      size += string.length + 1;
    }
    try (Memory block = new Memory(size)) {
      long base = Pointer.nativeValue(block);
      long text = pointers;
      long slot = 0;
      int argc = spawn.argv().size();
      int last = strings.size() - 1;
      long pathAt = 0;
      for (int i = 0; i <= last; i++) {
        byte[] string = strings.get(i);
        block.write(text, string, 0, string.length);
        block.setByte(text + string.length, (byte) 0);
        if (i == argc || i == last) {
          block.setLong(slot, 0);
          slot += 8;
        }
        if (i == last) {
          pathAt = text;
        } else {
          block.setLong(slot, base + text);
          slot += 8;
        }
        text += string.length + 1;
      }
      return Libc.posix_spawn(
          pid,
          block.share(pathAt),
          spawn.canary() ? actionsWithCanary : actions,
          attributes,
          block,
          block.share(8L * (argc + 1)));
    }
  }

  static Memory zeroed(long size) {
    Memory memory = new Memory(size);
    memory.clear();
    return memory;
  }

  static int check(String what, int result) {
    if (result < 0) {
      throw new IllegalStateException(what + ": " + Libc.strerror(Libc.errno()));
    }
    return result;
  }

  @Override
  public void close() {
    Libc.posix_spawn_file_actions_destroy(actions);
    Libc.posix_spawn_file_actions_destroy(actionsWithCanary);
    Libc.posix_spawnattr_destroy(attributes);
    for (int fd : reserved) {
      Libc.close(fd);
    }
    Libc.close(stdin);
    Libc.close(directory);
    Libc.close(devNull);
    attributes.close();
    actions.close();
    actionsWithCanary.close();
    if (gatePath != null) {
      gatePath.close();
    }
  }
}
