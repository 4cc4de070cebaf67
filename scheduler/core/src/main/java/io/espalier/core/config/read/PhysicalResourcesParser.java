package io.espalier.core.config.read;

import io.espalier.core.config.Levels;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.PhysicalResource.Enforcement;
import io.espalier.core.config.PhysicalResource.Kind;
import io.espalier.core.config.ResourceCatalog;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parses {@code physical_resources} of the settings. */
final class PhysicalResourcesParser {
  private static final double SMALLEST_FACTOR = 1e-12;

  private PhysicalResourcesParser() {}

  static List<PhysicalResource> read(ConfigObject in, Levels levels, ResourceCatalog catalog) {
    ConfigValue value = in.find("physical_resources");
    Map<String, ConfigValue> entries = value == null ? null : value.members();
    if (value == null || entries == null) {
      return List.of();
    }
    Map<String, Kind> kinds = new LinkedHashMap<>();
    for (Kind kind : Kind.values()) {
      kinds.put(kind.label(), kind);
    }
    List<PhysicalResource> resources = new ArrayList<>();
    Map<String, String> users = new HashMap<>();
    entries.forEach(
        (name, entry) -> {
          Kind kind = kinds.get(name);
          if (kind == null) {
            entry.error(
                "unknown physical resource, expected one of " + String.join(", ", kinds.keySet()),
                null);
            return;
          }
          PhysicalResource resource = readOne(kind, entry, levels, catalog, users);
          if (resource != null) {
            resources.add(resource);
          }
        });
    return resources;
  }

  private static @Nullable PhysicalResource readOne(
      Kind kind,
      ConfigValue entry,
      Levels levels,
      ResourceCatalog catalog,
      Map<String, String> users) {
    ConfigObject in = entry.fields(ConfigSection.PHYSICAL_RESOURCE);
    if (in == null) {
      return null;
    }
    double factor = in.number("multiply_logical_by", 1, SMALLEST_FACTOR, Double.MAX_VALUE);
    double reserve = in.number("physical_reserve_amount", 0, -Double.MAX_VALUE, Double.MAX_VALUE);
    Enforcement enforcement = in.oneOf("enforcement", Enforcement.NONE, allowed(kind));
    ConfigValue logical =
        in.require("logical_resource", "the name of a resource of the worker level");
    String name = logical == null ? null : logical.text();
    if (logical == null
        || name == null
        || !ResourcesParser.isOfWorkers(logical, name, levels, catalog)) {
      return null;
    }
    String user = users.putIfAbsent(name, kind.label());
    if (user != null) {
      logical.error("\"" + user + "\" already stands for this resource", null);
      return null;
    }
    return new PhysicalResource(kind, name, factor, reserve, enforcement);
  }

  private static Map<String, Enforcement> allowed(Kind kind) {
    Set<Enforcement> allowed =
        switch (kind) {
          case RAM_MB -> EnumSet.of(Enforcement.NONE, Enforcement.HARD);
          case CPU_CORE -> EnumSet.of(Enforcement.NONE, Enforcement.SOFT);
          case GPU_CARD -> EnumSet.of(Enforcement.NONE);
        };
    Map<String, Enforcement> words = new LinkedHashMap<>();
    allowed.forEach(enforcement -> words.put(enforcement.label(), enforcement));
    return words;
  }
}
