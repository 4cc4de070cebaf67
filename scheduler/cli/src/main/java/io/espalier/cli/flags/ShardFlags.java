package io.espalier.cli.flags;

import io.espalier.core.config.Partition;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags of commands that may be restricted to a partition of the nodes. */
public final class ShardFlags {
  @Option(
      names = "--shard",
      paramLabel = "I/N",
      description =
          "Number I, from 0, of N schedulers that share the configuration: only the subtrees under"
              + " the instance whose names hash to I (default: 0/1, everything).")
  private @Nullable String shard;

  /**
   * @param problems receives the problems of the flag
   */
  public Partition shard(List<String> problems) {
    try {
      return shard == null ? Partition.WHOLE : Partition.parse(shard);
    } catch (IllegalArgumentException e) {
      problems.add("--shard " + shard + ": " + e.getMessage());
      return Partition.WHOLE;
    }
  }

  /**
   * @throws CommandException when the flag is invalid
   */
  public Partition shard() {
    List<String> problems = new ArrayList<>();
    Partition read = shard(problems);
    if (!problems.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, problems.get(0));
    }
    return read;
  }
}
