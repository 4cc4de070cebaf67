package io.espalier.worker.agent;

/**
 * Statistics of a worker. Only the thread of its agent writes them, any thread may read them. Each
 * number is correct by itself, but they are not a consistent snapshot.
 */
public final class AgentStats {
  private volatile int running;
  private volatile long starts;
  private volatile long ends;
  private volatile long heartbeats;
  private volatile long heartbeatsFailed;
  private volatile long answeredNanos = System.nanoTime();
  private volatile String problem = "starts";
  private volatile boolean guarded;

  public AgentStats() {}

  /** Tasks that were started here and have not ended. */
  public int running() {
    return running;
  }

  /** Tasks that the scheduler has given to this worker. */
  public long starts() {
    return starts;
  }

  /** Tasks that have ended here, those that could not be started included. */
  public long ends() {
    return ends;
  }

  /** Heartbeats that the scheduler has answered. */
  public long heartbeats() {
    return heartbeats;
  }

  /** Heartbeats without an answer in time. */
  public long heartbeatsFailed() {
    return heartbeatsFailed;
  }

  /** Seconds since the last answered heartbeat, or since the start of this process. */
  public double heartbeatAgeSeconds() {
    return (System.nanoTime() - answeredNanos) / 1e9;
  }

  /** Why the worker gets no tasks; empty: it gets tasks. */
  public String problem() {
    return problem;
  }

  /** Whether a guard would kill the tasks if this process froze. */
  public boolean isGuarded() {
    return guarded;
  }

  void started() {
    starts = starts + 1;
  }

  void ended() {
    ends = ends + 1;
  }

  void heartbeatAnswered() {
    heartbeats = heartbeats + 1;
    answeredNanos = System.nanoTime();
  }

  void heartbeatFailed() {
    heartbeatsFailed = heartbeatsFailed + 1;
  }

  void stepped(int nowRunning, String nowProblem, boolean nowGuarded) {
    running = nowRunning;
    problem = nowProblem;
    guarded = nowGuarded;
  }
}
