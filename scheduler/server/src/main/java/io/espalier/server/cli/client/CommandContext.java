package io.espalier.server.cli.client;

import io.espalier.server.cli.client.term.TerminalInfo;

/**
 * What the client commands get from the process they run in.
 *
 * @param opener of clients
 * @param viewport what standard output is
 */
public record CommandContext(Client.Opener opener, TerminalInfo viewport) {
  /**
   * Without a terminal.
   *
   * @param width at which tables are cut; 0: not at all
   */
  public CommandContext(Client.Opener opener, int width) {
    this(opener, TerminalInfo.plain(width));
  }
}
