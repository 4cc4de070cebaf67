package io.espalier.core.config;

import io.espalier.core.json.Json;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A kind of redundancy groups, one entry of {@code groups}: nodes of one level that stand in for
 * each other, so that only some of them may be busy at once. Each value of an attribute, or each
 * tag that matches, is a group of its own.
 *
 * @param name the name of the kind, such as {@code replset}
 * @param level index of the level whose nodes are the members
 * @param by what makes a group: {@code attribute:NAME}, {@code tag:TAG} or {@code tag:PREFIX*}
 * @param maxConcurrent how many members of a group may be busy at once; 0: see {@code maxFraction}
 * @param maxFraction the same as a part of the members; 0: see {@code maxConcurrent}
 * @param follows names of probes of the level: while one of them is bad on a member, nothing starts
 *     on any member of its group; may be empty
 */
public record GroupRule(
    String name,
    int level,
    String by,
    int maxConcurrent,
    double maxFraction,
    List<String> follows) {
  private static final String ATTRIBUTE = "attribute:";
  private static final String TAG = "tag:";

  public GroupRule {
    follows = List.copyOf(follows);
  }

  /** Creates a kind that follows no probe. */
  public GroupRule(String name, int level, String by, int maxConcurrent, double maxFraction) {
    this(name, level, by, maxConcurrent, maxFraction, List.of());
  }

  /**
   * Returns the name under which the limits of these groups follow health, beside the names of
   * resources: {@code groups.} and that of the kind.
   */
  public String limitName() {
    return "groups." + name;
  }

  /** Returns the attribute whose values are the groups; empty: tags are. */
  public String attribute() {
    return by.startsWith(ATTRIBUTE) ? by.substring(ATTRIBUTE.length()) : "";
  }

  /** Returns whether a tag is a group of this kind. */
  public boolean isGroup(String tag) {
    if (!by.startsWith(TAG)) {
      return false;
    }
    return by.endsWith("*")
        ? tag.startsWith(by.substring(TAG.length(), by.length() - 1))
        : tag.equals(by.substring(TAG.length()));
  }

  /** Returns the groups of this kind to which a node with these tags and attributes belongs. */
  public Set<String> groupsOf(Set<String> tags, Json.Obj attributes) {
    if (attribute().isEmpty()) {
      return tags.stream().filter(this::isGroup).collect(Collectors.toSet());
    }
    Json value = attributes.get(attribute());
    String text = value == null || value instanceof Json.Null ? "" : NodeLimitRule.text(value);
    return text.isEmpty() ? Set.of() : Set.of(text);
  }

  /** Returns how many of the members of a group may be busy at once; at least 1. */
  public int limit(int members) {
    // As a decimal number: in doubles 0.29 times 100 is less than 29.
    return maxConcurrent > 0
        ? maxConcurrent
        : Math.max(
            1, BigDecimal.valueOf(maxFraction).multiply(BigDecimal.valueOf(members)).intValue());
  }

  /** The limit in words, such as {@code 1 member at a time}. */
  public static String words(int limit) {
    return String.format(Locale.ROOT, "%d %s at a time", limit, limit == 1 ? "member" : "members");
  }
}
