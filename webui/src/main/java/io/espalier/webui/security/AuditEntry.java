package io.espalier.webui.security;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to change something.
 *
 * @param id grows with every entry; 0: not written yet
 * @param atMillis epoch
 * @param who name of the caller
 * @param role label of the caller's role; empty: not authenticated
 * @param address of the caller, without port
 * @param action the requested action, such as {@code pause}
 * @param target of the action: names, percent-encoded, separated by slashes
 * @param reason as the caller gave it
 * @param status HTTP status of the answer; in a batch, the equivalent status of the REST interface
 * @param details more of the request, or why it was refused
 */
public record AuditEntry(
    long id,
    long atMillis,
    String who,
    String role,
    String address,
    String action,
    String target,
    String reason,
    int status,
    Json.Obj details) {

  AuditEntry withId(long newId) {
    return new AuditEntry(
        newId, atMillis, who, role, address, action, target, reason, status, details);
  }

  /** Encodes the entry for the contract and the file; the id comes first. */
  public Json.Obj toJson() {
    return Json.object()
        .put("id", id)
        .put("at_ms", atMillis)
        .put("who", who)
        .put("role", role)
        .put("address", address)
        .put("action", action)
        .put("target", target)
        .put("reason", reason)
        .put("status", status)
        .put("details", details)
        .build();
  }

  /** Decodes an entry; null for anything else, such as a line truncated by a crash. */
  static @Nullable AuditEntry of(@Nullable Json json) {
    return json instanceof Json.Obj object && object.get("id") instanceof Json.Num
        ? new AuditEntry(
            number(object, "id"),
            number(object, "at_ms"),
            text(object, "who"),
            text(object, "role"),
            text(object, "address"),
            text(object, "action"),
            text(object, "target"),
            text(object, "reason"),
            (int) number(object, "status"),
            object.get("details") instanceof Json.Obj details ? details : Json.Obj.EMPTY)
        : null;
  }

  private static long number(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }

  private static String text(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Str text ? text.value() : "";
  }
}
