package io.espalier.server.config.yaml;

import io.espalier.core.config.Config;
import io.espalier.core.config.schema.UnknownKeys;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.json.Position;
import io.espalier.server.config.yaml.Notation.Name;
import io.espalier.server.config.yaml.Notation.Part;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.DumperOptions.FlowStyle;
import org.yaml.snakeyaml.DumperOptions.ScalarStyle;
import org.yaml.snakeyaml.emitter.Emitter;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.serializer.Serializer;

/**
 * Writes a configuration in Bistro's notation as YAML: the inverse of {@link YamlTranslation}.
 * Comments, and keys that do nothing, are left out.
 */
public final class YamlWriter {

  /** The longest list or object on one line. */
  private static final int LONGEST_LINE = 70;

  private YamlWriter() {}

  /**
   * Returns the text of a configuration.
   *
   * @param document without errors
   */
  public static String write(Json.Obj document) {
    return text(node(translated(document), 0, true));
  }

  /** Returns any object as YAML, as it is. */
  public static String plain(Json.Obj object) {
    return text(node(object, 0, false));
  }

  private static String text(Node root) {
    DumperOptions options = new DumperOptions();
    options.setSplitLines(false);
    options.setIndicatorIndent(2);
    options.setIndentWithIndicator(true);
    StringWriter out = new StringWriter();
    try {
      Serializer serializer =
          new Serializer(new Emitter(out, options), YamlReader.TYPES, options, null);
      serializer.open();
      serializer.serialize(root);
      serializer.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toString();
  }

  private static Json.Obj translated(Json.Obj document) {
    Json.Builder out = Json.object().put("espalier", "v1");
    Json.Builder defaults = Json.object();
    if (document.get(Config.SETTINGS_KEY) instanceof Json.Obj settings) {
      Json.Obj all = object(settings, Notation.SETTINGS);
      for (Name name : Notation.SETTINGS.names()) {
        Json value = all.get(name.yaml());
        boolean isEmpty = name.yaml().equals("limits") && Json.Obj.EMPTY.equals(value);
        if (value != null && !isEmpty) {
          (Notation.INHERITED.contains(name.json()) ? defaults : out).put(name.yaml(), value);
        }
      }
    }
    if (!defaults.build().isEmpty()) {
      out.put("defaults", defaults.build());
    }
    Json.Builder jobs = Json.object();
    document
        .members()
        .forEach(
            (key, job) -> {
              if (key.startsWith(Config.JOB_KEY)) {
                jobs.put(
                    key.substring(Config.JOB_KEY.length()),
                    job instanceof Json.Obj object ? object(object, Notation.JOB) : job);
              }
            });
    return jobs.build().isEmpty() ? out.build() : out.put("jobs", jobs.build()).build();
  }

  private static Json.Obj object(Json.Obj in, Part part) {
    Json.Builder out = Json.object();
    in.members()
        .forEach(
            (key, member) -> {
              Name name = part.ofJson(key);
              if (name != null) {
                out.put(name.yaml(), value(member, name));
              }
            });
    return out.build();
  }

  private static Json value(Json in, Name name) {
    Part part = name.part();
    if (in instanceof Json.Obj object && part != null) {
      return part.hasSource()
          ? source(object, part)
          : part.is("resources") ? resource(object(object, part)) : object(object, part);
    }
    Name members = name.members();
    if (in instanceof Json.Obj object && members != null) {
      Json.Builder out = Json.object();
      object
          .members()
          .forEach(
              (key, member) -> {
                if (!UnknownKeys.isComment(key)) {
                  out.put(key, value(member, members));
                }
              });
      return out.build();
    }
    Name items = name.items();
    if (in instanceof Json.Arr list && items != null) {
      return new Json.Arr(list.items().stream().map(item -> value(item, items)).toList());
    }
    return name.unit().write(in);
  }

  private static Json resource(Json.Obj resource) {
    Json.Obj rest =
        Json.of(1).equals(resource.get("default")) ? resource.without("default") : resource;
    Json limit = rest.get("limit");
    return rest.members().size() == 1 && limit != null ? limit : rest;
  }

  private static Json source(Json.Obj source, Part part) {
    Json prefs = source.members().getOrDefault("prefs", Json.Obj.EMPTY);
    String kind = source.get("source") instanceof Json.Str name ? name.value() : "";
    boolean canBeShort = part.ofYaml(kind) == null && Preferences.canBeKind(kind);
    Json.Obj preferences =
        canBeShort && prefs instanceof Json.Obj object ? Preferences.write(object, kind) : null;
    if (preferences == null) {
      return object(source, part);
    }
    Json.Builder out = Json.object().put(kind, preferences);
    object(source.without("source").without("prefs"), part).members().forEach(out::put);
    return out.build();
  }

  /** {@code escaped}: whether "${" in texts would be a variable. */
  private static Node node(Json value, int depth, boolean escaped) {
    if (value instanceof Json.Obj object) {
      List<NodeTuple> members = new ArrayList<>();
      object
          .members()
          .forEach(
              (key, member) ->
                  members.add(new NodeTuple(text(key), node(member, depth + 1, escaped))));
      boolean isShort = depth > 2 && isShort(object);
      return new MappingNode(Tag.MAP, members, isShort ? FlowStyle.FLOW : FlowStyle.BLOCK);
    }
    if (value instanceof Json.Arr list) {
      List<Node> items = list.items().stream().map(item -> node(item, depth + 1, escaped)).toList();
      return new SequenceNode(Tag.SEQ, items, isShort(list) ? FlowStyle.FLOW : FlowStyle.BLOCK);
    }
    return value instanceof Json.Str string
        ? text(escaped ? string.value().replace("${", "$${") : string.value())
        : new ScalarNode(
            YamlReader.PLAIN, JsonWriter.compact(value), null, null, ScalarStyle.PLAIN);
  }

  private static boolean isShort(Json value) {
    boolean isFlat =
        value instanceof Json.Arr list
            ? list.items().stream().noneMatch(YamlWriter::isNested)
            : value instanceof Json.Obj object
                && object.members().values().stream().noneMatch(YamlWriter::isNested);
    return isFlat && JsonWriter.compact(value).length() <= LONGEST_LINE;
  }

  private static boolean isNested(Json value) {
    return (value instanceof Json.Obj object && !object.isEmpty())
        || (value instanceof Json.Arr list && !list.items().isEmpty());
  }

  /** A text without quotes only where nobody can take it for anything else. */
  private static ScalarNode text(String text) {
    boolean isPlain =
        text.matches("[A-Za-z0-9_./][A-Za-z0-9_./%-]*")
            && YamlReader.plain(text, Position.NONE) instanceof Json.Str;
    return new ScalarNode(
        isPlain ? YamlReader.PLAIN : Tag.STR,
        text,
        null,
        null,
        isPlain ? ScalarStyle.PLAIN : ScalarStyle.DOUBLE_QUOTED);
  }
}
