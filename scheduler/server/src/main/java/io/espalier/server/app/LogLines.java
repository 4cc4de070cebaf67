package io.espalier.server.app;

import ch.qos.logback.classic.pattern.TargetLengthBasedClassNameAbbreviator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.slf4j.event.KeyValuePair;

/**
 * Writes an event of the log as a line: time, level, thread, logger, message, pairs of keys and
 * values; the stack follows. In code, because logback's interpreter of patterns took longer to load
 * than most commands need for their work.
 */
final class LogLines extends EncoderBase<ILoggingEvent> {
  private static final int LOGGER_WIDTH = 20;

  private final TargetLengthBasedClassNameAbbreviator loggers =
      new TargetLengthBasedClassNameAbbreviator(LOGGER_WIDTH);

  /** Apart, because most commands write no line. */
  private static final class Time {
    static final DateTimeFormatter FORMAT =
        DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
            .withZone(ZoneId.systemDefault());
  }

  @Override
  public byte[] headerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringBuilder line = new StringBuilder(200);
    Time.FORMAT.formatTo(Instant.ofEpochMilli(event.getTimeStamp()), line);
    String level = event.getLevel().toString();
    line.append(' ').append(level).append(" ".repeat(Math.max(0, 5 - level.length())));
    line.append(" [").append(event.getThreadName()).append("] ");
    line.append(loggers.abbreviate(event.getLoggerName()));
    line.append(' ').append(event.getFormattedMessage());
    List<KeyValuePair> pairs = event.getKeyValuePairs();
    if (pairs != null) {
      pairs.forEach(
          pair -> line.append(' ').append(pair.key).append("=\"").append(pair.value).append('"'));
    }
    line.append(System.lineSeparator());
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null) {
      line.append(ThrowableProxyUtil.asString(thrown));
    }
    return line.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] footerBytes() {
    return new byte[0];
  }
}
