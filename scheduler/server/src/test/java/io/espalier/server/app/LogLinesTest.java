package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.atIndex;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

class LogLinesTest {
  private static final String TIME =
      "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}(Z|[+-]\\d\\d:\\d\\d)";

  private static String line(LoggingEvent event) {
    return new String(new LogLines().encode(event), StandardCharsets.UTF_8);
  }

  private static LoggingEvent event(
      Level level, String message, @Nullable Throwable thrown, Object... arguments) {
    LoggingEvent event =
        new LoggingEvent(
            "",
            new LoggerContext().getLogger("io.espalier.server.app.Anything"),
            level,
            message,
            thrown,
            arguments);
    event.setThreadName("main");
    return event;
  }

  @Test
  void hasTimeLevelThreadLoggerAndMessage() {
    assertThat(line(event(Level.INFO, "job {} has {} tasks", null, "backup", 7)))
        .matches(TIME + " INFO  \\[main] i\\.e\\.s\\.app\\.Anything job backup has 7 tasks\\R");
  }

  @Test
  void hasPairsOfKeysAndValuesAfterTheMessage() {
    LoggingEvent event = event(Level.ERROR, "it failed", null);
    event.addKeyValuePair(new KeyValuePair("job", "backup"));
    event.addKeyValuePair(new KeyValuePair("node", "db 1"));
    assertThat(line(event))
        .matches(TIME + " ERROR \\[main] \\S+ it failed job=\"backup\" node=\"db 1\"\\R");
  }

  @Test
  void isFollowedByTheStack() {
    String text = line(event(Level.WARN, "it failed", new IllegalStateException("why")));
    assertThat(text.lines().toList())
        .hasSizeGreaterThan(2)
        .satisfies(line -> assertThat(line).matches(TIME + " WARN  .* it failed"), atIndex(0));
    assertThat(text)
        .contains("java.lang.IllegalStateException: why")
        .contains("\tat " + LogLinesTest.class.getName() + ".isFollowedByTheStack")
        .endsWith(System.lineSeparator());
  }
}
