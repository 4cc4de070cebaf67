package io.espalier.testkit.lives;

import io.espalier.core.loop.SchedulerLoop;
import io.espalier.testkit.cluster.SimulatedCluster;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * Counts simulated lives over many runs. Each run appends one line: the simulated code, the first
 * seed, the number of lives, and the number of failures. Lines of other code do not count, so runs
 * add up over commits exactly as long as those leave the simulated code as it is.
 */
final class LivesFile {
  private final Path file;
  private final String code;

  private LivesFile(Path file, String code) {
    this.file = file;
    this.code = code;
  }

  /**
   * @throws IOException when the classes cannot be read
   */
  static LivesFile of(Path file) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Class<?> one : List.of(SchedulerLoop.class, SimulatedCluster.class)) {
        Path place = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isDirectory(place)) {
          add(digest, place.resolve("io/espalier"));
        } else {
          try (FileSystem jar = FileSystems.newFileSystem(place)) {
            add(digest, jar.getPath("io/espalier"));
          }
        }
      }
      return new LivesFile(file, HexFormat.of().formatHex(digest.digest(), 0, 8));
    } catch (NoSuchAlgorithmException | URISyntaxException e) {
      throw new IOException("cannot tell which code is simulated: " + e, e);
    }
  }

  /**
   * Adds the core and the simulation itself to the digest; neighbouring classes are not simulated.
   */
  private static void add(MessageDigest digest, Path root) throws IOException {
    for (String part : List.of("core", "testkit/cluster")) {
      Path directory = root.resolve(part);
      if (!Files.isDirectory(directory)) {
        continue;
      }
      List<Path> classes;
      try (Stream<Path> all = Files.walk(directory)) {
        classes = all.filter(path -> path.toString().endsWith(".class")).sorted().toList();
      }
      for (Path each : classes) {
        digest.update(Files.readAllBytes(each));
      }
    }
  }

  private record Run(long from, long lives, long failed) {}

  private List<Run> runs() throws IOException {
    if (!Files.exists(file)) {
      return List.of();
    }
    return Files.readAllLines(file).stream()
        .map(line -> line.split(" ", -1))
        .filter(words -> words.length == 4 && words[0].equals(code))
        .map(
            words ->
                new Run(
                    Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3])))
        .toList();
  }

  /** Returns the first seed that has not run with this code. */
  long next() throws IOException {
    return runs().stream().mapToLong(run -> run.from() + run.lives()).max().orElse(1);
  }

  /** Appends a run. */
  void add(long from, long lives, long failed) throws IOException {
    Files.writeString(
        file,
        code + " " + from + " " + lives + " " + failed + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /** Returns one line about all runs of this code. */
  String total() throws IOException {
    List<Run> all = runs();
    return "code "
        + code
        + ": "
        + all.stream().mapToLong(Run::lives).sum()
        + " lives in "
        + all.size()
        + " runs, "
        + all.stream().mapToLong(Run::failed).sum()
        + " failed";
  }
}
