package io.espalier.cli.client;

import io.espalier.cli.term.TerminalInfo;

/**
 * The environment of client commands, supplied by their process.
 *
 * @param opener of clients
 * @param viewport describes standard output
 */
public record CommandContext(Client.Opener opener, TerminalInfo viewport) {
  /**
   * Creates a context without a terminal.
   *
   * @param width at which tables are cut; 0: not at all
   */
  public CommandContext(Client.Opener opener, int width) {
    this(opener, TerminalInfo.plain(width));
  }
}
