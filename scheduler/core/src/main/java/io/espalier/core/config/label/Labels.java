package io.espalier.core.config.label;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Rules of labels, {@code NAME=VALUE}: what a worker says about itself. Pure functions. */
public final class Labels {
  /** The most labels of one worker. */
  public static final int MOST = 64;

  static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_./-]{0,62}");

  /** Words of expressions, which cannot be names. */
  static final Set<String> WORDS = Set.of("and", "or", "not", "in");

  private static final Pattern VALUE = Pattern.compile("[A-Za-z0-9_./:@+-]{1,63}");

  private Labels() {}

  /**
   * Parses texts {@code NAME=VALUE}.
   *
   * @param problems receives what is wrong with each of them
   */
  public static Map<String, String> parse(Collection<String> texts, List<String> problems) {
    Map<String, String> labels = new LinkedHashMap<>();
    for (String text : texts) {
      int equals = text.indexOf('=');
      if (equals < 0) {
        problems.add(text + ": expected NAME=VALUE, such as arch=arm64");
        continue;
      }
      String name = text.substring(0, equals);
      String before = labels.put(name, text.substring(equals + 1));
      if (before != null) {
        problems.add(text + ": the label " + name + " is given twice, first as " + before);
      }
    }
    problems.addAll(problems(labels));
    return labels;
  }

  /** Returns what is wrong with labels, each with its label; empty when nothing is. */
  public static List<String> problems(Map<String, String> labels) {
    List<String> problems = new ArrayList<>();
    if (labels.size() > MOST) {
      problems.add("a worker has at most " + MOST + " labels");
    }
    labels.forEach(
        (name, value) -> {
          String label = name + "=" + value;
          if (!NAME.matcher(name).matches() || WORDS.contains(name)) {
            problems.add(
                label
                    + ": a name has 1 to 63 letters, digits and characters of _ . / -, begins with a"
                    + " letter or _, and is none of and, or, not, in");
          }
          if (!VALUE.matcher(value).matches()) {
            problems.add(
                label + ": a value has 1 to 63 letters, digits and characters of _ . / : @ + -");
          }
        });
    return problems;
  }

  /** Returns labels as {@code NAME=VALUE}, by name, with commas between them. */
  public static String shown(Map<String, String> labels) {
    return new TreeMap<>(labels)
        .entrySet().stream()
            .map(label -> label.getKey() + "=" + label.getValue())
            .collect(Collectors.joining(", "));
  }
}
