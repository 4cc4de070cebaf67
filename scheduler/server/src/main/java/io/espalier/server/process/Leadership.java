package io.espalier.server.process;

import io.espalier.server.process.ProcessOptions.HostPort;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * By what right a scheduler leads. Without an election it just does: {@link #ALONE}. For any
 * thread; nothing of it waits.
 */
public interface Leadership {
  /** One scheduler, no other. */
  Leadership ALONE = new Alone();

  /** For how long it is certain that no other leads; 0 or less: it is not. */
  long remainingMillis();

  /** Where HTTP is served while it leads. */
  HostPort http(HostPort configured);

  /** Names by which others call it, besides what it listens on. */
  Set<String> names();

  /** About to listen: whoever has the address until now lets go of it. */
  void beforeListening();

  /** What is wrong with it, for people. */
  Optional<String> problem();

  /** Whether there was an election. */
  boolean elected();

  /** All that could lead, the one that does first; empty without an election. */
  List<String> candidates();

  /**
   * Lets another lead, soon.
   *
   * @throws io.espalier.core.api.RefusedException when there is none
   */
  void stepDown(String reason);

  /** Leads by default. */
  final class Alone implements Leadership {
    private Alone() {}

    @Override
    public long remainingMillis() {
      return Long.MAX_VALUE;
    }

    @Override
    public HostPort http(HostPort configured) {
      return configured;
    }

    @Override
    public Set<String> names() {
      return Set.of();
    }

    @Override
    public void beforeListening() {}

    @Override
    public Optional<String> problem() {
      return Optional.empty();
    }

    @Override
    public boolean elected() {
      return false;
    }

    @Override
    public List<String> candidates() {
      return List.of();
    }

    @Override
    public void stepDown(String reason) {
      throw new io.espalier.core.api.RefusedException(
          io.espalier.core.api.RefusedException.Reason.UNSUPPORTED,
          "this scheduler leads without an election: it was started without --zookeeper");
    }
  }
}
