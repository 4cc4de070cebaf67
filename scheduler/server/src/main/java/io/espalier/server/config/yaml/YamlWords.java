package io.espalier.server.config.yaml;

import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/** Says in plain words what SnakeYAML means. */
record YamlWords(String message, @Nullable String hint) {
  private static final String INDENTATION = "are these lines indented like their neighbours?";

  static YamlWords of(MarkedYAMLException e) {
    String problem = e.getProblem() == null ? "" : e.getProblem();
    String context = e.getContext() == null ? "" : e.getContext();
    if (problem.contains("TAB") || problem.contains("\\t")) {
      return new YamlWords("a tab indents this line", "indent with blanks");
    }
    if (problem.contains("mapping values are not allowed here")) {
      return new YamlWords(
          "a colon followed by a blank is not expected here",
          INDENTATION + " A text with a colon and a blank needs quotes");
    }
    if (problem.contains("found undefined alias")) {
      return new YamlWords(
          problem.replace("found undefined alias", "nothing before has the anchor"),
          "a text that begins with \"*\" needs quotes");
    }
    if (problem.contains("could not find expected ':'")) {
      return new YamlWords("a key without a colon", "write \"key: value\"; " + INDENTATION);
    }
    if (problem.contains("expected <block end>")) {
      return new YamlWords("this line is not indented like those before it", INDENTATION);
    }
    if (problem.contains("cannot start any token")) {
      String character =
          problem.replaceFirst("(?s)^found character '?(.*?)'? *that cannot.*", "$1");
      return new YamlWords(
          "no value begins with the character " + character, "put the text into quotes");
    }
    if (problem.contains("unexpected end of stream")) {
      return new YamlWords(
          context.contains("quoted") ? "a text in quotes is not closed" : "the text ends too early",
          opened(e.getContextMark()));
    }
    if (problem.contains("expected ',' or")) {
      return new YamlWords(
          "expected a comma or the end of what begins with \""
              + (problem.contains("]") ? "[" : "{")
              + "\"",
          opened(e.getContextMark()));
    }
    if (problem.contains("but found another document")) {
      return new YamlWords("the text has several documents", "write each to a file of its own");
    }
    if (problem.contains("escape") || context.contains("double-quoted scalar")) {
      return new YamlWords(
          "the character after the backslash in a text means nothing",
          "write \\\\ for one \\, or use single quotes");
    }
    if (problem.contains("duplicate anchor") || context.contains("anchor")) {
      return new YamlWords("this is not an anchor or alias of YAML: " + problem, null);
    }
    return new YamlWords(
        "this is not YAML: " + (context.isEmpty() ? "" : context + ", ") + problem, null);
  }

  private static @Nullable String opened(@Nullable Mark mark) {
    return mark == null
        ? null
        : "it begins at line " + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1);
  }
}
