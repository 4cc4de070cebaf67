package io.espalier.nodes;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.json.JsonReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parses rows from a text: a JSON list, CSV with a header, or one row per line. */
final class RowParser {
  /** A form of text. */
  enum Form {
    JSON,
    CSV,
    LINES
  }

  private final Form form;
  private final List<String> items;
  private final char separator;

  /**
   * @param items keys that lead to the list in a JSON document
   * @param separator separator of CSV cells
   */
  RowParser(Form form, List<String> items, char separator) {
    this.form = form;
    this.items = List.copyOf(items);
    this.separator = separator;
  }

  /** Reads the preference {@code items}: keys separated by dots. */
  static List<String> readItems(Prefs prefs) {
    String text = prefs.string("items", "the way to the list, such as \"data.hosts\"", "");
    return text.isEmpty() ? List.of() : List.of(text.split("\\.", -1));
  }

  /**
   * Passes on all rows.
   *
   * @param from description of the text, for people
   * @param parent parent of all rows; null: each row names its own
   */
  void read(byte[] text, String from, @Nullable String parent, RowToNodes to)
      throws NodeSourceException, InterruptedException {
    if (form == Form.JSON) {
      json(text, from, parent, to);
      return;
    }
    String decoded;
    try {
      decoded = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
    } catch (CharacterCodingException e) {
      to.problem(from + " is not UTF-8");
      return;
    }
    if (decoded.startsWith("\ufeff")) {
      to.problem(from + " starts with a byte order mark (U+FEFF): save it as UTF-8 without BOM");
    } else if (form == Form.CSV) {
      csv(decoded, from, parent, to);
    } else {
      lines(decoded, from, parent, to);
    }
  }

  private void json(byte[] text, String from, @Nullable String parent, RowToNodes to)
      throws NodeSourceException, InterruptedException {
    Json value = find(text, from, to);
    if (value == null) {
      return;
    }
    if (!(value instanceof Json.Arr list)) {
      to.problem(
          from
              + " holds "
              + value.kind()
              + " where a list of nodes was expected; the preference \"items\" says where it is");
      return;
    }
    int number = 0;
    for (Json item : list.items()) {
      number++;
      to.row(item, "item " + number + " at " + item.at() + " of " + from, parent);
    }
  }

  /**
   * Passes on what a JSON document says of one node: a list of values, or one that is an object, a
   * number or a text.
   */
  void valueOf(String node, byte[] text, String from, RowToNodes to)
      throws NodeSourceException, InterruptedException {
    Json value = find(text, from, to);
    if (value == null) {
      return;
    }
    List<Json> values = value instanceof Json.Arr list ? list.items() : List.of(value);
    for (Json each : values) {
      to.valueOf(node, each, from);
    }
  }

  /** Returns what the keys lead to; null, with a problem, when there is no such thing. */
  private @Nullable Json find(byte[] text, String from, RowToNodes to) {
    Result<Json> read = JsonReader.strict().withMaxBytes(Integer.MAX_VALUE).read(text);
    Json value = read.value();
    if (value == null) {
      for (Problem problem : read.problems()) {
        to.problem(from + " is not JSON: " + problem.at() + " " + problem.message());
      }
      return null;
    }
    for (String key : items) {
      Json inner = value instanceof Json.Obj object ? object.get(key) : null;
      if (inner == null) {
        String keys =
            value instanceof Json.Obj object
                ? "; there are " + String.join(", ", object.members().keySet())
                : "; it is " + value.kind();
        to.problem(from + " has no \"" + key + "\" on the way to its rows" + shortened(keys));
        return null;
      }
      value = inner;
    }
    return value;
  }

  private static String shortened(String text) {
    return text.length() > 200 ? text.substring(0, 200) + "…" : text;
  }

  private static void lines(String text, String from, @Nullable String parent, RowToNodes to)
      throws NodeSourceException, InterruptedException {
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      String where = "line " + number + " of " + from;
      if (!line.startsWith("{")) {
        to.row(Json.of(line), where, parent);
        continue;
      }
      Result<Json> read = JsonReader.parse(line);
      Json value = read.value();
      if (value == null) {
        String why = read.problems().stream().map(Problem::message).findFirst().orElse("");
        to.unusable(where, "begins with { and is not a JSON object: " + why);
      } else {
        to.row(value, where, parent);
      }
    }
  }

  private void csv(String text, String from, @Nullable String parent, RowToNodes to)
      throws NodeSourceException, InterruptedException {
    CsvReader csv = new CsvReader(text, separator);
    List<String> header = csv.next();
    if (header == null) {
      to.problem(from + " is empty, expected a line with the names of the columns");
      return;
    }
    String twice =
        header.stream()
            .filter(n -> header.indexOf(n) != header.lastIndexOf(n))
            .findFirst()
            .orElse(null);
    if (twice != null) {
      to.problem(from + " has two columns \"" + twice + "\"");
      return;
    }
    while (true) {
      List<String> cells = csv.next();
      String fault = csv.fault();
      if (fault != null) {
        to.problem("line " + csv.line() + " of " + from + " " + fault);
        return;
      }
      if (cells == null) {
        return;
      }
      String where = "line " + csv.line() + " of " + from;
      if (cells.size() != header.size()) {
        to.unusable(where, "has " + cells.size() + " cells, the first line has " + header.size());
        continue;
      }
      Map<String, Json> row = new LinkedHashMap<>();
      for (int i = 0; i < cells.size(); i++) {
        // An empty cell is an absent value, except in the column of names.
        if (!cells.get(i).isEmpty() || header.get(i).equals("name")) {
          row.put(header.get(i), Json.of(cells.get(i)));
        }
      }
      to.row(new Json.Obj(row), where, parent);
    }
  }

  /** Returns the form that a file's name suggests. */
  static Form formOf(String fileName) {
    if (fileName.endsWith(".json")) {
      return Form.JSON;
    }
    return fileName.endsWith(".csv") ? Form.CSV : Form.LINES;
  }

  /** Reads the preference {@code format}; null: absent or invalid. */
  static @Nullable Form readForm(Prefs prefs) {
    List<String> words = List.of("json", "csv", "lines");
    String word = prefs.string("format", "one of json, csv, lines", "");
    if (word.isEmpty()) {
      return null;
    }
    if (!words.contains(word)) {
      Json value = prefs.get("format");
      if (value != null) {
        prefs.error(
            prefs.at("format"),
            value.at(),
            value,
            "expected one of json, csv, lines",
            Suggestions.hint(word, words));
      }
      return null;
    }
    return Form.values()[words.indexOf(word)];
  }
}
