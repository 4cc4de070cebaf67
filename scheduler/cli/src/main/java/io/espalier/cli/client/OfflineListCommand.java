package io.espalier.cli.client;

import picocli.CommandLine.Mixin;

/**
 * A list command that also works on the data of an ended run
 * (docs/design/design.md#the-end-of-a-run).
 */
public abstract class OfflineListCommand extends ListCommand {
  @Mixin private final DataDirFlag dataDir = new DataDirFlag();

  public OfflineListCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Client open(Client.Opener opener) {
    return dataDir.open(spec().commandLine(), opener, super::open);
  }
}
