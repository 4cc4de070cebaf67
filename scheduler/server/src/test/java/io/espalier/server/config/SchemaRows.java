package io.espalier.server.config;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Documents of one theme, each with what parser and schema must say of it; quotes are single ones.
 * A theme is a subclass that adds its rows when it is made.
 */
abstract class SchemaRows {
  /** What parser and schema say of a document. */
  enum Verdict {
    /** Both accept. */
    GOOD,
    /** Both refuse. */
    BAD,
    /** Only the parser sees the error: it needs to look at two places at once. */
    BAD_FOR_PARSER,
    /** The schema is what {@code --strict} is: it refuses what the parser warns of. */
    WARNED
  }

  record Row(Verdict verdict, String document) {
    @Override
    public String toString() {
      return verdict + " " + document;
    }
  }

  static final String SETTINGS =
      "'nodes': {'levels': ['host', 'db'], 'node_sources': [{'source': 'empty'}]},"
          + "'resources': {'host': {'slots': {'default': 1, 'limit': 2}},"
          + "'worker': {'ram': {'default': 0, 'limit': 9}}}";

  static String settings(String member) {
    return "{'bistro_settings': {" + SETTINGS + ", " + member + "}}";
  }

  static String onlySettings(String members) {
    return "{'bistro_settings': {" + members + "}}";
  }

  static String nodes(String members) {
    return onlySettings("'nodes': {" + members + "}, 'resources': {}");
  }

  static String resources(String value) {
    return onlySettings(
        "'nodes': {'levels': ['host'], 'node_sources': [{'source': 'empty'}]},"
            + " 'resources': "
            + value);
  }

  static String job(String members) {
    return "{'bistro_settings': {" + SETTINGS + "}, 'bistro_job->j': {" + members + "}}";
  }

  static String owned(String member) {
    return job("'owner': 'o', " + member);
  }

  /** A frame: the settings with one more member. */
  static final UnaryOperator<String> IN_SETTINGS = SchemaRows::settings;

  /** A frame: a job with an owner and one more member. */
  static final UnaryOperator<String> OWNED = SchemaRows::owned;

  private final List<Row> rows = new ArrayList<>();

  final void add(Verdict verdict, UnaryOperator<String> frame, String... members) {
    for (String member : members) {
      rows.add(new Row(verdict, frame.apply(member)));
    }
  }

  /** One key with good and bad values, in a frame. */
  final void key(UnaryOperator<String> frame, String key, List<String> good, List<String> bad) {
    good.forEach(value -> add(Verdict.GOOD, frame, "'" + key + "': " + value));
    bad.forEach(value -> add(Verdict.BAD, frame, "'" + key + "': " + value));
  }

  /** One key with bad values, in a frame. */
  final void bad(UnaryOperator<String> frame, String key, String... values) {
    key(frame, key, List.of(), List.of(values));
  }

  static final List<String> NO_BOOL = List.of("null", "2", "'yes'", "[]", "{}");
  static final List<String> BOOLS = List.of("true", "false", "0", "1", "1.0", "'true'", "'0'");
  static final List<String> NO_TEXT = List.of("null", "true", "[]", "{}");
  static final List<String> NO_NUMBER = List.of("null", "'x'", "true", "[]", "{}", "''");
  static final List<String> NO_NUMBER_OR_FALSE = List.of("null", "'x'", "true", "[]", "{}", "''");
  static final List<String> NO_OBJECT = List.of("null", "1", "'x'", "true", "[]");
  static final List<String> NO_LIST = List.of("null", "1", "'x'", "true", "{}");

  /** All rows of the theme. */
  final Stream<Row> rows() {
    return rows.stream();
  }
}
