package io.espalier.worker.process.os;

import com.sun.jna.Native;
import com.sun.jna.Pointer;

/**
 * The C functions that we use, by JNA's direct mapping. Loading this class fails with a {@link
 * LinkageError} where one of them is missing (systems other than Linux, musl, glibc before 2.34).
 */
public final class Libc {
  public static final int O_NONBLOCK = 0x800;
  public static final int O_CLOEXEC = 0x80000;
  public static final int O_PATH = 0x200000;
  public static final int F_SETFL = 4;
  public static final int F_DUPFD_CLOEXEC = 1030;
  public static final int EAGAIN = 11;
  public static final int ENOENT = 2;
  public static final int ECHILD = 10;
  public static final int EINTR = 4;
  public static final int ENOEXEC = 8;
  public static final int EPOLLIN = 1;
  public static final int EPOLL_CTL_ADD = 1;
  public static final int EPOLL_CTL_DEL = 2;
  public static final int POSIX_SPAWN_SETSIGDEF = 0x04;
  public static final int POSIX_SPAWN_SETSIGMASK = 0x08;
  public static final int POSIX_SPAWN_SETSID = 0x80;
  public static final int P_ALL = 0;
  public static final int P_PID = 1;
  public static final int WNOHANG = 1;
  public static final int WEXITED = 4;
  public static final int WNOWAIT = 0x1000000;

  static {
    CFunctions.register(Libc.class);
  }

  private Libc() {}

  public static native int posix_spawn(
      int[] pid, Pointer path, Pointer actions, Pointer attributes, Pointer argv, Pointer envp);

  public static native int posix_spawn_file_actions_init(Pointer actions);

  public static native int posix_spawn_file_actions_adddup2(Pointer actions, int from, int to);

  public static native int posix_spawn_file_actions_addopen(
      Pointer actions, int fd, Pointer path, int flags, int mode);

  public static native int posix_spawn_file_actions_addclose(Pointer actions, int fd);

  public static native int posix_spawn_file_actions_addfchdir_np(Pointer actions, int fd);

  public static native int posix_spawn_file_actions_addclosefrom_np(Pointer actions, int from);

  public static native int posix_spawn_file_actions_destroy(Pointer actions);

  public static native int posix_spawnattr_init(Pointer attributes);

  public static native int posix_spawnattr_setflags(Pointer attributes, short flags);

  public static native int posix_spawnattr_setsigdefault(Pointer attributes, Pointer signals);

  public static native int posix_spawnattr_setsigmask(Pointer attributes, Pointer signals);

  public static native int posix_spawnattr_destroy(Pointer attributes);

  public static native int pipe2(int[] ends, int flags);

  public static native int open(String path, int flags);

  public static native int dup3(int from, int to, int flags);

  public static native int fcntl(int fd, int command, int argument);

  public static native int close(int fd);

  public static native long read(int fd, Pointer buffer, long length);

  public static native long write(int fd, Pointer buffer, long length);

  public static native int epoll_create1(int flags);

  public static native int epoll_ctl(int epoll, int operation, int fd, Pointer event);

  public static native int epoll_wait(int epoll, Pointer events, int maximum, int timeoutMillis);

  public static native int eventfd(int initial, int flags);

  public static native int kill(int pid, int signal);

  public static native int waitid(int idType, int id, Pointer info, int options);

  public static native int wait4(int pid, Pointer status, int options, Pointer usage);

  public static native int fchown(int fd, int uid, int gid);

  public static native String strerror(int number);

  /**
   * Returns whether the error is a shortage of descriptors, processes or memory: EMFILE, ENFILE,
   * EAGAIN, ENOMEM.
   */
  public static boolean isShortage(int error) {
    return error == 24 || error == 23 || error == EAGAIN || error == 12;
  }

  public static int errno() {
    return Native.getLastError();
  }
}
