package io.espalier.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The built distribution, which the end-to-end tests and the drills run: the jars and the
 * class-data archive that users run, with a small heap and a cheap compiler.
 */
public final class Distribution {
  private static final Path DISTRIBUTION =
      Path.of(System.getProperty("espalier.dist", "../cli/target/dist")).toAbsolutePath();

  private Distribution() {}

  /** Returns the home of this Java. */
  public static String javaHome() {
    return System.getProperty("java.home");
  }

  /** Returns the path of this Java's {@code java}. */
  public static String java() {
    return Path.of(javaHome(), "bin", "java").toString();
  }

  /**
   * Returns the launcher that users run, with its heap and its compilers: for what is measured. It
   * takes Java from {@code JAVA_HOME}.
   */
  public static List<String> launcher() {
    return List.of(DISTRIBUTION.resolve("espalier").toString());
  }

  /**
   * Returns the command that runs the program, to which its arguments are appended.
   *
   * @param logLevel the least level of messages on its standard error
   * @throws IllegalStateException when the distribution was not built
   */
  public static List<String> command(String logLevel) {
    List<String> command = new ArrayList<>();
    command.add(java());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            // As the launcher does for commands that answer and end.
            "-XX:CompileThresholdScaling=3",
            "-Xshare:auto",
            "-Xlog:disable",
            "-Xlog:all=error,cds*=off:stderr",
            "-Xmx256m",
            "-Despalier.log.level=" + logLevel,
            "-Despalier.home=" + DISTRIBUTION));
    if (Runtime.version().feature() >= 22) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    onlyFile(DISTRIBUTION.resolve("cds"), ".jsa")
        .ifPresent(archive -> command.add("-XX:SharedArchiveFile=" + archive));
    Path jar =
        onlyFile(DISTRIBUTION.resolve("lib"), ".jar")
            .orElseThrow(() -> new IllegalStateException("no espalier-cli in " + DISTRIBUTION));
    command.addAll(List.of("-cp", jar.toString(), "io.espalier.cli.Main"));
    return command;
  }

  /** The main jar or the archive; an empty archive says that none could be made. */
  private static Optional<Path> onlyFile(Path directory, String ending) {
    if (!Files.isDirectory(directory)) {
      return Optional.empty();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.toString().endsWith(ending))
          .filter(
              file ->
                  !ending.equals(".jar")
                      || file.getFileName().toString().startsWith("espalier-cli-"))
          .filter(file -> file.toFile().length() > 0)
          .findFirst();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
