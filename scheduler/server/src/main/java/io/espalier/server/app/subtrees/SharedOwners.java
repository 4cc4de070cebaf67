package io.espalier.server.app.subtrees;

import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.worker.files.AtomicFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Remembers in the data directory where the owners of subtrees are. A scheduler that would forget
 * them would take subtrees back that others have.
 */
public final class SharedOwners {
  private SharedOwners() {}

  /**
   * Remembers where the owners are.
   *
   * @param file does not exist before the first scheduler with owners
   * @param given where they are said to be; empty: nowhere
   * @throws CommandException when that is not where they were
   * @throws IOException when the file cannot be read or written
   */
  public static void check(Path file, Optional<String> given) throws IOException {
    Optional<String> before =
        Files.exists(file)
            ? Optional.of(Files.readString(file, StandardCharsets.UTF_8).strip())
            : Optional.empty();
    if (before.isPresent() && !before.equals(given)) {
      throw new CommandException(
          ExitCode.USAGE,
          "the owners of subtrees are in "
              + before.get()
              + ": give --subtree-owners "
              + before.get()
              + ", because other schedulers have taken subtrees by what it says");
    }
    if (before.isEmpty() && given.isPresent()) {
      AtomicFiles.replace(file, given.get());
    }
  }
}
