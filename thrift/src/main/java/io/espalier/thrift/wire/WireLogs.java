package io.espalier.thrift.wire;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.thrift.gen.WireLogLine;
import io.espalier.thrift.gen.WireLogPage;
import io.espalier.thrift.gen.WireLogQuery;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts log queries and their answers. Thread-safe; reading throws {@link BadMessageException}.
 */
public final class WireLogs {
  private WireLogs() {}

  public static WireLogQuery of(LogQuery query) {
    return new WireLogQuery(
        query.streams().stream().map(LogLine.Stream::label).toList(),
        query.jobs(),
        query.nodes(),
        query.invocation(),
        query.from(),
        query.ascending(),
        query.limit(),
        query.sinceMillis(),
        query.untilMillis(),
        query.regex());
  }

  public static LogQuery query(@Nullable WireLogQuery wire) {
    WireLogQuery query = Wire.present(wire, "a query");
    Set<LogLine.Stream> streams = EnumSet.noneOf(LogLine.Stream.class);
    streams.addAll(Wire.each(query.getStreams(), WireLogs::stream));
    String regex = Wire.text(query.getRegex());
    String complaint = LogQuery.complaintAbout(regex);
    if (!complaint.isEmpty()) {
      throw new BadMessageException("not a regular expression: " + complaint);
    }
    try {
      return new LogQuery(
          streams,
          Wire.each(query.getJobs(), Wire::text),
          Wire.each(query.getNodes(), Wire::text),
          Wire.text(query.getInvocation()),
          query.getFromId(),
          query.isAscending(),
          query.getLimit(),
          query.getSinceMillis(),
          query.getUntilMillis(),
          regex);
    } catch (IllegalArgumentException e) {
      throw new BadMessageException("a query that means nothing: " + e.getMessage(), e);
    }
  }

  public static WireLogPage of(LogPage page) {
    return new WireLogPage(
        Wire.each(
            page.lines(),
            line ->
                new WireLogLine(
                    line.id(),
                    line.stream().label(),
                    line.job(),
                    line.node(),
                    line.invocation(),
                    line.timeMillis(),
                    line.text())),
        page.nextId());
  }

  public static LogPage page(@Nullable WireLogPage wire) {
    WireLogPage page = Wire.present(wire, "a page");
    return new LogPage(
        Wire.each(
            page.getLines(),
            line ->
                new LogLine(
                    line.getId(),
                    stream(line.getStream()),
                    Wire.text(line.getJob()),
                    Wire.text(line.getNode()),
                    Wire.text(line.getInvocation()),
                    line.getTimeMillis(),
                    Wire.text(line.getText()))),
        page.getNextId());
  }

  private static LogLine.Stream stream(@Nullable String label) {
    return Wire.word(LogLine.Stream.values(), LogLine.Stream::label, label, "stream");
  }
}
