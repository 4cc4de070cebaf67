package io.espalier.cli.client.top;

import io.espalier.server.ExitCode;
import java.io.IOException;
import java.util.List;
import java.util.Objects;

/** Handles keys and draws pictures until the user quits. */
final class TopLoop {
  private static final long KEY_MILLIS = 100;

  private final TopScreen screen;
  private final TopFeed feed;
  private final boolean colours;
  private final String server;

  TopLoop(TopScreen screen, TopFeed feed, boolean colours, String server) {
    this.screen = screen;
    this.feed = feed;
    this.colours = colours;
    this.server = server;
  }

  int run() throws IOException {
    TopKeys keys = screen.keys();
    TopState state = TopState.START;
    TopData shown = feed.newest();
    boolean stale = true;
    while (true) {
      stale |= screen.resized();
      TopData newest = feed.newest();
      if (!newest.equals(shown) && (!state.frozen() || state.open())) {
        shown = newest;
        state = state.after(TopState.Key.NONE, shown);
        stale = true;
      }
      if (stale) {
        TopView view =
            new TopView(
                Math.max(20, screen.width()),
                Math.max(6, screen.height()),
                colours,
                screen.unicode());
        screen.draw(view.lines(shown, state, server));
        stale = false;
      }
      TopState.Key key = keys.next(KEY_MILLIS);
      if (key == TopState.Key.QUIT) {
        return ExitCode.OK;
      }
      if (key != TopState.Key.NONE) {
        TopState before = state;
        state = state.after(key, shown);
        if (!Objects.equals(state.opened(), before.opened())) {
          shown = shown.withDetail(List.of());
          feed.look(state);
        }
        stale = true;
      }
    }
  }
}
