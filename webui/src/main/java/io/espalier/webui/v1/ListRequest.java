package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import java.util.List;
import java.util.Set;

/**
 * The part of a list that a request asks for: which page, and which members of its items.
 *
 * @param fields the optional members that are wanted; empty: all
 * @param after the end of the previous page; empty: the list from its beginning
 * @param limit the maximum number of items
 * @param paged whether the request asks for a page
 */
record ListRequest(Set<String> fields, String after, int limit, boolean paged) {
  /**
   * @param otherwise the limit if none is given
   * @param most the highest limit that may be given
   */
  static ListRequest of(ApiRequest request, int otherwise, int most) {
    String after = request.text("after");
    return new ListRequest(
        Set.copyOf(request.all("fields")),
        after,
        (int) request.integer("limit", otherwise, 1, most),
        !after.isEmpty() || !request.text("limit").isEmpty());
  }

  /**
   * Returns an item with the wanted members.
   *
   * @param required members that every item has
   */
  Json.Obj item(Json.Obj whole, Set<String> required) {
    if (fields.isEmpty()) {
      return whole;
    }
    Json.Builder part = Json.object();
    whole
        .members()
        .forEach(
            (name, value) -> {
              if (required.contains(name) || fields.contains(name)) {
                part.put(name, value);
              }
            });
    return part.build();
  }

  /** Whether a repeatable filter of a request lets a value through; without the filter, any. */
  static boolean fits(List<String> wanted, String value) {
    return wanted.isEmpty() || wanted.contains(value);
  }
}
