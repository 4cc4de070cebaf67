package io.espalier.server.process;

import io.espalier.core.api.LeadershipControl;
import io.espalier.server.process.ProcessOptions.HostPort;
import java.util.Optional;
import java.util.Set;

/**
 * By what right a scheduler leads. Without an election it does as long as its status store is its
 * own: {@link #ALONE}. For any thread; nothing of it waits.
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

  /**
   * Names the group of schedulers that elects this one: the group owns a store that its schedulers
   * share. Empty: there is no group, and this scheduler owns it.
   */
  default Optional<String> group() {
    return Optional.empty();
  }

  /** The ownership of the status store by which it was elected; empty: it is still to be had. */
  default Optional<StoreOwnership> ownership() {
    return Optional.empty();
  }

  /**
   * For operators.
   *
   * @param epoch of the leadership
   */
  LeadershipControl control(long epoch);

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
    public LeadershipControl control(long epoch) {
      return LeadershipControl.ALONE;
    }
  }
}
