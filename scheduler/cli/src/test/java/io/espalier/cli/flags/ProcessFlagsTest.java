package io.espalier.cli.flags;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.server.CommandException;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class ProcessFlagsTest {
  @Command
  private static final class Program {
    @Mixin private ProcessFlags flags = new ProcessFlags();
  }

  @Test
  void statusesAreEitherForgottenOrTaken() {
    Program program = new Program();
    new CommandLine(program)
        .parseArgs("--statuses-from=earlier", "--http=none", "--test-failure-rate=2");
    assertThatThrownBy(() -> program.flags.options("site.json", false, true, false, 0, null))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("--fresh forgets all statuses and --statuses-from takes some")
        .hasMessageContaining("--test-failure-rate must be between 0 and 1");
  }
}
