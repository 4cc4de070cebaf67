package io.espalier.cli;

import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.DataDirectoryException;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.sqlite.SqliteBackup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Copies of the status store of a data directory, and the way back. */
final class BackupCommands {
  private BackupCommands() {}

  /** {@code espalier backup}. */
  @Command(
      name = "backup",
      mixinStandardHelpOptions = true,
      description = {
        "Copy the statuses of a data directory to a new file, also while a scheduler runs.",
        "",
        "The copy is consistent, checked, and on disk when the command ends. It contains statuses,"
            + " attempts, events and what operators have set; not the configuration, nor the output"
            + " of tasks. For a store in MySQL it prints the command that copies it."
      },
      footer = {
        "",
        "Exit codes: 0 copied, 2 not.",
        "",
        "EXAMPLES",
        "  espalier backup --data-dir /var/lib/espalier /backup/espalier.sqlite",
        "  espalier backup --status-store mysql://espalier@db.example:3306/espalier copy.sql"
      })
  static final class Backup extends CopyCommand {
    Backup() {
      super("copied");
    }

    @Override
    String inMySql(MySqlAddress store, Path file) {
      return MySqlCopies.dump(store, file);
    }

    @Override
    SqliteBackup.Contents copy(Path dataDir, Path file) throws IOException {
      return SqliteBackup.write(dataDir.resolve(DataDirectory.STATUSES), file);
    }
  }

  /** {@code espalier restore}. */
  @Command(
      name = "restore",
      mixinStandardHelpOptions = true,
      description = {
        "Put a copy made by backup in place of the statuses of a data directory.",
        "",
        "A missing directory is created. What was done since the copy was made is done again. The"
            + " scheduler and all workers must be stopped; the next scheduler starts nothing until"
            + " no earlier task can be alive. The statuses that were there are kept beside, as"
            + " statuses.sqlite.replaced."
      },
      footer = {
        "",
        "Exit codes: 0 restored, 2 not; then nothing was changed.",
        "",
        "EXAMPLES",
        "  espalier restore --data-dir /var/lib/espalier /backup/espalier.sqlite"
      })
  static final class Restore extends CopyCommand {
    Restore() {
      super("restored");
    }

    @Override
    String inMySql(MySqlAddress store, Path file) {
      return "stop all schedulers and workers, and then: " + MySqlCopies.load(store, file);
    }

    @Override
    SqliteBackup.Contents copy(Path dataDir, Path file) throws IOException, DataDirectoryException {
      SqliteBackup.Contents copy = SqliteBackup.check(file);
      try (DataDirectory data = DataDirectory.openUnbound(dataDir)) {
        refuseAnother(data, copy);
        data.replaceStatuses(file, "its statuses were restored from " + file.getFileName());
      }
      return copy;
    }

    /** Refuses what would mix two stores; a damaged one may be replaced by any copy. */
    private static void refuseAnother(DataDirectory data, SqliteBackup.Contents copy)
        throws IOException {
      if (data.isPassedOn()) {
        throw new IOException(
            "other schedulers have taken over the statuses of "
                + data.root()
                + " (--statuses-from): restore theirs");
      }
      if (!Files.exists(data.statusFile())) {
        return;
      }
      SqliteBackup.Contents here;
      try {
        here = SqliteBackup.check(data.statusFile());
      } catch (IOException damaged) {
        return;
      }
      if (!here.storeId().equals(copy.storeId())) {
        throw new IOException(
            "the copy is of another store ("
                + copy.storeId()
                + ") than "
                + data.statusFile()
                + " ("
                + here.storeId()
                + "): move that file away if you mean it");
      }
    }
  }

  /** The common part: a data directory, a copy, and what became of it. */
  abstract static class CopyCommand implements Callable<Integer> {
    private final String done;

    @Spec private CommandSpec spec = CommandSpec.create();

    @Option(
        names = "--data-dir",
        paramLabel = "DIR",
        description = "The data directory of the scheduler; not for a store in MySQL.")
    private @Nullable Path dataDir;

    @Option(
        names = "--status-store",
        paramLabel = "STORE",
        defaultValue = "sqlite",
        description =
            "The store of the scheduler, as it has it (default: ${DEFAULT-VALUE}); one in MySQL is"
                + " refused, with the command that does it.")
    private String store = "sqlite";

    @Parameters(paramLabel = "FILE", description = "The copy.")
    private Path file = Path.of("");

    /**
     * @param done what has happened to the statuses, for people
     */
    CopyCommand(String done) {
      this.done = done;
    }

    /** Returns the command that does the same with a store in MySQL. */
    abstract String inMySql(MySqlAddress address, Path copy);

    /** Makes the copy, or puts it in place, and returns what is in it. */
    abstract SqliteBackup.Contents copy(Path directory, Path copy)
        throws IOException, DataDirectoryException;

    @Override
    public final Integer call() {
      refuseOtherStores();
      Path directory = dataDir;
      if (directory == null) {
        throw new CommandException(
            ExitCode.USAGE,
            "give --data-dir DIR, or the scheduler's --status-store if it is in MySQL");
      }
      SqliteBackup.Contents contents;
      try {
        contents = copy(directory, file);
      } catch (DataDirectoryException | IOException e) {
        throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
      }
      spec.commandLine()
          .getOut()
          .println(
              String.format(
                  Locale.ROOT,
                  "%s %,d statuses of store %s, epoch %d",
                  done,
                  contents.statuses(),
                  contents.storeId(),
                  contents.epoch()));
      return ExitCode.OK;
    }

    /** The statuses may be elsewhere, and a file in the data directory left from before. */
    private void refuseOtherStores() {
      if (store.equals("sqlite")) {
        return;
      }
      if (!store.startsWith("mysql://")) {
        throw new CommandException(
            ExitCode.USAGE, "--status-store " + store + ": only sqlite has a file to copy");
      }
      String instead;
      try {
        instead = inMySql(MySqlAddress.parse(store), file);
      } catch (IllegalArgumentException e) {
        throw new CommandException(ExitCode.USAGE, "--status-store " + e.getMessage(), e);
      }
      throw new CommandException(
          ExitCode.USAGE, "the statuses are in MySQL, and its own tools copy them: " + instead);
    }
  }

  /** The command lines of MySQL and MariaDB that copy a store; they ask for the password. */
  private static final class MySqlCopies {
    private MySqlCopies() {}

    /** A consistent copy, also while a scheduler writes, with which the account is content. */
    static String dump(MySqlAddress store, Path file) {
      return "mysqldump --single-transaction --no-tablespaces --skip-add-locks "
          + account(store)
          + " --result-file="
          + quoted(file.toString())
          + " "
          + quoted(store.schema());
    }

    static String load(MySqlAddress store, Path file) {
      return "mysql "
          + account(store)
          + " "
          + quoted(store.schema())
          + " < "
          + quoted(file.toString());
    }

    private static String account(MySqlAddress store) {
      return "--host="
          + quoted(store.host())
          + " --port="
          + store.port()
          + " --user="
          + quoted(store.user())
          + " --password";
    }

    private static String quoted(String word) {
      return word.matches("[\\w./:@%+=,-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
  }
}
