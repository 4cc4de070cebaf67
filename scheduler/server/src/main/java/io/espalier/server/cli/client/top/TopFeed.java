package io.espalier.server.cli.client.top;

import io.espalier.server.cli.client.Client;
import io.espalier.server.exit.CommandException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Asks the scheduler on a thread of its own, so that keys answer at once however slow it is. What
 * it got last is for the thread that draws.
 */
final class TopFeed {
  private final Client client;
  private final long everyMillis;
  private volatile TopData newest;
  private final BlockingQueue<TopState> wishes = new LinkedBlockingQueue<>();
  private final Thread thread = new Thread(this::ask, "top");

  TopFeed(Client client, TopData first, long everyMillis) {
    this.client = client;
    this.newest = first;
    this.everyMillis = everyMillis;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  void stop() {
    thread.interrupt();
  }

  TopData newest() {
    return newest;
  }

  /** Says what the person looks at; it is asked for at once. */
  void look(TopState state) {
    wishes.add(state);
  }

  private void ask() {
    TopState state = TopState.START;
    try {
      while (true) {
        TopState wish = wishes.poll(everyMillis, TimeUnit.MILLISECONDS);
        while (wish != null) {
          state = wish;
          wish = wishes.poll();
        }
        newest = read(state, newest);
      }
    } catch (InterruptedException e) {
      // That is how it is stopped.
    }
  }

  private TopData read(TopState state, TopData last) {
    try {
      TopData data = TopData.read(client, System.currentTimeMillis());
      TopState.Subject opened = state.opened();
      return opened == null ? data : data.withDetail(detail(opened));
    } catch (CommandException e) {
      return last.withProblem(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      return last.withProblem("internal error: " + e);
    }
  }

  private List<String> detail(TopState.Subject opened) {
    try {
      return opened.level().isEmpty()
          ? TopData.ofJob(client, opened.name())
          : TopData.ofNode(client, opened.level(), opened.name());
    } catch (CommandException e) {
      return List.of(String.valueOf(e.getMessage()));
    }
  }
}
