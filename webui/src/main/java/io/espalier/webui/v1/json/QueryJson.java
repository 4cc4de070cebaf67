package io.espalier.webui.v1.json;

import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.api.view.ResourceHolder;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.json.Json;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the schemas of {@code openapi.yaml} for the tree and for the reasons why a job does not
 * progress.
 */
public final class QueryJson {
  private QueryJson() {}

  /** Schema {@code Tree}. */
  public static Json tree(TreeView tree) {
    Topology topology = tree.topology();
    List<Json> nodes = new ArrayList<>(tree.nodes().size());
    for (TreeView.Node node : tree.nodes()) {
      int at = topology.node(node.slot());
      Json.Builder json =
          Json.object()
              .put("name", topology.name(at))
              .put("level", topology.levels().name(topology.level(at)))
              .put("parent", node.parent())
              .put("leaves", node.leaves())
              .put("children", topology.childEnd(at) - topology.childStart(at))
              .put("enabled", topology.enabled(node.slot()))
              .put("resources", resources(node.resources(), false))
              .put("states", counts(node.states()));
      putClosed(json, node.closed());
      putReserved(json, node.reserved());
      nodes.add(json.build());
    }
    return Json.object()
        .put("at_ms", tree.atMillis())
        .put("root", tree.nodes().isEmpty() ? "" : name(topology, tree.nodes().get(0)))
        .put("nodes", new Json.Arr(nodes))
        .put("truncated", tree.isTruncated())
        .build();
  }

  private static String name(Topology topology, TreeView.Node node) {
    return topology.name(topology.node(node.slot()));
  }

  private static Json resources(List<TreeView.Slots> slots, boolean withConfigured) {
    List<Json> list = new ArrayList<>();
    for (TreeView.Slots slot : slots) {
      Json.Builder json =
          Json.object()
              .put("resource", slot.resource())
              .put("used", slot.used())
              .put("limit", slot.limit());
      if (withConfigured) {
        json.put("configured", slot.configured());
        if (slot.base() != slot.configured()) {
          json.put("override", slot.base());
        }
      }
      if (!slot.lowered().isEmpty()) {
        json.put("lowered", slot.lowered());
      }
      list.add(json.build());
    }
    return new Json.Arr(list);
  }

  /** Schema {@code TaskCounts}. */
  private static Json counts(TaskCounts counts) {
    return Json.object()
        .put("done", counts.done())
        .put("failed", counts.failed())
        .put("cancelled", counts.cancelled())
        .put("running", counts.running())
        .put("waiting", counts.waiting())
        .put("ready", counts.ready())
        .put("blocked", counts.blocked())
        .build();
  }

  /** Schema {@code NodeDetail}. */
  public static Json node(NodeDetail detail) {
    Topology topology = detail.topology();
    int node = detail.node();
    List<Json> jobs = new ArrayList<>();
    detail
        .jobs()
        .forEach(
            (job, counts) ->
                jobs.add(Json.object().put("job", job).put("states", counts(counts)).build()));
    Json.Builder json =
        putNode(Json.object().put("at_ms", detail.atMillis()), topology, node)
            .put("children", topology.childEnd(node) - topology.childStart(node))
            .put("leaves", detail.leaves())
            .put("resources", resources(detail.resources(), true))
            .put("holders", holders(detail.holders(), true))
            .put("holders_total", detail.holdersTotal())
            .put("jobs", new Json.Arr(jobs));
    putClosed(json, detail.closed());
    putReserved(json, detail.reserved());
    return json.build();
  }

  /** Puts the name and the places of a node in the tree. */
  public static Json.Builder putNode(Json.Builder json, Topology topology, int node) {
    List<String> parents = new ArrayList<>();
    TreeSet<String> tags = new TreeSet<>();
    boolean enabled = false;
    for (int i = 0; i < topology.slotCount(node); i++) {
      int slot = topology.slot(node, i);
      int parent = topology.parent(slot);
      if (parent >= 0) {
        parents.add(topology.name(parent));
      }
      tags.addAll(topology.tags(slot));
      enabled |= topology.enabled(slot);
    }
    return json.put("name", topology.name(node))
        .put("level", topology.levels().name(topology.level(node)))
        .put("parents", Json.strings(parents))
        .put("enabled", enabled)
        .put("tags", Json.strings(tags))
        .put("attributes", topology.attributes(topology.slot(node, 0)));
  }

  /** Schema {@code ResourceHolder}. */
  public static Json.Arr holders(List<ResourceHolder> holders, boolean withResource) {
    List<Json> list = new ArrayList<>();
    for (ResourceHolder holder : holders) {
      Json.Builder json =
          Json.object()
              .put("job", holder.job())
              .put("node", holder.node())
              .put("slots", holder.slots())
              .put("since_ms", holder.sinceMillis());
      if (withResource) {
        json.put("resource", holder.resource());
      }
      if (holder.expectedEndMillis() > 0) {
        json.put("expected_end_ms", holder.expectedEndMillis());
      }
      list.add(json.build());
    }
    return new Json.Arr(list);
  }

  /** The other places of schema {@code Explanation}; null without any. */
  public static Json.@Nullable Arr alternatives(List<Explanation.Alternative> others) {
    if (others.isEmpty()) {
      return null;
    }
    List<Json> list = new ArrayList<>();
    for (Explanation.Alternative other : others) {
      list.add(
          Json.object()
              .put("parent", other.parent())
              .putIfPresent("role", other.role().isEmpty() ? null : Json.of(other.role()))
              .put("reasons", Json.strings(other.messages()))
              .build());
    }
    return new Json.Arr(list);
  }

  /** The path of schema {@code Explanation}. */
  public static Json.Arr path(List<Explanation.Step> steps) {
    List<Json> list = new ArrayList<>();
    for (Explanation.Step step : steps) {
      List<Json> uses = new ArrayList<>();
      for (Explanation.Use use : step.resources()) {
        uses.add(
            Json.object()
                .put("resource", use.resource())
                .put("need", use.need())
                .put("used", use.used())
                .put("limit", use.limit())
                .build());
      }
      Json.Builder shown =
          Json.object()
              .put("node", step.node())
              .put("level", step.level())
              .put("enabled", step.enabled())
              .put("resources", new Json.Arr(uses))
              .put("blocks", step.blocks());
      putReserved(shown, step.reserved());
      list.add(shown.build());
    }
    return new Json.Arr(list);
  }

  /** Schema {@code Closed}; left out where nothing is closed. */
  private static void putClosed(Json.Builder out, List<Explanation.Reason> closed) {
    if (!closed.isEmpty()) {
      out.put("closed", new Json.Arr(closed.stream().map(ApiJson::reason).toList()));
    }
  }

  private static void putReserved(Json.Builder out, Explanation.@Nullable Reserved reserved) {
    if (reserved != null) {
      Json.Builder json = Json.object().put("job", reserved.job());
      String task = reserved.task();
      if (task != null) {
        json.put("task", task);
      }
      out.put(
          "reserved",
          json.put("since_ms", reserved.sinceMillis())
              .put("idle_slots", reserved.idleSlots())
              .build());
    }
  }

  /** Schema {@code WaitingReasons}. */
  public static Json waiting(WaitingReasons waiting) {
    List<Json> reasons = new ArrayList<>();
    for (WaitingReasons.Group group : waiting.reasons()) {
      Json.Builder json = Json.object().put("kind", group.kind());
      String node = group.node();
      if (node != null) {
        json.put("node", node);
      }
      String resource = group.resource();
      if (resource != null) {
        json.put("resource", resource);
      }
      if (group.never()) {
        json.put("never", true);
      }
      if (group.untilMillis() > 0) {
        json.put("until_ms", group.untilMillis());
      }
      reasons.add(
          json.put("count", group.count())
              .put("message", group.message())
              .put("samples", Json.strings(group.samples()))
              .build());
    }
    return Json.object()
        .put("job", waiting.job())
        .put("at_ms", waiting.atMillis())
        .put("counted", waiting.counted())
        .put("total", waiting.total())
        .put("sampled", waiting.sampled())
        .put("reasons", new Json.Arr(reasons))
        .build();
  }

  /** Schema {@code Failures}. */
  public static Json failures(FailureGroups failures) {
    List<Json> groups = new ArrayList<>();
    for (FailureGroups.Group group : failures.groups()) {
      groups.add(
          Json.object()
              .put("fingerprint", group.fingerprint())
              .put("message", group.message())
              .put("count", group.count())
              .put("failed", group.failed())
              .put("waiting", group.waiting())
              .put("samples", Json.strings(group.samples()))
              .put("newest_ms", group.newestMillis())
              .build());
    }
    return Json.object()
        .put("job", failures.job())
        .put("at_ms", failures.atMillis())
        .put("total", failures.total())
        .put("groups_total", failures.groupsTotal())
        .put("groups", new Json.Arr(groups))
        .build();
  }

  /** Schema {@code Activity}. */
  public static Json activity(JobActivity activity) {
    JobActivity.Minutes minutes = activity.minutes();
    Json.Builder json =
        Json.object()
            .put("at_ms", activity.atMillis())
            .put("from_ms", minutes.fromMillis())
            .put("starts", integers(minutes.starts()))
            .put("ends", integers(minutes.ends()))
            .put("errors", integers(minutes.errors()));
    if (activity.p50Millis() >= 0) {
      json.put("p50_ms", activity.p50Millis()).put("p95_ms", activity.p95Millis());
    }
    List<Json> stragglers = new ArrayList<>();
    for (JobActivity.Straggler straggler : activity.stragglers()) {
      stragglers.add(
          Json.object()
              .put("job", straggler.job())
              .put("node", straggler.node())
              .put("started_at_ms", straggler.startedMillis())
              .put("usual_ms", straggler.usualMillis())
              .build());
    }
    return json.put("stragglers", new Json.Arr(stragglers))
        .put("stragglers_total", activity.stragglersTotal())
        .build();
  }

  private static Json integers(List<Integer> numbers) {
    List<Json> list = new ArrayList<>(numbers.size());
    numbers.forEach(number -> list.add(Json.of(number)));
    return new Json.Arr(list);
  }

  /** Schema {@code JobLevels}. */
  public static Json eta(JobEta eta) {
    Json.Builder json =
        Json.object()
            .put("job", eta.job())
            .put("at_ms", eta.atMillis())
            .put("left", eta.left())
            .put("never", eta.never());
    if (eta.p50Seconds() >= 0) {
      json.put("p50_seconds", rounded(eta.p50Seconds()))
          .put("p90_seconds", rounded(eta.p90Seconds()));
    }
    JobEta.Bottleneck narrow = eta.bottleneck();
    if (narrow != null) {
      Json.Builder place = Json.object().put("kind", narrow.kind().name().toLowerCase(Locale.ROOT));
      putUnlessEmpty(place, "level", narrow.level());
      putUnlessEmpty(place, "node", narrow.node());
      putUnlessEmpty(place, "resource", narrow.resource());
      putUnlessEmpty(place, "name", narrow.name());
      place.put("limit", narrow.limit());
      if (eta.p50Seconds() >= 0 && narrow.gainSeconds() >= 0) {
        place
            .put("gain_seconds", rounded(narrow.gainSeconds()))
            .put("gain_of_level_seconds", rounded(narrow.gainOfLevelSeconds()));
      }
      json.put("bottleneck", place.build());
    }
    return json.build();
  }

  private static void putUnlessEmpty(Json.Builder to, String key, String value) {
    if (!value.isEmpty()) {
      to.put(key, value);
    }
  }

  private static double rounded(double seconds) {
    return Math.round(seconds * 10) / 10.0;
  }

  public static Json levels(JobLevels levels) {
    List<Json> list = new ArrayList<>();
    for (JobLevels.Level level : levels.levels()) {
      Json.Builder states = Json.object();
      level.states().forEach(states::put);
      Json.Builder samples = Json.object();
      level.samples().forEach((state, names) -> samples.put(state, Json.strings(names)));
      list.add(
          Json.object()
              .put("level", level.level())
              .put("nodes", level.nodes())
              .put("states", states.build())
              .put("samples", samples.build())
              .build());
    }
    return Json.object()
        .put("job", levels.job())
        .put("at_ms", levels.atMillis())
        .put("levels", new Json.Arr(list))
        .build();
  }

  public static Json groupKind(GroupKindView kind) {
    return Json.object()
        .put("name", kind.name())
        .put("level", kind.level())
        .put("by", kind.by())
        .put("groups", kind.groups())
        .put("full", kind.full())
        .put("members", kind.members())
        .put("busy", kind.busy())
        .put("waiting", kind.parked())
        .put("outside", kind.outside())
        .build();
  }

  public static Json groups(GroupPage page) {
    List<Json> groups = new ArrayList<>();
    for (GroupPage.Group group : page.groups()) {
      List<Json> members = new ArrayList<>();
      for (GroupPage.Member member : group.members()) {
        Json.Builder json = Json.object().put("node", member.node()).put("running", member.tasks());
        if (!member.task().isEmpty()) {
          json.put("job", member.job()).put("task", member.task());
        }
        members.add(json.build());
      }
      groups.add(
          Json.object()
              .put("name", group.name())
              .put("limit", group.limit())
              .put("size", group.size())
              .put("busy", group.busy())
              .put("members", new Json.Arr(members))
              .build());
    }
    return Json.object().put("groups", new Json.Arr(groups)).put("next", page.next()).build();
  }
}
