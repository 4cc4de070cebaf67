package io.espalier.cli;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.EmbeddedSchedulerClient;
import io.espalier.cli.client.HttpSchedulerClient;
import io.espalier.cli.flags.ProcessFlags;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.Version;
import io.espalier.server.app.SchedulerProcess;
import io.espalier.server.app.options.DataDirectoryOwner;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.ha.LeaderFinder;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.DataDirectoryException;
import io.espalier.server.zk.ZooKeeperTarget;
import io.espalier.webui.v1.ServerIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Opens the target of client commands: a server, or the data of an ended scheduler. */
final class ClientOpener implements Client.Opener {
  @Override
  public Client server(String server) {
    return server(server, ClientAccess.none());
  }

  @Override
  public Client server(String server, ClientAccess access) {
    return new HttpSchedulerClient(server, access, ClientOpener::remark);
  }

  @Override
  public Client leader(String group, @Nullable Path authFile, ClientAccess access) {
    try {
      return new HttpSchedulerClient(
          LeaderFinder.http(
              ZooKeeperTarget.parse(group).withAuthFile(Optional.ofNullable(authFile))),
          access,
          ClientOpener::remark);
    } catch (IllegalArgumentException e) {
      throw new CommandException(ExitCode.USAGE, "--zookeeper " + group + ": " + e.getMessage(), e);
    } catch (IOException e) {
      throw new CommandException(ExitCode.UNREACHABLE, String.valueOf(e.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILED, "interrupted", e);
    }
  }

  private static void remark(String line) {
    System.err.println("espalier: " + line);
  }

  @Override
  public Client dataDirectory(Path dataDir) {
    String source;
    try {
      source = DataDirectory.sourceOf(dataDir);
    } catch (DataDirectoryException e) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
    if (source == null) {
      throw new CommandException(
          ExitCode.USAGE,
          Files.isDirectory(dataDir)
              ? dataDir
                  + " is no data directory of a scheduler or a run; a run keeps its own in"
                  + " .espalier/NAME"
              : "there is no directory " + dataDir);
    }
    DataDirectoryOwner owner = DataDirectoryOwner.parse(source);
    SchedulerProcess process = frozen(owner, dataDir);
    try {
      process.awaitSettled();
    } catch (InterruptedException e) {
      process.close();
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILED, "interrupted", e);
    }
    return new EmbeddedSchedulerClient(
        process.api(), new ServerIdentity(Version.get(), "none", ""), process);
  }

  private static SchedulerProcess frozen(DataDirectoryOwner owner, Path dataDir) {
    try {
      return SchedulerProcess.start(
          ProcessOptions.frozen(
              owner,
              ProcessFlags.configDirectory(owner.configUri()),
              dataDir,
              ProcessFlags.hostName()));
    } catch (CommandException e) {
      if (e.getCause() instanceof DataDirectoryException used
          && used.reason() == DataDirectoryException.Reason.LOCKED) {
        throw new CommandException(
            e.exitCode(), e.getMessage() + "; ask that one, with --server URL", e);
      }
      throw e;
    }
  }
}
