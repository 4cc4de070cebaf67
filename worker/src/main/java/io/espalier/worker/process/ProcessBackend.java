package io.espalier.worker.process;

import io.espalier.core.running.ResourceUsage;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A mechanism that starts processes and tells what they do. All methods but {@link #wakeUp} belong
 * to one thread, the supervisor's; events are delivered on it, from within {@link #await}.
 */
interface ProcessBackend extends AutoCloseable {
  /** For the log. */
  String description();

  /** How many processes there may be at once, by the limits of this process. */
  int capacity();

  /**
   * What the process is given as path of its status file.
   *
   * @param fallback a path that nobody else uses, for mechanisms that need a file
   */
  String statusPath(Path fallback);

  /**
   * Where a prelude puts its marks: they arrive before everything else on the status channel.
   *
   * @param fallback as for {@link #statusPath}
   */
  String markPath(Path fallback);

  /** Begins to start a process; {@code started} or {@code failed} follows. */
  void spawn(Spawn spawn, Events events);

  /** Waits for events, at most that long (negative: until there are some), and delivers them. */
  void await(long timeoutNanos);

  /** Makes a pending or the next {@link #await} return; any thread. */
  void wakeUp();

  @Override
  void close();

  /**
   * One process to start, as leader of a session and process group of its own, with stdin from
   * nowhere.
   *
   * @param executable absolute path
   * @param environment entries {@code NAME=VALUE}
   * @param canary whether to watch for descendants that outlive it
   * @param statusFile where {@link #statusPath} points to, when that is a file
   * @param owner the user it will become, who must be able to open its channels; null: we
   */
  record Spawn(
      Path executable,
      List<String> argv,
      List<String> environment,
      Path directory,
      boolean canary,
      Path statusFile,
      @Nullable TaskUser owner) {}

  /**
   * How a process ended: by exit code or by signal.
   *
   * @param usage of itself and those it has waited for, as far as that is known
   */
  record Exit(
      @Nullable Integer code, @Nullable Integer signal, boolean coreDumped, ResourceUsage usage) {}

  /** A started process. */
  interface Child {
    long pid();

    /** Which channels are open when it starts. */
    List<Channel> channels();

    /** Stops reading; at most a little already read is still delivered. */
    void pause(Channel channel);

    void resume(Channel channel);

    /**
     * Signals the whole process group while its leader lives. Does nothing once that has exited:
     * its number may belong to somebody else then.
     */
    void signal(int signal);

    /** Forgets it; called once, after its exit and the end of all channels. */
    void release();
  }

  /** What happens to a process. */
  interface Events {
    void started(Child child);

    /**
     * It could not be started, or what was started ended before it became the task; no {@link
     * #exited} follows.
     *
     * @param shortage it is not the task's fault: this process or host has run out of something
     */
    void failed(String cause, boolean shortage);

    /** The array is the caller's and is only valid during the call. */
    void output(Channel channel, byte[] bytes, int length);

    /** Nothing more comes from this channel. */
    void closed(Channel channel);

    void exited(Exit exit);
  }
}
