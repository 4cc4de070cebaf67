package io.espalier.server.store.jdbc;

import org.flywaydb.core.api.logging.Log;
import org.flywaydb.core.api.logging.LogCreator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Suppresses Flyway's progress reports and advertisements in the log. Flyway creates it by name.
 */
public final class FlywayLog implements LogCreator {
  @Override
  public Log createLogger(Class<?> type) {
    return new Quiet(LoggerFactory.getLogger(type));
  }

  private record Quiet(Logger target) implements Log {
    @Override
    public void debug(String message) {
      target.trace(message);
    }

    @Override
    public void info(String message) {
      target.debug(message);
    }

    @Override
    public void notice(String message) {
      target.debug(message);
    }

    @Override
    public void warn(String message) {
      target.warn(message);
    }

    @Override
    public void error(String message) {
      target.error(message);
    }

    /** Flyway throws as well, and the caller says why in one line; this may be its clean-up. */
    @Override
    public void error(String message, Exception cause) {
      target.debug(message, cause);
    }
  }
}
