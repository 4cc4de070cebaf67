package io.espalier.cli.client;

import picocli.CommandLine.Mixin;

/**
 * A command that also works on the data of an ended run (docs/design/design.md#the-end-of-a-run).
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
