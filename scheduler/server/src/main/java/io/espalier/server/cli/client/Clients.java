package io.espalier.server.cli.client;

/**
 * What the client commands get from the process they run in.
 *
 * @param opener of clients
 * @param viewport what standard output is
 */
public record Clients(Client.Opener opener, Viewport viewport) {
  /**
   * Without a terminal.
   *
   * @param width at which tables are cut; 0: not at all
   */
  public Clients(Client.Opener opener, int width) {
    this(opener, Viewport.plain(width));
  }
}
