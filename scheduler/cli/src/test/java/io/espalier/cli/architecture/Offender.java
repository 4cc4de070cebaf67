package io.espalier.cli.architecture;

import io.espalier.server.app.metrics.EventMetrics;
import io.netty.util.AsciiString;
import io.vertx.core.VertxException;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.thrift.TException;

/** Breaks every rule but that of cycles. Never run. */
final class Offender {
  static final AtomicInteger COUNT = new AtomicInteger();

  @SuppressWarnings("NonFinalStaticField")
  static int last;

  private Offender() {}

  static boolean transport(AsciiString text) {
    return text.isEmpty();
  }

  static String web(VertxException e) {
    return e.toString();
  }

  static String database(SQLException e) {
    return e.getSQLState();
  }

  static EventMetrics partOfTheProcess(EventMetrics metrics) {
    return metrics;
  }

  static String wire(TException e) {
    return e.toString();
  }
}
