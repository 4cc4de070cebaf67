package io.espalier.worker.process.spawn;

import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.process.os.TaskUser;
import io.espalier.worker.process.output.Channel;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A mechanism that starts processes and reports their events. All methods except {@link #wakeUp}
 * are confined to one thread, the supervisor's; events are delivered on it, from within {@link
 * #await}.
 */
public interface ProcessBackend extends AutoCloseable {
  /** Returns a description for the log. */
  String description();

  /** Returns the maximum number of concurrent processes, by the limits of this process. */
  int capacity();

  /**
   * Returns the path of the status file that the process is given.
   *
   * @param fallback a path that nobody else uses, for mechanisms that need a file
   */
  String statusPath(Path fallback);

  /**
   * Returns the path to which a prelude writes its marks; these arrive before everything else on
   * the status channel.
   *
   * @param fallback as for {@link #statusPath}
   */
  String markPath(Path fallback);

  /** Returns whether a process can be told something while it runs: {@link Child#tell}. */
  boolean canTell();

  /** Begins to start a process; {@code started} or {@code failed} follows. */
  void spawn(Spawn spawn, Events events);

  /** Waits for events, at most that long (negative: until there are some), and delivers them. */
  void await(long timeoutNanos);

  /** Makes a pending or the next {@link #await} return; safe from any thread. */
  void wakeUp();

  @Override
  void close();

  /**
   * A process to start, as leader of a session and process group of its own.
   *
   * @param executable absolute path
   * @param environment entries {@code NAME=VALUE}
   * @param canary whether to detect descendants that outlive it
   * @param listens whether its stdin is a pipe to which {@link Child#tell} writes; otherwise it is
   *     empty. Only where {@link #canTell}
   * @param statusFile file that {@link #statusPath} returned, if it is a file
   * @param owner the user it will become, who must be able to open its channels; null: the user of
   *     this process
   */
  record Spawn(
      Path executable,
      List<String> argv,
      List<String> environment,
      Path directory,
      boolean canary,
      boolean listens,
      Path statusFile,
      @Nullable TaskUser owner) {}

  /**
   * The end of a process, by exit code or by signal.
   *
   * @param usage of the process and the children it has waited for, as far as that is known
   */
  record Exit(
      @Nullable Integer code, @Nullable Integer signal, boolean coreDumped, ResourceUsage usage) {}

  /** A started process. */
  interface Child {
    long pid();

    /** Returns the channels that are open at its start. */
    List<Channel> channels();

    /** Stops reading a channel; at most a little that was already read is still delivered. */
    void pause(Channel channel);

    void resume(Channel channel);

    /**
     * Signals the whole process group while its leader is alive. It does nothing after the leader's
     * exit, because the number may have been reused.
     */
    void signal(int signal);

    /**
     * Writes a line to the stdin of a process that listens; does not wait.
     *
     * @param line without its newline
     * @return false when the process does not take it
     */
    boolean tell(String line);

    /** Closes the stdin of a process that listens. */
    void tellEnd();

    /** Releases the resources; called once, after its exit and the end of all channels. */
    void release();
  }

  /** Receives the events of a process. */
  interface Events {
    void started(Child child);

    /**
     * The process could not be started, or ended before it became the task; no {@link #exited}
     * follows.
     *
     * @param shortage true when the task is not at fault: this process or host has run out of
     *     something
     */
    void failed(String cause, boolean shortage);

    /**
     * The process wrote output. The array belongs to the caller and is valid only during the call.
     */
    void output(Channel channel, byte[] bytes, int length);

    /** A channel has ended; it delivers no more output. */
    void closed(Channel channel);

    void exited(Exit exit);
  }
}
