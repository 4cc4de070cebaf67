package io.espalier.server.config.yaml;

import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.json.Utf8;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.composer.Composer;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeId;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.ReaderException;
import org.yaml.snakeyaml.reader.StreamReader;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * Reads YAML 1.2 with its core schema into values that know their line and column: {@code no} and
 * {@code on} are texts. Never throws for what the text contains. Size, depth and aliases are
 * bounded.
 */
final class YamlReader {
  /** The longest text that is read, in bytes. */
  static final int MAX_BYTES = 8 << 20;

  /** How many values a text may have after its aliases are replaced by what they stand for. */
  private static final int MAX_VALUES = 1_000_000;

  private static final String TOO_DEEP =
      "lists and objects lie more than " + JsonReader.MAX_DEPTH + " deep in each other";

  private static final Pattern INTEGER = Pattern.compile("[-+]?[0-9]{1,1000}");
  private static final Pattern OCTAL = Pattern.compile("0o[0-7]{1,1000}");
  private static final Pattern HEXADECIMAL = Pattern.compile("0x[0-9a-fA-F]{1,1000}");
  private static final Pattern FLOAT =
      Pattern.compile(
          "[-+]?(\\.[0-9]{1,1000}|[0-9]{1,1000}(\\.[0-9]{0,1000})?)([eE][-+]?[0-9]{1,8})?");
  private static final Pattern NOT_FINITE =
      Pattern.compile("[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)");

  /** The tag of scalars without quotes, whose type their text tells. */
  static final Tag PLAIN = new Tag("tag:espalier,2026:plain");

  /** Leaves it to {@link #plain} to find the types of scalars: SnakeYAML knows YAML 1.1 only. */
  static final Resolver TYPES =
      new Resolver() {
        @Override
        protected void addImplicitResolvers() {}

        @Override
        public Tag resolve(NodeId kind, @Nullable String value, boolean implicit) {
          return kind == NodeId.scalar
              ? implicit ? PLAIN : Tag.STR
              : kind == NodeId.sequence ? Tag.SEQ : Tag.MAP;
        }
      };

  private final String file;
  private final Problems problems;
  private int values;

  private YamlReader(String file, Problems problems) {
    this.file = file;
    this.problems = problems;
  }

  /**
   * Reads one document.
   *
   * @return null when the text cannot be read as YAML at all; problems say why
   */
  static @Nullable Json read(Document document, Problems problems) {
    Result<String> decoded = Utf8.decode(document.bytes(), MAX_BYTES, document.name());
    problems.addAll(decoded.problems());
    String text = decoded.value();
    if (text != null && text.startsWith("\ufeff")) {
      problems.add(
          Problems.at(
              Severity.WARNING,
              ProblemPath.ROOT,
              new Position(document.name(), 1, 1),
              null,
              "the text starts with a byte order mark (U+FEFF)",
              "save it as UTF-8 without BOM"));
      text = text.substring(1);
    }
    return text == null ? null : new YamlReader(document.name(), problems).read(text);
  }

  private @Nullable Json read(String text) {
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(MAX_BYTES);
    options.setNestingDepthLimit(JsonReader.MAX_DEPTH);
    // The values are counted, which bounds aliases of aliases too.
    options.setMaxAliasesForCollections(Integer.MAX_VALUE);
    try {
      Node node =
          new Composer(new ParserImpl(new StreamReader(text), options), TYPES, options)
              .getSingleNode();
      if (node == null) {
        problems.add(
            Problems.at(
                Severity.ERROR,
                ProblemPath.ROOT,
                new Position(file, 1, 1),
                null,
                "the text is empty",
                "begin it with \"espalier: v1\""));
        return null;
      }
      return value(node, ProblemPath.ROOT, 0);
    } catch (TooLarge e) {
      return null;
    } catch (ReaderException e) {
      String before = text.substring(0, Math.min(text.length(), Math.max(0, e.getPosition())));
      int line = (int) before.chars().filter(c -> c == '\n').count() + 1;
      int column = before.length() - before.lastIndexOf('\n');
      String character = String.format(Locale.ROOT, "U+%04X", e.getCodePoint());
      syntax(
          new Position(file, line, column),
          "the character " + character + " is not allowed here",
          "write it as \\u" + character.substring(2) + " in double quotes");
      return null;
    } catch (MarkedYAMLException e) {
      YamlWords words = YamlWords.of(e);
      Mark mark = e.getProblemMark() == null ? e.getContextMark() : e.getProblemMark();
      syntax(mark == null ? new Position(file, 1, 1) : at(mark), words.message(), words.hint());
      return null;
    } catch (YAMLException e) {
      boolean deep = String.valueOf(e.getMessage()).contains("Nesting Depth");
      syntax(
          new Position(file, 1, 1), deep ? TOO_DEEP : "this is not YAML: " + e.getMessage(), null);
      return null;
    }
  }

  private void syntax(Position at, String message, @Nullable String hint) {
    problems.add(Problems.at(Severity.ERROR, ProblemPath.ROOT, at, null, message, hint));
  }

  private Json value(Node node, ProblemPath path, int depth) {
    // An alias in what it stands for has no end.
    if (depth > JsonReader.MAX_DEPTH) {
      syntax(at(node.getStartMark()), TOO_DEEP, null);
      throw new TooLarge();
    }
    if (++values > MAX_VALUES) {
      syntax(
          at(node.getStartMark()),
          "there are more than " + MAX_VALUES + " values, with aliases replaced",
          "use \"templates\" and \"extends\" in place of aliases");
      throw new TooLarge();
    }
    if (node instanceof MappingNode mapping) {
      checkTag(node, Tag.MAP, path);
      return object(mapping, path, depth);
    }
    if (node instanceof SequenceNode sequence) {
      checkTag(node, Tag.SEQ, path);
      List<Json> items = new ArrayList<>();
      for (Node item : sequence.getValue()) {
        items.add(value(item, path.index(items.size()), depth + 1));
      }
      return new Json.Arr(items, at(node.getStartMark()));
    }
    return scalar((ScalarNode) node, path);
  }

  private Json.Obj object(MappingNode mapping, ProblemPath path, int depth) {
    Map<String, Json> members = new LinkedHashMap<>();
    Map<String, Position> keys = new HashMap<>();
    for (NodeTuple member : mapping.getValue()) {
      Position at = at(member.getKeyNode().getStartMark());
      if (!(member.getKeyNode() instanceof ScalarNode key)) {
        problems.add(
            Problems.at(
                Severity.ERROR,
                path,
                at,
                null,
                "a key is not a text",
                "put a text that begins with \"{\" or \"[\" into quotes"));
        continue;
      }
      String name = key.getValue();
      ProblemPath inside = path.key(name);
      Json value = value(member.getValueNode(), inside, depth + 1);
      Position first = keys.putIfAbsent(name, at);
      if (first != null) {
        problems.add(
            Problems.at(
                Severity.ERROR,
                inside,
                at,
                value,
                "the key is given twice, first at line " + first.line() + ":" + first.column(),
                "keep one of them"));
      } else if (name.equals("<<") && PLAIN.equals(key.getTag())) {
        problems.add(
            Problems.at(
                Severity.ERROR,
                inside,
                at,
                null,
                "merge keys are not read: they are not part of YAML 1.2",
                "use \"templates\" and \"extends\""));
      } else {
        members.put(name, value);
      }
    }
    return new Json.Obj(members, keys, at(mapping.getStartMark()));
  }

  private Json scalar(ScalarNode node, ProblemPath path) {
    Position at = at(node.getStartMark());
    if (!PLAIN.equals(node.getTag())) {
      checkTag(node, Tag.STR, path);
      return new Json.Str(node.getValue(), at);
    }
    Json value = plain(node.getValue(), at);
    if (value == null) {
      problems.error(path, new Json.Str(node.getValue(), at), "this number is not finite", null);
      return new Json.Str(node.getValue(), at);
    }
    return value;
  }

  /** Returns the value of a scalar without quotes; null for infinity and what is no number. */
  static @Nullable Json plain(String text, Position at) {
    switch (text) {
      case "", "~", "null", "Null", "NULL" -> {
        return new Json.Null(at);
      }
      case "true", "True", "TRUE" -> {
        return new Json.Bool(true, at);
      }
      case "false", "False", "FALSE" -> {
        return new Json.Bool(false, at);
      }
      default -> {
        char first = text.charAt(0);
        if (first > '9' || first == '/' || first == '#') {
          return new Json.Str(text, at);
        }
      }
    }
    if (INTEGER.matcher(text).matches() || FLOAT.matcher(text).matches()) {
      return new Json.Num(new BigDecimal(text), at);
    }
    if (OCTAL.matcher(text).matches() || HEXADECIMAL.matcher(text).matches()) {
      int radix = text.charAt(1) == 'o' ? 8 : 16;
      return new Json.Num(new BigDecimal(new BigInteger(text.substring(2), radix)), at);
    }
    return NOT_FINITE.matcher(text).matches() ? null : new Json.Str(text, at);
  }

  private void checkTag(Node node, Tag usual, ProblemPath path) {
    if (!node.getTag().equals(usual)) {
      problems.add(
          Problems.at(
              Severity.ERROR,
              path,
              at(node.getStartMark()),
              null,
              "the tag \"" + node.getTag().getValue().replace(Tag.PREFIX, "!!") + "\" is not read",
              "write the value without a tag"));
    }
  }

  private Position at(Mark mark) {
    return new Position(file, mark.getLine() + 1, mark.getColumn() + 1);
  }

  /** Ends the reading; the problem has been added. */
  private static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }
}
