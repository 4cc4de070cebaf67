package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.status.store.RefusedDataException;
import io.espalier.core.status.store.StoreException;
import java.io.IOException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Locale;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Translates errors of MySQL, MariaDB and their driver into messages for an operator. */
public final class MySqlErrorTranslator {
  /** SQL states of statements that would fail again in the same way. */
  private static final Set<String> HOPELESS = Set.of("21", "42");

  private MySqlErrorTranslator() {}

  public static StoreException translate(MySqlAddress at, SQLException e) {
    SQLException cause = innermost(e);
    String text = firstLine(cause.getMessage());
    String lower = text.toLowerCase(Locale.ROOT);
    String known =
        switch (cause.getErrorCode()) {
          case 1045, 1251, 1524, 1698, 1820, 1862, 3118 ->
              "refuses user " + at.user() + ": " + text;
          case 1044, 1142, 1143, 1227, 1370 -> "lets user " + at.user() + " do too little: " + text;
          case 1290, 1792, 1836, 3647 -> "is read-only: " + text;
          case 1021, 1114, 3675 -> "has a full disk: " + text;
          case 1205, 1213, 1206 -> "is locked by somebody else: " + text;
          case 1040, 1203, 1226 -> "has no connection to spare: " + text;
          case 1129, 1130 -> "does not let this host in: " + text;
          default -> "";
        };
    if (!known.isEmpty()) {
      return failure(at, known, true, e);
    }
    String wrong =
        switch (cause.getErrorCode()) {
          case 1049 -> "has no schema " + at.schema() + ": create it";
          case 1146, 1054 -> "is not as this program left it: " + text + "; restore it";
          default -> "";
        };
    if (!wrong.isEmpty()) {
      return failure(at, wrong, false, e);
    }
    if (lower.contains("max_allowed_packet") || lower.contains("packet for query is too large")) {
      return refused(
          at, "takes no change of that size: raise its max_allowed_packet (" + text + ")", e);
    }
    if (lower.contains("no space left") || lower.contains("errno: 28")) {
      return failure(at, "has a full disk: " + text, true, e);
    }
    if (lower.contains("public key retrieval")) {
      return failure(
          at, "would get the password in the clear: use TLS (--store-tls required)", false, e);
    }
    String state = cause.getSQLState() == null ? "" : cause.getSQLState();
    if (state.startsWith("08") || cause instanceof SQLTransientConnectionException) {
      return failure(at, "cannot be reached: " + why(cause), true, e);
    }
    if (state.startsWith("22") || state.startsWith("23")) {
      return refused(at, "failed: " + text, e);
    }
    boolean hopeless = state.length() == 5 && HOPELESS.contains(state.substring(0, 2));
    return failure(at, "failed: " + text, !hopeless, e);
  }

  /** The pool wraps the exceptions of its connections. */
  private static SQLException innermost(SQLException e) {
    SQLException cause = e;
    while (cause instanceof SQLTransientConnectionException
        && cause.getErrorCode() == 0
        && cause.getCause() instanceof SQLException inner) {
      cause = inner;
    }
    return cause;
  }

  /** The driver says "Communications link failure" and hides the reason in a cause. */
  private static String why(SQLException e) {
    Throwable at = e;
    Throwable reason = null;
    for (int depth = 0; at != null && depth < 20; depth++) {
      if (at instanceof SSLException || at instanceof CertificateException) {
        return "TLS failed: " + firstLine(deepest(at).getMessage());
      }
      if (at instanceof IOException) {
        reason = at;
      }
      at = at.getCause();
    }
    if (reason instanceof UnknownHostException) {
      return "unknown host";
    }
    return firstLine(reason == null ? e.getMessage() : reason.getMessage());
  }

  private static Throwable deepest(Throwable e) {
    Throwable at = e;
    for (int depth = 0; at.getCause() != null && depth < 20; depth++) {
      at = at.getCause();
    }
    return at;
  }

  private static String firstLine(@Nullable String text) {
    return text == null ? "no reason given" : text.strip().lines().findFirst().orElse("").strip();
  }

  /** The server works, but it refuses the data. */
  private static StoreException refused(MySqlAddress at, String what, SQLException e) {
    return new RefusedDataException("status store " + at + " " + what, e);
  }

  private static StoreException failure(
      MySqlAddress at, String what, boolean retryable, SQLException e) {
    return new StoreException("status store " + at + " " + what, retryable, e);
  }
}
