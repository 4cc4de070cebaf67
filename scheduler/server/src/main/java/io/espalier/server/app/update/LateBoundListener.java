package io.espalier.server.app.update;

import io.espalier.server.config.ConfigSnapshot;
import java.util.function.Consumer;

/**
 * Forwards the snapshots of a poller to a listener that is set later. The poller must find a good
 * configuration before anything that follows it is built.
 */
public final class LateBoundListener implements Consumer<ConfigSnapshot> {
  private volatile Consumer<ConfigSnapshot> follower = snapshot -> {};

  public void goTo(Consumer<ConfigSnapshot> newFollower) {
    follower = newFollower;
  }

  @Override
  public void accept(ConfigSnapshot snapshot) {
    follower.accept(snapshot);
  }
}
