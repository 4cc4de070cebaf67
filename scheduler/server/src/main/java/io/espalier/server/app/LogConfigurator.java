package io.espalier.server.app;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.Map;
import org.slf4j.Logger;

/**
 * Configures the log: to standard error, because standard output belongs to the commands. The
 * property {@code espalier.log.level} or the variable {@code ESPALIER_LOG_LEVEL} sets the level;
 * {@code logback.configurationFile} names a file to use in place of all this. In code, because
 * reading a file of XML took a tenth of the start of a command.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {
  private static final String PATTERN =
      "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level [%thread] %logger{20}"
          + " %msg%replace( %kvp){'^ $', ''}%n";

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

  @Override
  public ExecutionStatus configure(LoggerContext logs) {
    if (System.getProperty("logback.configurationFile") != null
        || getClass().getResource("/logback-test.xml") != null) {
      return ExecutionStatus.INVOKE_NEXT_IF_ANY;
    }
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(logs);
    encoder.setPattern(PATTERN);
    encoder.start();
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(logs);
    appender.setName("stderr");
    appender.setTarget("System.err");
    appender.setEncoder(encoder);
    appender.start();
    LEVELS.forEach((name, level) -> logs.getLogger(name).setLevel(level));
    logs.getLogger("io.espalier").setLevel(level());
    logs.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  private static Level level() {
    String level = System.getProperty("espalier.log.level", System.getenv("ESPALIER_LOG_LEVEL"));
    return Level.toLevel(level, Level.INFO);
  }
}
