package io.espalier.server.app.ownership;

import io.espalier.core.api.LeadershipControl;
import io.espalier.server.app.options.HostPort;
import java.util.Optional;
import java.util.Set;

/**
 * The right by which a scheduler leads. Without an election, a scheduler leads as long as it owns
 * its status store: {@link #ALONE}. Thread-safe; no method blocks.
 */
public interface Leadership {
  /** The leadership of a single scheduler without an election. */
  Leadership ALONE = new Alone();

  /**
   * Returns for how many milliseconds it is certain that no other scheduler leads; 0 or less: it is
   * not certain.
   */
  long remainingMillis();

  /** Returns the address on which the leader serves HTTP. */
  HostPort http(HostPort configured);

  /** Returns the additional host names under which clients call the leader. */
  Set<String> names();

  /** Called just before the scheduler listens; whatever uses the address releases it. */
  void beforeListening();

  /** Describes the current problem of the leadership for people. */
  Optional<String> problem();

  /**
   * Returns the name of the group of schedulers that elects this one. The group owns the store that
   * its schedulers share. Empty: there is no group, and this scheduler owns the store.
   */
  default Optional<String> group() {
    return Optional.empty();
  }

  /**
   * Returns the ownership of the status store that elected this scheduler; empty: the scheduler
   * must still acquire it.
   */
  default Optional<StoreOwnership> ownership() {
    return Optional.empty();
  }

  /** Returns what the group that elects this scheduler knows of its status store. */
  default GroupMark mark() {
    return GroupMark.NONE;
  }

  /**
   * Returns the control of this leadership for operators.
   *
   * @param epoch of the leadership
   */
  LeadershipControl control(long epoch);

  /** Leads unconditionally. */
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
