package io.espalier.thrift.wire;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.thrift.gen.WireLogLine;
import io.espalier.thrift.gen.WireLogPage;
import io.espalier.thrift.gen.WireLogQuery;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Questions about logs. Thread-safe; reading throws {@link BadMessage}. */
public final class WireLogs {
  private WireLogs() {}

  public static WireLogQuery of(LogQuery query) {
    WireLogQuery wire = new WireLogQuery();
    wire.setStream(query.stream().label());
    wire.setJobs(query.jobs());
    wire.setNodes(query.nodes());
    wire.setFromId(query.from());
    wire.setAscending(query.ascending());
    wire.setLimit(query.limit());
    if (query.regex() != null) {
      wire.setRegex(query.regex().pattern());
      wire.setRegexFlags(query.regex().flags());
    }
    return wire;
  }

  public static LogQuery query(@Nullable WireLogQuery wire) {
    WireLogQuery query = Wire.present(wire, "a query");
    Pattern regex;
    try {
      regex = query.isSetRegex() ? Pattern.compile(query.getRegex(), query.getRegexFlags()) : null;
    } catch (PatternSyntaxException e) {
      throw new BadMessage("not a regular expression: " + e.getDescription(), e);
    } catch (IllegalArgumentException e) {
      throw new BadMessage("unknown flags of a regular expression", e);
    }
    return new LogQuery(
        stream(query.getStream()),
        query.getJobs() == null ? List.of() : query.getJobs(),
        query.getNodes() == null ? List.of() : query.getNodes(),
        query.getFromId(),
        query.isAscending(),
        query.getLimit(),
        regex);
  }

  public static WireLogPage of(LogPage page) {
    return new WireLogPage(
        Wire.each(
            page.lines(),
            line ->
                new WireLogLine(
                    line.id(), line.job(), line.node(), line.timeMillis(), line.text())),
        page.nextId());
  }

  /**
   * @param stream of the question
   */
  public static LogPage page(@Nullable WireLogPage wire, LogLine.Stream stream) {
    WireLogPage page = Wire.present(wire, "a page");
    return new LogPage(
        Wire.each(
            page.getLines(),
            line ->
                new LogLine(
                    line.getId(),
                    stream,
                    Wire.text(line.getJob()),
                    Wire.text(line.getNode()),
                    line.getTimeMillis(),
                    Wire.text(line.getText()))),
        page.getNextId());
  }

  private static LogLine.Stream stream(@Nullable String label) {
    return Wire.word(LogLine.Stream.values(), LogLine.Stream::label, label, "stream");
  }
}
