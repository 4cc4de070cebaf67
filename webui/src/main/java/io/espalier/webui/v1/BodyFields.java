package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Reads members of bodies that several operations share. */
public final class BodyFields {
  /** More than thirty years. */
  private static final double MOST_SECONDS = 1e9;

  private BodyFields() {}

  /** Returns the author that the caller states. */
  static String author(ApiRequest request) {
    return request.caller().author(request.bodyText("author"));
  }

  /** Returns the member {@code expires_in_seconds} in milliseconds; 0 when it is missing. */
  static long expiresInMillis(ApiRequest request) {
    return request.body().get("expires_in_seconds") == null
        ? 0
        : Math.round(request.bodyNumber("expires_in_seconds", 0.001, MOST_SECONDS) * 1000);
  }

  /**
   * Returns a non-negative whole number.
   *
   * @param otherwise the value when it is missing; -1: it is required
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

  /** Returns a boolean member; false when it is missing. */
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

  /** Returns a member that is a list of strings; empty when it is missing. */
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

  /** Refuses a request to set or release a brake that has parameters or members of no brake. */
  public static void allowBrake(ApiRequest request) {
    request
        .allowing()
        .allowingInBody(
            "node",
            "level",
            "queue",
            "set",
            "job",
            "factor",
            "throttle_running",
            "ramp",
            "expires_in_seconds",
            "author",
            "reason");
  }
}
