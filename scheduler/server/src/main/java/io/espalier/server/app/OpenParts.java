package io.espalier.server.app;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open parts of a process, closed in the reverse order of their opening. A part that fails to
 * close does not keep the next one from being closed. Not thread-safe.
 */
final class OpenParts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenParts.class);

  /** Newest first. */
  private final Deque<Part> parts = new ArrayDeque<>();

  private record Part(String name, AutoCloseable closing) {}

  /** Adds a part and returns it. */
  <T extends AutoCloseable> T add(String name, T part) {
    parts.push(new Part(name, part));
    return part;
  }

  @Override
  public void close() {
    while (!parts.isEmpty()) {
      Part part = parts.pop();
      try {
        part.closing().close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception | Error e) {
        // An Error, too: a class may be missing since the archives were replaced by an upgrade.
        LOG.warn("closing {} failed", part.name(), e);
      }
    }
  }
}
