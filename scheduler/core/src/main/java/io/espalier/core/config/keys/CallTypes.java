package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.text.HttpHeaders;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The types of values in calls of services: texts with placeholders, headers, bodies. */
public final class CallTypes {
  /** A placeholder in a text; its group is the name. */
  public static final Pattern PLACEHOLDER = Pattern.compile("\\{([A-Za-z0-9_.-]{1,255})\\}");

  private static final String CHARACTERS = "A-Za-z0-9._~%!$&'()*+,;=:@/-";
  private static final Pattern URL =
      Pattern.compile(
          "https?://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?(/["
              + CHARACTERS
              + "]*)?(\\?["
              + CHARACTERS
              + "?]*)?");
  private static final Pattern HOST =
      Pattern.compile("[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*");
  private static final Pattern METHOD = Pattern.compile("[A-Z]{1,20}");
  private static final Set<String> OF_THE_CALL =
      Set.of(
          CallSpec.JOB,
          CallSpec.NODE,
          CallSpec.INVOCATION,
          CallSpec.TOKEN,
          CallSpec.ATTEMPT,
          CallSpec.KEY);

  private CallTypes() {}

  /** A host whose placeholders are levels of the configuration. */
  static ValueType<String> host() {
    return ValueType.of(
        value -> {
          String text = value.text();
          String plain = text == null ? null : filled(value, text);
          if (plain != null && !HOST.matcher(plain).matches()) {
            value.error("expected a host such as \"{host}\" or \"db1.example\"", null);
            return null;
          }
          return plain == null ? null : text;
        },
        Json::of,
        "host",
        "{'type': 'string', 'minLength': 1}");
  }

  static ValueType<String> method() {
    return text(METHOD, "expected an HTTP method, such as \"POST\"");
  }

  static ValueType<Optional<Json>> body() {
    return ValueType.of(
        value -> {
          if (value.json() instanceof Json.Obj || value.json() instanceof Json.Str) {
            return Optional.of(value.json());
          }
          value.wrongKind("an object or a text");
          return null;
        },
        body -> body.orElse(Json.Null.NULL),
        "object or text",
        "{'type': ['object', 'string']}");
  }

  static ValueType<Map<String, String>> headers() {
    return ValueType.of(
        value -> {
          Map<String, ConfigValue> members = value.members();
          if (members == null) {
            return null;
          }
          Map<String, String> headers = new LinkedHashMap<>();
          members.forEach(
              (name, member) -> {
                String text = member.text();
                String objection = text == null ? "" : HttpHeaders.objection(name, text);
                if (!objection.isEmpty()) {
                  member.error("the header " + objection, null);
                } else if (HttpHeaders.isSecret(name)) {
                  member.error(
                      "this header is a secret, and the configuration is not",
                      "write it into a file, and name that as \"headers_file\"");
                } else if (text != null) {
                  headers.put(name, text);
                }
              });
          return headers;
        },
        headers -> {
          Json.Builder out = Json.object();
          headers.forEach(out::put);
          return out.build();
        },
        "object",
        ValueType.membersSchema("{'type': ['string', 'number']}"));
  }

  /** A URL whose placeholders are levels of the configuration or parts of the call. */
  static ValueType<String> url() {
    return ValueType.of(
        value -> {
          String text = value.text();
          return text == null ? null : checkedUrl(value, text);
        },
        Json::of,
        "URL",
        "{'type': 'string', 'pattern': '^https?://'}");
  }

  /** Replaces each placeholder by a plain text; null: one is unknown. */
  private static @Nullable String filled(ConfigValue value, String text) {
    List<String> unknown = new ArrayList<>();
    StringBuilder plain = new StringBuilder();
    Matcher placeholders = PLACEHOLDER.matcher(text);
    while (placeholders.find()) {
      String name = placeholders.group(1);
      boolean level = !value.names().levelsAreKnown() || value.names().levels().find(name) >= 0;
      if (!level && !OF_THE_CALL.contains(name)) {
        unknown.add(name);
      }
      placeholders.appendReplacement(plain, "1");
    }
    placeholders.appendTail(plain);
    if (unknown.isEmpty()) {
      return plain.toString();
    }
    value.error(
        "there is no placeholder {" + String.join("}, {", unknown) + "}",
        "there are {job}, {node}, {invocation}, {token}, {attempt}, {key} and the levels");
    return null;
  }

  private static @Nullable String checkedUrl(ConfigValue value, String text) {
    String plain = filled(value, text);
    if (plain == null) {
      return null;
    }
    if (URL.matcher(plain).matches()) {
      return text;
    }
    value.error(
        "expected a URL such as \"http://{host}:8080/compact/{node}\"",
        text.contains("@") ? "a user and a password belong in \"headers_file\"" : null);
    return null;
  }
}
