package io.espalier.server.cli.client;

import picocli.CommandLine.Mixin;

/**
 * A list that is also made of what an ended run left behind
 * (docs/design/design.md#the-end-of-a-run).
 */
abstract class OfflineListCommand extends ListCommand {
  @Mixin private final DataDirFlag dataDir = new DataDirFlag();

  OfflineListCommand(Clients clients) {
    super(clients);
  }

  @Override
  Client open(Client.Opener opener) {
    return dataDir.open(spec().commandLine(), opener, super::open);
  }
}
