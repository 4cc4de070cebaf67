package io.espalier.webui.fleet.action;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Adds up groups of tasks that several schedulers tell of one job. What they say is not trusted:
 * members of other types count as absent.
 */
final class GroupMerge {
  private static final int MOST_GROUPS = 100;
  private static final int MOST_HOSTS = 20;
  private static final int MOST_SAMPLES = 3;

  private final String member;
  private final Function<Json.Obj, String> key;
  private final List<String> copied;
  private final List<String> sums;

  private GroupMerge(
      String member, Function<Json.Obj, String> key, List<String> copied, List<String> sums) {
    this.member = member;
    this.key = key;
    this.copied = copied;
    this.sums = sums;
  }

  /** Causes of failure: the same wherever they have the same fingerprint. */
  static GroupMerge failures() {
    return new GroupMerge(
        "groups",
        group -> text(group, "fingerprint"),
        List.of("fingerprint", "message"),
        List.of("failed", "waiting"));
  }

  /** Reasons for waiting: the same if their messages differ only in numbers and the node. */
  static GroupMerge waiting() {
    return new GroupMerge(
        "reasons", GroupMerge::reason, List.of("kind", "never", "message"), List.of());
  }

  private static String reason(Json.Obj group) {
    String node = text(group, "node");
    String message = text(group, "message");
    String masked =
        (node.isEmpty() ? message : message.replace(node, "")).replaceAll("[0-9]+", "0");
    return text(group, "kind")
        + "\n"
        + text(group, "resource")
        + "\n"
        + group.get("never")
        + "\n"
        + masked;
  }

  /** A group over all schedulers. */
  private static final class Group {
    final List<Part> parts = new ArrayList<>();
    long count;

    void add(Part part) {
      parts.add(part);
      count += part.count();
    }
  }

  private record Part(String host, long count, Json.Obj said) {}

  Json answer(String job, Answers answers) {
    Map<String, Group> groups = new LinkedHashMap<>();
    for (Answers.One one : answers.found()) {
      if (one.said().get(member) instanceof Json.Arr list) {
        for (Json each : list.items()) {
          if (each instanceof Json.Obj group) {
            groups
                .computeIfAbsent(key.apply(group), k -> new Group())
                .add(new Part(one.host().id(), number(group, "count"), group));
          }
        }
      }
    }
    List<Group> sorted = new ArrayList<>(groups.values());
    // Equal ones stay in the order of the schedulers.
    sorted.sort(Comparator.comparingLong((Group group) -> group.count).reversed());
    List<Json> list = new ArrayList<>();
    sorted.stream().limit(MOST_GROUPS).forEach(group -> list.add(json(group)));
    return answers
        .into(Json.object().put("job", job))
        .put("total", sorted.stream().mapToLong(group -> group.count).sum())
        .put("groups_total", sorted.size())
        .put(member, new Json.Arr(list))
        .build();
  }

  private Json json(Group group) {
    group.parts.sort(Comparator.comparingLong(Part::count).reversed());
    Json.Obj most = group.parts.get(0).said();
    Json.Builder json = Json.object();
    for (String name : copied) {
      Json value = most.get(name);
      if (value instanceof Json.Str || value instanceof Json.Bool) {
        json.put(name, value);
      }
    }
    json.put("count", group.count);
    Map<String, Long> added = new TreeMap<>();
    for (Part part : group.parts) {
      sums.forEach(name -> added.merge(name, number(part.said(), name), Long::sum));
    }
    added.forEach(json::put);
    long newest =
        group.parts.stream().mapToLong(p -> number(p.said(), "newest_ms")).max().orElse(0);
    if (newest > 0) {
      json.put("newest_ms", newest);
    }
    List<Json> hosts = new ArrayList<>();
    group.parts.stream()
        .limit(MOST_HOSTS)
        .forEach(
            part ->
                hosts.add(
                    Json.object()
                        .put("id", part.host())
                        .put("count", part.count())
                        .put("samples", samples(part.said()))
                        .build()));
    return json.put("schedulers", group.parts.size()).put("hosts", new Json.Arr(hosts)).build();
  }

  private static Json samples(Json.Obj group) {
    List<String> names = new ArrayList<>();
    if (group.get("samples") instanceof Json.Arr list) {
      for (Json each : list.items()) {
        if (each instanceof Json.Str name && names.size() < MOST_SAMPLES) {
          names.add(name.value());
        }
      }
    }
    return Json.strings(names);
  }

  private static String text(Json.Obj of, String name) {
    return of.get(name) instanceof Json.Str text ? text.value() : "";
  }

  private static long number(Json.Obj of, String name) {
    return of.get(name) instanceof Json.Num number ? Math.max(0, number.value().longValue()) : 0;
  }
}
