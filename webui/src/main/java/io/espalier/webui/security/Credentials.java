package io.espalier.webui.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the tokens in force: those of a file, whose updates it follows, or none, when no
 * authentication is required. A changed file with an error only sets {@link #problem}. Thread-safe;
 * only {@link #poll} reads files.
 */
public final class Credentials {
  private static final Logger LOG = LoggerFactory.getLogger(Credentials.class);

  private final @Nullable Path file;
  private volatile Tokens tokens;
  private volatile @Nullable String problem;
  private Map<String, Object> stamp = Map.of();

  private Credentials(@Nullable Path file, Tokens tokens) {
    this.file = file;
    this.tokens = tokens;
  }

  /** Returns credentials that allow everything without authentication, meant for loopback. */
  public static Credentials none() {
    return new Credentials(null, new Tokens(List.of()));
  }

  /**
   * Reads a file and follows its updates.
   *
   * @throws TokensFile.Unusable when it is not usable now, with every problem
   */
  public static Credentials of(Path file) throws TokensFile.Unusable {
    // Stamped before it is read, so that the first poll detects a change in between.
    Map<String, Object> before = stamp(file);
    Credentials credentials = new Credentials(file, TokensFile.read(file));
    credentials.stamp = before;
    return credentials;
  }

  /** Returns true when callers must authenticate. */
  public boolean required() {
    return file != null;
  }

  /** Returns the tokens in force. */
  public Tokens tokens() {
    return tokens;
  }

  /** Describes why the newest file is not in force. */
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** Rereads the file when it has changed; blocks meanwhile. */
  public synchronized void poll() {
    Path followed = file;
    if (followed == null) {
      return;
    }
    Map<String, Object> now = stamp(followed);
    if (now.equals(stamp)) {
      return;
    }
    stamp = now;
    try {
      tokens = TokensFile.read(followed);
      problem = null;
      LOG.info("{} has changed: {} in force", followed, tokens);
    } catch (TokensFile.Unusable e) {
      problem = "the tokens file is not in force: " + e.getMessage();
      LOG.error("{}; the tokens from before stay in force", e.getMessage());
    }
  }

  /** Returns metadata that changes whenever the file or its permissions do. */
  private static Map<String, Object> stamp(Path file) {
    try {
      return file.getFileSystem().supportedFileAttributeViews().contains("unix")
          ? Map.copyOf(Files.readAttributes(file, "unix:size,lastModifiedTime,ctime,ino"))
          : Map.copyOf(Files.readAttributes(file, "size,lastModifiedTime"));
    } catch (IOException e) {
      return Map.of("missing", String.valueOf(e.getMessage()));
    }
  }
}
