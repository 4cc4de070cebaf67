package io.espalier.nodes.sql;

/** Scans SQL for parameters, as a driver does. */
final class SqlText {
  private SqlText() {}

  /** Returns the number of question marks outside quotes and comments. */
  static int parameters(String query) {
    int found = 0;
    int at = 0;
    while (at < query.length()) {
      char c = query.charAt(at);
      if (c == '\'' || c == '"' || c == '`') {
        at = after(query, String.valueOf(c), at + 1);
      } else if (query.startsWith("--", at) || c == '#') {
        at = after(query, "\n", at);
      } else if (query.startsWith("/*", at)) {
        at = after(query, "*/", at + 2);
      } else {
        found += c == '?' ? 1 : 0;
        at++;
      }
    }
    return found;
  }

  private static int after(String query, String end, int from) {
    int at = query.indexOf(end, from);
    return at < 0 ? query.length() : at + end.length();
  }
}
