package io.espalier.server.app.options;

import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.worker.resources.MeasuringOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How a scheduler process runs tasks.
 *
 * @param name the value of {@code --runner}, which names the plug-in if there is no built-in kind
 * @param workerCommand argv prefix of jobs without a command; empty: none
 * @param maxAttempts the number of attempts after which a task fails for good; 0: no limit
 * @param measuring how running tasks and the host are measured
 * @param remote options of the remote runner; empty with any other runner
 */
public record RunnerOptions(
    Kind kind,
    String name,
    List<String> workerCommand,
    int maxAttempts,
    MeasuringOptions measuring,
    Simulation simulation,
    Optional<Remote> remote) {

  /** The kinds of runners: the built-in values of {@code --runner}, and plug-ins. */
  public enum Kind {
    LOCAL("local"),
    REMOTE("remote"),
    DRY_RUN("dry-run"),
    SIMULATED("simulated"),
    PLUG_IN("");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }

    /** Returns the kind that a value of {@code --runner} means. */
    public static Kind of(String name) {
      return Arrays.stream(values())
          .filter(kind -> kind.label.equals(name) && kind != PLUG_IN)
          .findFirst()
          .orElse(PLUG_IN);
    }

    /** Returns the values of {@code --runner} that need no plug-in. */
    public static List<String> builtIn() {
      return Arrays.stream(values()).filter(kind -> kind != PLUG_IN).map(Kind::label).toList();
    }

    /** Returns whether real tasks run that must end before another scheduler may start them. */
    public boolean endsWithScheduler() {
      return this == LOCAL || this == PLUG_IN;
    }
  }

  /**
   * Configures the simulated runner (docs/design/bistro.md#ways-to-run-tasks).
   *
   * @param meanMillis mean duration; tasks take up to twice as long
   * @param failureRate share of tasks that end with error_backoff
   */
  public record Simulation(int meanMillis, double failureRate) {}

  /**
   * Configures the remote runner.
   *
   * @param thrift the address on which workers reach the scheduler
   * @param peer how both ends authenticate, and how long calls may take
   * @param timers of the protocol, checked
   * @param safeWait whether the scheduler starts nothing until no task of an earlier scheduler can
   *     be alive, whatever the store says
   */
  public record Remote(HostPort thrift, PeerOptions peer, ProtocolTimers timers, boolean safeWait) {
    String shown() {
      StringBuilder text =
          new StringBuilder("--thrift=" + thrift + " (" + peer.security() + ") timers in ms:");
      timers
          .values()
          .forEach((name, millis) -> text.append(' ').append(name).append('=').append(millis));
      return text.append(", a silent worker is lost after ").append(timers.lostMillis()).toString();
    }
  }
}
