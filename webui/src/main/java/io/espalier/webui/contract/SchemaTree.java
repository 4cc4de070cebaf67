package io.espalier.webui.contract;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A document of nested maps and lists whose schemas refer to each other. */
final class SchemaTree {
  private final Map<String, Object> document;

  SchemaTree(Map<String, Object> document) {
    this.document = document;
  }

  /** Casts an object of the YAML reader to a map. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> map(@Nullable Object value) {
    return (Map<String, Object>) Objects.requireNonNull(value);
  }

  /** Returns the target of a local reference such as {@code #/components/schemas/Job}. */
  private Map<String, Object> target(String reference) {
    Object at = document;
    for (String part : reference.substring(2).split("/", -1)) {
      at = Objects.requireNonNull(map(at).get(part), reference);
    }
    return map(at);
  }

  /** Returns an equivalent schema without references and {@code allOf} at its top. */
  Map<String, Object> resolved(Map<String, Object> schema) {
    if (schema.get("$ref") instanceof String reference) {
      return resolved(target(reference));
    }
    if (!(schema.get("allOf") instanceof List<?> parts)) {
      return schema;
    }
    Map<String, Object> whole = new LinkedHashMap<>(schema);
    whole.remove("allOf");
    Map<String, Object> properties = new LinkedHashMap<>();
    Set<Object> required = new LinkedHashSet<>();
    for (Object part : parts) {
      Map<String, Object> one = resolved(map(part));
      one.forEach(whole::putIfAbsent);
      if (one.get("properties") != null) {
        properties.putAll(map(one.get("properties")));
      }
      if (one.get("required") instanceof List<?> names) {
        required.addAll(names);
      }
    }
    if (!properties.isEmpty()) {
      whole.put("properties", properties);
    }
    if (!required.isEmpty()) {
      whole.put("required", new ArrayList<>(required));
    }
    return whole;
  }

  /**
   * Returns the schema that contains a keyword.
   *
   * @param path of tokens from {@code from} to the keyword, through references
   */
  @Nullable Map<String, Object> holder(Map<String, Object> from, List<String> path) {
    Object at = from;
    for (String token : path.subList(0, path.size() - 1)) {
      if (at instanceof List<?> list) {
        at = list.get(Integer.parseInt(token));
      } else if (token.equals("$ref") && at instanceof Map<?, ?> here) {
        at = target(String.valueOf(here.get("$ref")));
      } else if (at instanceof Map<?, ?> here) {
        at = here.get(token);
      } else {
        return null;
      }
    }
    return at instanceof Map<?, ?> ? map(at) : null;
  }
}
