package io.espalier.webui.v1.json;

import io.espalier.core.config.JobOptions;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeLimitRule.Kind;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.config.keys.OptionKeys;
import io.espalier.core.config.keys.TaskKeys;
import io.espalier.core.config.schema.Names;
import io.espalier.core.json.Json;
import io.espalier.core.json.Secrets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Encodes {@code bistro_settings} with its own keys and every default, without secrets. */
public final class SettingsJson {
  private SettingsJson() {}

  public static Json.Obj of(Settings settings) {
    Names names = Names.of(settings);
    JobOptions usual = OptionKeys.OPTIONS.usual();
    Json.Builder json =
        Json.object()
            .put("enabled", settings.enabled())
            .put("working_wait", seconds(settings.workingWait()))
            .put("scheduler", settings.policy())
            .put("shuffle", settings.shuffle())
            .put("remote_worker_selector", settings.workerSelector());
    for (String key : List.of("retry", "backoff", "level_for_tasks")) {
      OptionKeys.OPTIONS.put(json, key, settings.defaults(), usual, names);
    }
    json.put("nodes", nodes(settings))
        .put("resources", resources(settings))
        .put("worker_resources_override", overrides(settings))
        .put("node_resources_override", nodeLimits(settings))
        .put("physical_resources", physical(settings));
    OptionKeys.OPTIONS.put(json, "kill_orphan_tasks_after_sec", settings.defaults(), usual, names);
    json.put(
        "task_subprocess",
        Secrets.hide(TaskKeys.TASK_SUBPROCESS.write(settings.defaults().subprocess())));
    OptionKeys.OPTIONS.put(json, "kill_subprocess", settings.defaults(), usual, names);
    json.put(
        "CAUTION_exit_initial_wait_before_timestamp",
        settings.exitInitialWaitBefore().getEpochSecond());
    for (String key : List.of("timeout_sec", "no_output_timeout_sec", "log_retention", "redact")) {
      OptionKeys.OPTIONS.put(json, key, settings.defaults(), usual, names);
    }
    return json.build();
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1000.0;
  }

  private static Json nodes(Settings settings) {
    List<Json> sources = new ArrayList<>();
    for (NodeSourceSpec spec : settings.nodeSources()) {
      sources.add(
          Json.object()
              .put("source", spec.source())
              .put("prefs", Secrets.hide(spec.prefs()))
              .build());
    }
    return Json.object()
        .put("levels", Json.strings(settings.levels().configured()))
        .put("node_sources", new Json.Arr(sources))
        .put("node_order", settings.nodeOrder().label())
        .build();
  }

  private static Json resources(Settings settings) {
    Map<String, Json.Builder> levels = new LinkedHashMap<>();
    for (Resource resource : settings.resources().all()) {
      levels
          .computeIfAbsent(settings.levels().name(resource.level()), level -> Json.object())
          .put(
              resource.name(),
              Json.object()
                  .put("default", resource.defaultNeed())
                  .put("limit", resource.limit())
                  .put("weight", resource.weight())
                  .build());
    }
    Json.Builder json = Json.object();
    levels.forEach((level, resources) -> json.put(level, resources.build()));
    return json.build();
  }

  private static Json overrides(Settings settings) {
    Json.Builder json = Json.object();
    new TreeMap<>(settings.workerOverrides())
        .forEach((worker, amounts) -> json.put(worker, slots(amounts)));
    return json.build();
  }

  private static Json nodeLimits(Settings settings) {
    List<Json> rules = new ArrayList<>();
    for (NodeLimitRule rule : settings.rules().nodeLimits()) {
      Json.Builder json = Json.object().put("level", settings.levels().name(rule.level()));
      switch (rule.kind()) {
        case NAME -> json.put("name", rule.pattern());
        case TAG -> json.put("tag", rule.pattern());
        case REGEX -> json.put("regex", rule.pattern());
        case VALUE -> json.put("attribute", rule.pattern());
        case ATTRIBUTE ->
            json.put("attribute", rule.pattern())
                .put("resource", String.join("", rule.limits().keySet()));
      }
      json.putIfPresent("value", rule.value() == null ? null : Json.of(rule.value()));
      if (rule.kind() != Kind.ATTRIBUTE) {
        json.put("limits", slots(rule.limits()));
      }
      rules.add(json.build());
    }
    return new Json.Arr(rules);
  }

  private static Json slots(Map<String, Integer> amounts) {
    Json.Builder json = Json.object();
    new TreeMap<>(amounts).forEach((name, slots) -> json.put(name, slots));
    return json.build();
  }

  private static Json physical(Settings settings) {
    Json.Builder json = Json.object();
    for (PhysicalResource resource : settings.physicalResources()) {
      json.put(
          resource.kind().label(),
          Json.object()
              .put("logical_resource", resource.logicalResource())
              .put("multiply_logical_by", resource.multiplyLogicalBy())
              .put("enforcement", resource.enforcement().label())
              .put("physical_reserve_amount", resource.reserveAmount())
              .build());
    }
    return json.build();
  }
}
