package io.espalier.worker.process.spawn;

import io.espalier.core.config.task.StatusSource;
import io.espalier.core.running.LaunchSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Builds the argv of a task from a job's command (docs/design/design.md#arguments-of-a-task).
 *
 * <p>Without placeholders, and unless the status comes from the exit code, three arguments are
 * appended: node name (of a batch: the path of its file), status path, JSON argument. A JSON
 * argument of more than {@link #MAX_INLINE_JSON} bytes is written to a file, and the argument is
 * {@code @} followed by its path (JSON never begins with an {@code @}). The placeholders {@code
 * {node}}, {@code {job}}, {@code {status_file}}, {@code {json_file}} and, in a batch in the place
 * of {@code {node}}, {@code {batch_file}} may occur anywhere in the arguments after the first;
 * their replacements are not searched for placeholders again.
 *
 * <p>No shell is involved. Where a command itself calls one ({@code sh -c TEXT}), it would execute
 * a name inside TEXT, so only names of harmless characters are accepted there.
 */
public final class CommandLine {
  /**
   * Above this size the JSON argument is passed in a file: Linux allows 128 KiB for one argument.
   */
  static final int MAX_INLINE_JSON = 96 * 1024;

  private static final Pattern PLACEHOLDER =
      Pattern.compile("\\{(node|job|status_file|json_file|batch_file)}");
  private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9_.,:/@%+=-]*");
  private static final Set<String> SHELLS = Set.of("sh", "bash", "dash", "zsh", "ksh", "ash");

  private CommandLine() {}

  /** The JSON argument in both of its forms. */
  interface Argument {
    String text();

    /** Returns the file, which the first call writes. */
    Path file() throws IOException;
  }

  /**
   * @param command command with its placeholders
   * @param batchFile the file of the batch that the process runs; null: it runs only the task
   * @throws IOException when the file for the JSON argument cannot be written
   * @throws IllegalArgumentException when a name is not allowed at its placeholder
   */
  public static List<String> argv(
      LaunchSpec launch,
      List<String> command,
      String statusPath,
      Argument json,
      @Nullable Path batchFile)
      throws IOException {
    List<String> argv = new ArrayList<>(command.size() + 3);
    argv.add(command.get(0));
    boolean shell = SHELLS.contains(baseName(command.get(0)));
    boolean found = false;
    boolean shellText = false;
    for (int i = 1; i < command.size(); i++) {
      String argument = command.get(i);
      Matcher matcher = PLACEHOLDER.matcher(argument);
      StringBuilder replaced = new StringBuilder();
      boolean here = false;
      while (matcher.find()) {
        here = true;
        String value = value(matcher.group(1), launch, statusPath, json, batchFile);
        if (shellText && !HARMLESS.matcher(value).matches()) {
          throw new IllegalArgumentException(
              matcher.group()
                  + " is in text for a shell, and \""
                  + value
                  + "\" has characters with a meaning there; give it as an argument of its own"
                  + " and use \"$1\"");
        }
        matcher.appendReplacement(replaced, Matcher.quoteReplacement(value));
      }
      found |= here;
      argv.add(here ? matcher.appendTail(replaced).toString() : argument);
      shellText = shell && isCommandFlag(argument);
    }
    if (!found && launch.statusFrom() != StatusSource.EXIT_CODE) {
      argv.add(batchFile == null ? launch.node() : batchFile.toString());
      argv.add(statusPath);
      argv.add(isLong(json.text()) ? "@" + json.file() : json.text());
    }
    for (String argument : argv) {
      if (argument.indexOf('\0') >= 0) {
        throw new IllegalArgumentException("an argument contains a NUL character");
      }
    }
    return argv;
  }

  private static boolean isLong(String text) {
    return 3L * text.length() > MAX_INLINE_JSON
        && text.getBytes(StandardCharsets.UTF_8).length > MAX_INLINE_JSON;
  }

  /** Returns whether the argument is a group of short options with a c, like -ec. */
  private static boolean isCommandFlag(String argument) {
    return argument.startsWith("-") && !argument.startsWith("--") && argument.indexOf('c') > 0;
  }

  private static String value(
      String name, LaunchSpec launch, String statusPath, Argument json, @Nullable Path batchFile)
      throws IOException {
    return switch (name) {
      case "node" -> {
        if (batchFile != null) {
          throw new IllegalArgumentException(
              "{node} in the command of a batch, which has many nodes; {batch_file} is the file"
                  + " that names them");
        }
        yield launch.node();
      }
      case "batch_file" -> {
        if (batchFile == null) {
          throw new IllegalArgumentException(
              "{batch_file} in the command of a job without \"batch\"");
        }
        yield batchFile.toString();
      }
      case "job" -> launch.job();
      case "status_file" -> statusPath;
      default -> json.file().toString();
    };
  }

  private static String baseName(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /**
   * Resolves the program: an absolute path stays as it is, a path with a slash is relative to the
   * directory of the configuration, and a bare word is looked up in the task's search path.
   *
   * @throws IOException naming the path and the problem with it
   */
  public static Path resolve(String program, Path configDirectory, String searchPath)
      throws IOException {
    if (program.isEmpty()) {
      throw new IOException("the first word of the command is empty");
    }
    try {
      if (program.indexOf('/') >= 0) {
        Path path = configDirectory.resolve(program).toAbsolutePath().normalize();
        requireRunnable(path);
        return path;
      }
      for (String directory : searchPath.split(":", -1)) {
        Path path = Path.of(directory).resolve(program);
        if (path.isAbsolute() && Files.isRegularFile(path) && Files.isExecutable(path)) {
          return path;
        }
      }
    } catch (InvalidPathException e) {
      throw new IOException("not a path: " + e.getMessage(), e);
    }
    throw new IOException(
        "no program \""
            + program
            + "\" in PATH ("
            + searchPath
            + "); a script beside the configuration is written ./"
            + program);
  }

  private static void requireRunnable(Path path) throws IOException {
    String wrong;
    if (Files.isDirectory(path)) {
      wrong = "Is a directory";
    } else if (!Files.exists(path)) {
      wrong = "No such file or directory";
    } else if (!Files.isExecutable(path)) {
      wrong = "Permission denied (it is not executable; chmod +x makes it so)";
    } else {
      return;
    }
    throw new IOException("cannot start " + path + ": " + wrong);
  }
}
