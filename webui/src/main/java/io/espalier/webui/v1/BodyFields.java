package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Members of bodies that several operations share. */
final class BodyFields {
  /** More than thirty years. */
  private static final double MOST_SECONDS = 1e9;

  private BodyFields() {}

  /** Who asks, as far as they say. */
  static String author(ApiRequest request) {
    return request.caller().author(request.bodyText("author"));
  }

  /** The member {@code expires_in_seconds} in milliseconds; 0 when there is none. */
  static long expiresInMillis(ApiRequest request) {
    return request.body().get("expires_in_seconds") == null
        ? 0
        : Math.round(request.bodyNumber("expires_in_seconds", 0.001, MOST_SECONDS) * 1000);
  }

  /**
   * A whole number that is not negative.
   *
   * @param otherwise when there is none; -1: there must be one
   */
  static long whole(ApiRequest request, String name, long otherwise, long max) {
    Json value = request.body().get(name);
    if (value == null && otherwise >= 0) {
      return otherwise;
    }
    BigDecimal number = value instanceof Json.Num n ? n.value() : null;
    if (number != null
        && number.signum() >= 0
        && number.compareTo(BigDecimal.valueOf(max)) <= 0
        && number.stripTrailingZeros().scale() <= 0) {
      return number.longValueExact();
    }
    throw ApiException.badRequest(
        "\""
            + name
            + "\" must be a whole number from 0 to "
            + max
            + (value == null ? "; it is missing in the body" : ", not " + value));
  }

  /** A member that is true or false; false when there is none. */
  static boolean flag(Json.Obj of, String name) {
    Json value = of.get(name);
    if (value == null) {
      return false;
    }
    if (value instanceof Json.Bool flag) {
      return flag.value();
    }
    throw ApiException.badRequest("\"" + name + "\" must be true or false, not " + value.kind());
  }

  /** A member that is a list of strings; empty when there is none. */
  static List<String> texts(Json.Obj of, String name) {
    Json value = of.get(name);
    List<String> texts = new ArrayList<>();
    if (value == null) {
      return texts;
    }
    if (value instanceof Json.Arr items) {
      for (Json item : items.items()) {
        if (!(item instanceof Json.Str text)) {
          throw ApiException.badRequest(
              "\"" + name + "\" must hold strings only, not " + item.kind());
        }
        texts.add(text.value());
      }
      return texts;
    }
    throw ApiException.badRequest("\"" + name + "\" must be a list, not " + value.kind());
  }
}
