package io.espalier.server.store.jdbc.sqlite;

import io.espalier.core.status.store.StoreException;
import java.nio.file.Path;
import java.sql.SQLException;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Translates SQLite's errors into messages for an operator. */
final class SqliteErrorTranslator {
  private SqliteErrorTranslator() {}

  static StoreException translate(Path file, SQLException e) {
    SQLException cause = e;
    // The pool wraps the exceptions of its connections.
    while (!(cause instanceof SQLiteException) && cause.getCause() instanceof SQLException inner) {
      cause = inner;
    }
    int extended = cause instanceof SQLiteException sqlite ? sqlite.getResultCode().code : -1;
    return switch (primary(extended)) {
      case SQLITE_BUSY, SQLITE_LOCKED ->
          failure("status file " + file + " is locked by another process", true, e);
      case SQLITE_FULL -> failure("the disk is full: cannot write status file " + file, true, e);
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH ->
          failure("status file " + file + " cannot be written: it is read-only", true, e);
      case SQLITE_CANTOPEN ->
          failure("status file " + file + " cannot be opened or created", true, e);
      case SQLITE_IOERR ->
          failure("status file " + file + ": the disk failed (" + text(cause) + ")", true, e);
      case SQLITE_NOTADB -> failure("status file " + file + " is not a SQLite database", false, e);
      case SQLITE_CORRUPT ->
          failure("status file " + file + " is damaged; restore it or move it away", false, e);
      case SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE ->
          failure("status file " + file + ": " + text(cause), false, e);
      default -> failure("status file " + file + ": " + text(cause), true, e);
    };
  }

  private static SQLiteErrorCode primary(int extended) {
    return extended < 0
        ? SQLiteErrorCode.UNKNOWN_ERROR
        : SQLiteErrorCode.getErrorCode(extended & 0xff);
  }

  private static String text(SQLException e) {
    return String.valueOf(e.getMessage()).strip();
  }

  private static StoreException failure(String message, boolean retryable, SQLException e) {
    return new StoreException(message, retryable, e);
  }
}
