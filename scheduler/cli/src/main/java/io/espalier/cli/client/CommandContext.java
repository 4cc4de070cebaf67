package io.espalier.cli.client;

import io.espalier.cli.term.TerminalInfo;
import java.nio.file.Path;

/**
 * The environment of client commands, supplied by their process.
 *
 * @param opener of clients
 * @param viewport describes standard output
 * @param contexts the file of {@link Contexts}; there need not be one
 */
public record CommandContext(Client.Opener opener, TerminalInfo viewport, Path contexts) {
  /**
   * Creates a context without a terminal.
   *
   * @param width at which tables are cut; 0: not at all
   */
  public CommandContext(Client.Opener opener, int width, Path contexts) {
    this(opener, TerminalInfo.plain(width), contexts);
  }
}
