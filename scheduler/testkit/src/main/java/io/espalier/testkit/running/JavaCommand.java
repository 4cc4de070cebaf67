package io.espalier.testkit.running;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command of another Java process with the class path of this one. */
public final class JavaCommand {
  private JavaCommand() {}

  /** Returns the command that runs a main class. */
  public static List<String> of(Class<?> main, String... arguments) {
    return of(List.of(), main, arguments);
  }

  /**
   * Returns the command that runs a main class.
   *
   * @param options of the virtual machine, besides those that make it start and end soon
   */
  public static List<String> of(List<String> options, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return command;
  }
}
