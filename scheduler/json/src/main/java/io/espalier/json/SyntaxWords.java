package io.espalier.json;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Says in plain words what the tokenizer means. */
record SyntaxWords(String message, @Nullable String hint) {
  private static final Pattern UNEXPECTED =
      Pattern.compile(
          "Unexpected character \\('(.+?)' \\(code (\\d+).*?\\)\\): ?(.*)", Pattern.DOTALL);
  private static final Pattern UNKNOWN_WORD =
      Pattern.compile("Unrecognized token '(.*?)': .*", Pattern.DOTALL);

  private static final Pattern BAD_NUMBER =
      Pattern.compile("Unexpected character \\(.*?\\) in numeric value: (.+)", Pattern.DOTALL);

  static SyntaxWords of(String original) {
    Matcher unexpected = UNEXPECTED.matcher(original);
    if (unexpected.matches()) {
      return unexpected(
          unexpected.group(1), Integer.parseInt(unexpected.group(2)), unexpected.group(3));
    }
    Matcher word = UNKNOWN_WORD.matcher(original);
    if (word.matches()) {
      return new SyntaxWords(
          "expected a value, found the word \"" + word.group(1) + "\"",
          "strings need double quotes");
    }
    Matcher number = BAD_NUMBER.matcher(original);
    if (number.matches()) {
      String why = number.group(1).replaceFirst(": enable .*", "");
      return new SyntaxWords("this is not a number of JSON: " + why, null);
    }
    if (original.startsWith("Non-standard token")) {
      return new SyntaxWords(
          original.replaceFirst(".*?'(.*?)'.*", "$1") + " is not a number of JSON", null);
    }
    if (original.contains("urrogate")) {
      return new SyntaxWords("a key contains half a character (an unpaired surrogate)", null);
    }
    if (original.startsWith("Illegal unquoted character")) {
      return new SyntaxWords(
          "a string contains a line end or another control character",
          "close the string on its line, or write the character as \\n or \\u00XX");
    }
    if (original.startsWith("Unexpected close marker")) {
      return new SyntaxWords("the closing bracket does not match the opening one", null);
    }
    if (original.contains("escape")) {
      return new SyntaxWords(
          "the character after the backslash in a string means nothing", "write \\\\ for one \\");
    }
    if (original.contains("eading zeroes")) {
      return new SyntaxWords("a number starts with zero", "leave the leading zeros out");
    }
    return new SyntaxWords("this is not JSON: " + original, null);
  }

  private static SyntaxWords unexpected(String character, int code, String expected) {
    if (expected.contains("maybe a (non-standard) comment")) {
      return new SyntaxWords("comments are not allowed here", null);
    }
    if (expected.contains("double-quote to start field name")) {
      return switch (code) {
        case '}' -> new SyntaxWords("there is a comma before \"}\"", "remove the comma");
        case '\'' -> new SyntaxWords("a key is in single quotes", "use double quotes");
        default ->
            new SyntaxWords("expected a key in double quotes, found \"" + character + "\"", null);
      };
    }
    if (expected.contains("to separate") || expected.contains("comma")) {
      boolean colon = expected.contains("colon");
      return new SyntaxWords(
          "expected "
              + (colon ? "a colon" : "a comma or the end")
              + ", found \""
              + character
              + "\"",
          colon ? null : "is a comma missing before it?");
    }
    if (code == ']' || code == '}') {
      return new SyntaxWords(
          "expected a value, found \"" + character + "\"", "is there a comma too many?");
    }
    if (code == '\'') {
      return new SyntaxWords("a string is in single quotes", "use double quotes");
    }
    if (code == '#') {
      return new SyntaxWords("\"#\" does not start a comment", "use // or /* */");
    }
    return new SyntaxWords("expected a value, found \"" + character + "\"", null);
  }
}
