package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import io.espalier.webui.security.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * A request to one resource. Its methods report invalid input instead of guessing: unknown
 * parameters are refused like bad values.
 *
 * @param path values of the template's parameters
 * @param query values by name
 * @param body empty object when there is none
 * @param headers by name in lower case
 * @param caller the caller, already authorised for the role of the route
 */
public record ApiRequest(
    Map<String, String> path,
    Map<String, List<String>> query,
    Json.Obj body,
    Map<String, String> headers,
    Principal caller) {
  public ApiRequest {
    headers = Map.copyOf(headers);
    path = Map.copyOf(path);
    Map<String, List<String>> copy = new LinkedHashMap<>();
    query.forEach((name, values) -> copy.put(name, List.copyOf(values)));
    query = Collections.unmodifiableMap(copy);
  }

  /** Creates a request from this process, without headers. */
  public ApiRequest(Map<String, String> path, Map<String, List<String>> query, Json.Obj body) {
    this(path, query, body, Map.of(), Principal.ANYBODY);
  }

  /** Returns the same request with another caller. */
  public ApiRequest by(Principal who) {
    return new ApiRequest(path, query, body, headers, who);
  }

  /**
   * Returns a header, or empty.
   *
   * @param name in lower case
   */
  String header(String name) {
    return headers.getOrDefault(name, "");
  }

  /** Refuses query parameters with other names. */
  public ApiRequest allowing(String... names) {
    List<String> allowed = Arrays.asList(names);
    for (String name : query.keySet()) {
      if (!allowed.contains(name)) {
        throw ApiException.badRequest(
            "unknown parameter \""
                + name
                + "\"; "
                + (allowed.isEmpty()
                    ? "there are none"
                    : "there are " + String.join(", ", allowed)));
      }
    }
    return this;
  }

  /** Refuses body members with other names. */
  public ApiRequest allowingInBody(String... names) {
    List<String> allowed = Arrays.asList(names);
    TreeSet<String> unknown = new TreeSet<>(body.members().keySet());
    allowed.forEach(unknown::remove);
    if (!unknown.isEmpty()) {
      throw ApiException.badRequest(
          "unknown member \""
              + unknown.first()
              + "\" in the body"
              + (allowed.isEmpty() ? "" : "; there are " + String.join(", ", allowed)));
    }
    return this;
  }

  /** Returns a path parameter; templates guarantee its presence. */
  public String part(String name) {
    String value = path.get(name);
    if (value == null) {
      throw new IllegalStateException("no path parameter " + name);
    }
    return value;
  }

  /** Returns a query parameter, or empty. */
  public String text(String name) {
    List<String> values = query.getOrDefault(name, List.of());
    if (values.size() > 1) {
      throw ApiException.badRequest("parameter \"" + name + "\" is given more than once");
    }
    return values.isEmpty() ? "" : values.get(0);
  }

  /** Returns all values of a repeatable parameter. */
  public List<String> all(String name) {
    return new ArrayList<>(query.getOrDefault(name, List.of()));
  }

  /** Returns all values of a repeatable parameter that takes words: an empty one is not given. */
  public List<String> words(String name) {
    return all(name).stream().filter(value -> !value.isEmpty()).toList();
  }

  /** Returns all values of a repeatable parameter, each of which must be one of these words. */
  public List<String> choices(String name, List<String> choices) {
    return words(name).stream().map(value -> checked(name, value, choices)).toList();
  }

  /** Returns a query parameter that must be one of these words. */
  public String choice(String name, String otherwise, List<String> choices) {
    String value = text(name);
    return value.isEmpty() ? otherwise : checked(name, value, choices);
  }

  private static String checked(String name, String value, List<String> choices) {
    if (!choices.contains(value)) {
      throw ApiException.badRequest(
          "parameter \""
              + name
              + "\" must be one of "
              + String.join(", ", choices)
              + ", not \""
              + value
              + "\"");
    }
    return value;
  }

  /** Returns a query parameter that must be a whole number within bounds. */
  public long integer(String name, long otherwise, long min, long max) {
    String value = text(name);
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, together with the other cases.
    }
    throw ApiException.badRequest(
        "parameter \""
            + name
            + "\" must be a whole number from "
            + min
            + " to "
            + max
            + ", not \""
            + value
            + "\"");
  }

  /** Returns a required number member of the body. */
  double bodyNumber(String name, double min, double max) {
    Json value = body.get(name);
    if (value == null) {
      throw ApiException.badRequest("\"" + name + "\" is missing in the body");
    }
    double number = value instanceof Json.Num n ? n.value().doubleValue() : Double.NaN;
    if (!(number >= min && number <= max)) {
      throw ApiException.badRequest(
          "\"" + name + "\" must be a number from " + Json.of(min) + " to " + Json.of(max));
    }
    return number;
  }

  /** Returns a string member of the body, or empty. */
  public String bodyText(String name) {
    Json value = body.get(name);
    if (value == null) {
      return "";
    }
    if (value instanceof Json.Str string) {
      return string.value();
    }
    throw ApiException.badRequest("\"" + name + "\" must be a string, not " + value.kind());
  }
}
