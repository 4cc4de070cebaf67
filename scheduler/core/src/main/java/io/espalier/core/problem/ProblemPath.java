package io.espalier.core.problem;

import io.espalier.core.json.JsonWriter;
import io.espalier.core.json.Secrets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The path from the root of a document to one value, such as {@code
 * bistro_settings.nodes.levels[2]}. Keys with dots, brackets, quotes or blanks are quoted, {@code
 * resources["my level"].slots}, so that the text can be parsed again. Immutable.
 */
public final class ProblemPath {
  /** The path of the whole document. */
  public static final ProblemPath ROOT = new ProblemPath(null, "", -1);

  private static final Pattern PLAIN = Pattern.compile("[^.\\[\\]\"\\s\\p{Cntrl}]+");
  private static final Pattern SEGMENT =
      Pattern.compile("\\.?([^.\\[\\]\"]+)|\\[(\\d+)]|\\[\"((?:[^\"\\\\]|\\\\.)*)\"]");

  private final @Nullable ProblemPath parent;
  private final String key;
  private final int index;

  private ProblemPath(@Nullable ProblemPath parent, String key, int index) {
    this.parent = parent;
    this.key = key;
    this.index = index;
  }

  /** The path of the member with that key. */
  public ProblemPath key(String member) {
    return new ProblemPath(this, member, -1);
  }

  /** The path of the list item with that index, from 0. */
  public ProblemPath index(int item) {
    return new ProblemPath(this, "", item);
  }

  /** Returns whether some key on a path, in text form, says that what is there may be a secret. */
  static boolean isOfSecret(String path) {
    // In "bistro_job->NAME", the name of the job says nothing about its values.
    return segments(path).stream().anyMatch(key -> !key.contains("->") && Secrets.isKey(key));
  }

  /**
   * Parses the text form: keys unquoted, indexes as digits.
   *
   * @return empty for the root, and for text that is not a path
   */
  public static List<String> segments(String path) {
    List<String> segments = new ArrayList<>();
    Matcher matcher = SEGMENT.matcher(path);
    int at = 0;
    while (at < path.length()) {
      if (!matcher.find(at) || matcher.start() != at) {
        return List.of();
      }
      if (matcher.group(1) != null) {
        segments.add(matcher.group(1));
      } else if (matcher.group(2) != null) {
        segments.add(matcher.group(2));
      } else {
        segments.add(unquoted(matcher.group(3)));
      }
      at = matcher.end();
    }
    return List.copyOf(segments);
  }

  private static String unquoted(String literal) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < literal.length(); i++) {
      char c = literal.charAt(i);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      char escaped = literal.charAt(++i);
      switch (escaped) {
        case 'n' -> out.append('\n');
        case 'r' -> out.append('\r');
        case 't' -> out.append('\t');
        case 'u' -> {
          out.append((char) Integer.parseInt(literal.substring(i + 1, i + 5), 16));
          i += 4;
        }
        default -> out.append(escaped);
      }
    }
    return out.toString();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ProblemPath && toString().equals(other.toString());
  }

  @Override
  public int hashCode() {
    return toString().hashCode();
  }

  @Override
  public String toString() {
    // Paths are created for every value, but printed only for the few that are wrong.
    Deque<ProblemPath> steps = new ArrayDeque<>();
    for (ProblemPath p = this; p != null && p.parent != null; p = p.parent) {
      steps.push(p);
    }
    StringBuilder out = new StringBuilder();
    steps.forEach(step -> step.write(out));
    return out.toString();
  }

  private void write(StringBuilder out) {
    if (index >= 0) {
      out.append('[').append(index).append(']');
    } else if (PLAIN.matcher(key).matches()) {
      out.append(out.isEmpty() ? "" : ".").append(key);
    } else {
      out.append('[');
      JsonWriter.quote(key, out);
      out.append(']');
    }
  }
}
