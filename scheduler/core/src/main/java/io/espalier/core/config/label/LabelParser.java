package io.espalier.core.config.label;

import io.espalier.core.config.label.LabelExpression.Condition;
import io.espalier.core.config.label.LabelExpression.Has;
import io.espalier.core.config.label.LabelExpression.Not;
import io.espalier.core.config.label.LabelExpression.Pair;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses a {@link LabelExpression} by recursive descent. For single use. */
final class LabelParser {
  private static final int DEEPEST = 50;
  private static final Pattern TOKEN =
      Pattern.compile(
          "==|!=|&&|\\|\\||[=!(),\\[\\]]|'[^']*'|\"[^\"]*\"|[A-Za-z0-9_./-]+|\\S", Pattern.DOTALL);

  private final String text;
  private final Matcher tokens;
  private int at;
  private String token = "";
  private int depth;

  LabelParser(String text) {
    this.text = text;
    this.tokens = TOKEN.matcher(text);
  }

  Condition parse() throws LabelSyntaxException {
    if (text.length() > LabelExpression.LONGEST) {
      throw new LabelSyntaxException(
          "the expression is longer than " + LabelExpression.LONGEST + " characters",
          LabelExpression.LONGEST,
          null);
    }
    next();
    Condition all = either();
    if (!token.isEmpty()) {
      throw unexpected("and, or, or the end");
    }
    return all;
  }

  private void next() {
    boolean found = tokens.find();
    at = found ? tokens.start() : text.length();
    token = found ? tokens.group() : "";
  }

  private boolean takes(String wanted) {
    if (!token.equals(wanted)) {
      return false;
    }
    next();
    return true;
  }

  private Condition either() throws LabelSyntaxException {
    Condition first = both();
    while (takes("or")) {
      first = new Pair(false, first, both());
    }
    return first;
  }

  private Condition both() throws LabelSyntaxException {
    Condition first = single();
    while (takes("and")) {
      first = new Pair(true, first, single());
    }
    return first;
  }

  private Condition single() throws LabelSyntaxException {
    if (++depth > DEEPEST) {
      throw new LabelSyntaxException("this is nested more than " + DEEPEST + " deep", at, null);
    }
    Condition found;
    if (takes("not")) {
      found = new Not(single());
    } else if (takes("(")) {
      found = either();
      if (!takes(")")) {
        throw unexpected(")");
      }
    } else {
      found = ofLabel();
    }
    depth--;
    return found;
  }

  private Condition ofLabel() throws LabelSyntaxException {
    String name = token;
    if (!Labels.NAME.matcher(name).matches() || Labels.WORDS.contains(name)) {
      throw unexpected("the name of a label");
    }
    next();
    if (takes("==")) {
      return new Has(name, Set.of(value()));
    }
    if (takes("!=")) {
      return new Not(new Has(name, Set.of(value())));
    }
    if (takes("in")) {
      return new Has(name, values());
    }
    if (takes("not")) {
      if (!takes("in")) {
        throw unexpected("in");
      }
      return new Not(new Has(name, values()));
    }
    return new Has(name, null);
  }

  private Set<String> values() throws LabelSyntaxException {
    if (!takes("[")) {
      throw unexpected("a list in brackets, such as ['a', 'b']");
    }
    Set<String> values = new LinkedHashSet<>();
    do {
      values.add(value());
    } while (takes(","));
    if (!takes("]")) {
      throw unexpected(", or ]");
    }
    return values;
  }

  private String value() throws LabelSyntaxException {
    boolean quoted = token.length() > 1 && (token.startsWith("'") || token.startsWith("\""));
    if (!quoted) {
      throw unexpected("a text in quotes, such as 'x86'");
    }
    String value = token.substring(1, token.length() - 1);
    next();
    return value;
  }

  private LabelSyntaxException unexpected(String expected) {
    String found = token.isEmpty() ? "the end" : "\"" + token + "\"";
    return new LabelSyntaxException("expected " + expected + ", found " + found, at, hint());
  }

  private @Nullable String hint() {
    return switch (token) {
      case "=" -> "compare with ==";
      case "&&" -> "write and";
      case "||" -> "write or";
      case "!" -> "write not";
      case "'", "\"" -> "the closing quote is missing";
      case "AND", "OR", "NOT", "IN" -> "write it in small letters";
      default -> null;
    };
  }
}
