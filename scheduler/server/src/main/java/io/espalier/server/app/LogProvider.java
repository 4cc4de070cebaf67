package io.espalier.server.app;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LogbackServiceProvider;
import ch.qos.logback.core.ConsoleAppender;
import java.util.Map;

/**
 * Provides the log: to standard error, because standard output belongs to the commands. The
 * property {@code espalier.log.level} or the variable {@code ESPALIER_LOG_LEVEL} sets the level;
 * {@code logback.configurationFile} names a file to use in place of all this. In code, because
 * reading a file of XML took a tenth of the start of a command, and to search all archives for
 * somebody who configures the log took as long as the rest of it.
 */
public final class LogProvider extends LogbackServiceProvider {
  /** What goes wrong with these is said once, as a problem, and not at each attempt. */
  private static final Map<String, Level> LEVELS =
      Map.of(
          Logger.ROOT_LOGGER_NAME,
          Level.WARN,
          "org.apache.zookeeper",
          Level.ERROR,
          "org.apache.curator",
          Level.OFF,
          "com.zaxxer.hikari",
          Level.OFF,
          // It reports, as an error, that another process has removed an old file before it.
          "org.sqlite.SQLiteJDBCLoader",
          Level.OFF);

  /** Makes SLF4J use this provider; to be called before anybody asks for a logger. */
  public static void use() {
    System.setProperty("slf4j.provider", LogProvider.class.getName());
    // It would tell on standard error that it does.
    System.setProperty("slf4j.internal.verbosity", "WARN");
  }

  @Override
  public void initialize() {
    if (System.getProperty("logback.configurationFile") != null) {
      super.initialize();
      return;
    }
    LoggerContext logs = (LoggerContext) getLoggerFactory();
    logs.setName("espalier");
    logs.setMDCAdapter(getMDCAdapter());
    LogLines lines = new LogLines();
    lines.setContext(logs);
    lines.start();
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(logs);
    appender.setName("stderr");
    appender.setTarget("System.err");
    appender.setEncoder(lines);
    appender.start();
    LEVELS.forEach((name, level) -> logs.getLogger(name).setLevel(level));
    logs.getLogger("io.espalier").setLevel(level());
    logs.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
    logs.start();
  }

  private static Level level() {
    String level = System.getProperty("espalier.log.level", System.getenv("ESPALIER_LOG_LEVEL"));
    return Level.toLevel(level, Level.INFO);
  }
}
