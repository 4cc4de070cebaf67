package io.espalier.cli.client.top;

import io.espalier.cli.client.Client;
import io.espalier.server.CommandException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Queries the scheduler on a separate thread, so that keys respond at once however slow the
 * scheduler is. The drawing thread reads the latest answer.
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

  /** Sets what the user is viewing and queries it at once. */
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
      // The interrupt stops the thread.
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
