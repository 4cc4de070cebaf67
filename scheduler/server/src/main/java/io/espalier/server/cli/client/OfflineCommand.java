package io.espalier.server.cli.client;

import picocli.CommandLine.Mixin;

/**
 * A command that also works on what an ended run left behind
 * (docs/design/design.md#the-end-of-a-run).
 */
public abstract class OfflineCommand extends ClientCommand {
  @Mixin private final DataDirFlag dataDir = new DataDirFlag();

  public OfflineCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Client open(Client.Opener opener) {
    return dataDir.open(spec().commandLine(), opener, super::open);
  }
}
