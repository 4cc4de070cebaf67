package io.espalier.cli.flags;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.server.CommandException;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class ProcessFlagsTest {
  @Command
  private static final class Program {
    @Mixin private ProcessFlags flags = new ProcessFlags();
    @Mixin private RemoteFlags remote = new RemoteFlags();
  }

  @Test
  void mistypedFlagsOfWorkersAreRefusedWithAnyRunner() {
    for (String runner : List.of("local", "remote")) {
      Program program = new Program();
      new CommandLine(program)
          .parseArgs("--runner=" + runner, "--protocol-timers=fast", "--thrift=here");
      assertThatThrownBy(
              () -> program.flags.options("site.json", false, false, false, 0, program.remote))
          .isInstanceOf(CommandException.class)
          .hasMessageContaining("--protocol-timers fast is none of ")
          .hasMessageContaining("--thrift here: expected HOST:PORT");
    }
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
