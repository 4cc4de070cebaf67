package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

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
        Set.copyOf(request.words("fields")),
        after,
        (int) request.integer("limit", otherwise, 1, most),
        !after.isEmpty() || !request.text("limit").isEmpty());
  }

  /**
   * One page of a list.
   *
   * @param next cursor of the next page; empty: this is the last one
   */
  record Page<T>(List<T> items, String next) {
    /** Adds the cursor to the answer to a request for a page. */
    Json.Builder addTo(Json.Builder answer, ListRequest request) {
      return request.paged() ? answer.put("next", next) : answer;
    }
  }

  /**
   * Returns the page that the request asks for, in the order of the cursors; all items in their own
   * order if it asks for none.
   *
   * @param cursor of an item; no two have the same
   */
  <T> Page<T> page(List<T> all, Function<T, String> cursor) {
    if (!paged) {
      return new Page<>(all, "");
    }
    List<T> rest =
        all.stream()
            .filter(item -> cursor.apply(item).compareTo(after) > 0)
            .sorted(Comparator.comparing(cursor))
            .limit(limit + 1L)
            .toList();
    return rest.size() <= limit
        ? new Page<>(rest, "")
        : new Page<>(rest.subList(0, limit), cursor.apply(rest.get(limit - 1)));
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
  static boolean fits(Collection<String> wanted, String value) {
    return wanted.isEmpty() || wanted.contains(value);
  }
}
