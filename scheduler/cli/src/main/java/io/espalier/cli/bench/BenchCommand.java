package io.espalier.cli.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code espalier bench}: experiments that need only this machine. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    subcommands = {PaperCommand.class, MakespanCommand.class},
    description = "Run an experiment on this machine.",
    footer = {"", "EXAMPLES", "  espalier bench paper --scale 0.1", "  espalier bench makespan"})
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "say which experiment: paper or makespan");
  }
}
