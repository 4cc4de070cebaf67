package io.espalier.nodes.sql;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Scans SQL for parameters, as a driver does. */
final class SqlText {
  /** The placeholder of a list of parameters. */
  static final String PARENTS = "{parents}";

  /** The placeholder of the name of a parent in an address. */
  static final String PARENT = "{parent}";

  /** The placeholder of a parameter that is the name of a node. */
  static final String NODE = "{node}";

  private SqlText() {}

  /** Returns the number of question marks outside quotes and comments. */
  static int parameters(String query) {
    return positions(query, "?").size();
  }

  /** Returns the number of lists of parameters outside quotes and comments. */
  static int lists(String query) {
    return positions(query, PARENTS).size();
  }

  /** Returns the number of names of nodes outside quotes and comments. */
  static int nodes(String query) {
    return positions(query, NODE).size();
  }

  /** Puts a question mark in the place of the only name of a node. */
  static String withNode(String query) {
    int at = positions(query, NODE).get(0);
    return query.substring(0, at) + "?" + query.substring(at + NODE.length());
  }

  /** Puts question marks, with commas between them, in the place of the only list. */
  static String withParameters(String query, int count) {
    int at = positions(query, PARENTS).get(0);
    return query.substring(0, at)
        + String.join(", ", Collections.nCopies(count, "?"))
        + query.substring(at + PARENTS.length());
  }

  private static List<Integer> positions(String query, String wanted) {
    List<Integer> found = new ArrayList<>();
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
        if (query.startsWith(wanted, at)) {
          found.add(at);
        }
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
