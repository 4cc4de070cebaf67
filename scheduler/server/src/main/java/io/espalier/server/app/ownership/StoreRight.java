package io.espalier.server.app.ownership;

import io.espalier.core.api.LeadershipControl;
import io.espalier.server.app.options.HostPort;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A leadership that also requires the ownership of the status store. It ends when another process
 * owns the store, or when the ownership was not proven for too long.
 */
public final class StoreRight implements Leadership {
  private final Leadership elected;
  private final @Nullable StoreOwnership ownership;
  private volatile boolean ended;

  /**
   * @param ownership null: a lock protects the store from other processes
   */
  public StoreRight(Leadership elected, @Nullable StoreOwnership ownership) {
    this.elected = elected;
    this.ownership = ownership;
  }

  /**
   * Ends the leadership because another process took over the store. From now on no worker is
   * answered and nothing is sent.
   */
  public void end() {
    ended = true;
  }

  @Override
  public long remainingMillis() {
    if (ended) {
      return 0;
    }
    long byElection = elected.remainingMillis();
    return ownership == null ? byElection : Math.min(byElection, ownership.remainingMillis());
  }

  @Override
  public HostPort http(HostPort configured) {
    return elected.http(configured);
  }

  @Override
  public Set<String> names() {
    return elected.names();
  }

  @Override
  public void beforeListening() {
    elected.beforeListening();
  }

  @Override
  public Optional<String> problem() {
    return elected.problem().or(() -> ownership == null ? Optional.empty() : ownership.problem());
  }

  @Override
  public LeadershipControl control(long epoch) {
    return elected.control(epoch);
  }

  @Override
  public Optional<String> group() {
    return elected.group();
  }

  @Override
  public Optional<StoreOwnership> ownership() {
    return Optional.ofNullable(ownership);
  }
}
