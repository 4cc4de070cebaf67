package io.espalier.server.store.jdbc.mysql;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A name of any length in two columns: a key that fits into an index, and the whole name where it
 * differs from the key.
 *
 * @param key the name itself, or the beginning and the hash of a longer name. The key of a longer
 *     name has exactly {@link #LENGTH} bytes; a name that is its own key never has that length
 * @param whole null when the key is the name
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record NameKey(byte[] key, byte @Nullable [] whole) {
  static final int LENGTH = 255;
  private static final int HASH = 32;

  static NameKey of(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length < LENGTH) {
      return new NameKey(bytes, null);
    }
    byte[] key = Arrays.copyOf(bytes, LENGTH);
    System.arraycopy(sha256(bytes), 0, key, LENGTH - HASH, HASH);
    return new NameKey(key, bytes);
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Sets the parameters {@code at} and {@code at + 1}. */
  void set(PreparedStatement statement, int at) throws SQLException {
    statement.setBytes(at, key);
    if (whole == null) {
      statement.setNull(at + 1, Types.VARBINARY);
    } else {
      statement.setBytes(at + 1, whole);
    }
  }

  /** Returns the name in the columns {@code at} and {@code at + 1}. */
  static String read(ResultSet found, int at) throws SQLException {
    byte[] key = found.getBytes(at);
    // Only a key of full length represents a longer name.
    byte[] whole = key.length == LENGTH ? found.getBytes(at + 1) : null;
    return new String(whole == null ? key : whole, StandardCharsets.UTF_8);
  }
}
