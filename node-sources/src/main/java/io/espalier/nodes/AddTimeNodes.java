package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.nodes.cron.CronSchedule;
import io.espalier.nodes.cron.ScheduleReader;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * {@code add_time}: adds, under every node of a level, one child for each recent event of a
 * schedule, so that a job runs once per event (docs/design/bistro.md#the-source-add_time).
 *
 * <p>Preferences: {@code parent_level}; {@code format} (default {@code {parent}:{time}},
 * placeholders {@code {parent} {time}}, the latter in seconds since 1970); {@code time_zone}
 * (default: the system's); {@code schedule}, a list of objects with {@code cron}, {@code lifetime}
 * (seconds), {@code enabled_lifetime} (default: the lifetime; afterwards the node is disabled),
 * {@code tags}, {@code time_zone} and, for a line of five fields, {@code dst_fixes}. Events of
 * several items in the same second become one node: it has the tags of all, and is enabled if it is
 * enabled for all of them.
 *
 * <p>The nodes depend only on the instant. The source announces its next change, so it is punctual.
 */
public final class AddTimeNodes implements NodeSource {
  /** The maximum number of nodes of one source. */
  public static final int MAX_NODES = 10_000_000;

  /** The maximum number of recent events of one schedule item. */
  public static final int MAX_EVENTS = 1_000_000;

  private final int parentLevel;
  private final NameFormat format;
  private final List<Item> items;
  private final String path;

  /**
   * One item of the schedule.
   *
   * @param lifetime seconds for which a node exists
   * @param enabledLifetime seconds for which it is enabled
   */
  private record Item(EventWindow events, long lifetime, long enabledLifetime, Set<String> tags) {}

  /** A second in which at least one event happened. */
  private record Moment(boolean enabled, Set<String> tags) {}

  private AddTimeNodes(int parentLevel, NameFormat format, List<Item> items, String path) {
    this.parentLevel = parentLevel;
    this.format = format;
    this.items = List.copyOf(items);
    this.path = path;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    List<String> parents = soFar.names(parentLevel);
    Map<Long, Moment> moments = moments(now.getEpochSecond());
    if ((long) parents.size() * moments.size() > MAX_NODES) {
      throw failure(
          "%,d events for each of %,d parents are more than the %,d nodes allowed"
              .formatted(moments.size(), parents.size(), MAX_NODES));
    }
    for (String parent : parents) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      moments.forEach(
          (time, moment) ->
              sink.add(
                  new NodeSpec(
                      parentLevel + 1,
                      name(parent, time),
                      parent,
                      parentLevel,
                      moment.enabled,
                      moment.tags,
                      Json.Obj.EMPTY)));
    }
  }

  private Map<Long, Moment> moments(long now) throws NodeSourceException, InterruptedException {
    Map<Long, Moment> moments = new TreeMap<>();
    for (Item item : items) {
      for (long event : events(item, now)) {
        boolean enabled = now - event < item.enabledLifetime;
        moments.merge(event, new Moment(enabled, item.tags), AddTimeNodes::both);
      }
    }
    return moments;
  }

  private static Moment both(Moment one, Moment other) {
    Set<String> tags = new HashSet<>(one.tags);
    tags.addAll(other.tags);
    return new Moment(one.enabled && other.enabled, tags);
  }

  private long[] events(Item item, long now) throws NodeSourceException, InterruptedException {
    try {
      return item.events.at(now, MAX_EVENTS);
    } catch (EventWindow.TooMany e) {
      throw failure(
          "more than %,d events are in a lifetime of %,d seconds"
              .formatted(MAX_EVENTS, item.lifetime));
    }
  }

  private NodeSourceException failure(String message) {
    return new NodeSourceException(List.of(Problem.error(path, message)));
  }

  private String name(String parent, long time) {
    return format.name(what -> what.equals("parent") ? parent : Long.toString(time));
  }

  @Override
  public boolean isComputed() {
    return true;
  }

  /** Returns the next event, or the end of a node's enabled or whole lifetime. */
  @Override
  public Optional<Instant> nextChange(Instant after) throws InterruptedException {
    long now = after.getEpochSecond();
    long soonest = Long.MAX_VALUE;
    for (Item item : items) {
      OptionalLong next = item.events.after(now);
      if (next.isPresent()) {
        soonest = Math.min(soonest, next.getAsLong());
      }
      long[] events;
      try {
        events = item.events.at(now, MAX_EVENTS);
      } catch (EventWindow.TooMany e) {
        // The fetch reports it.
        continue;
      }
      if (events.length > 0) {
        soonest = Math.min(soonest, events[0] + item.lifetime);
      }
      for (long event : events) {
        if (event + item.enabledLifetime > now) {
          soonest = Math.min(soonest, event + item.enabledLifetime);
          break;
        }
      }
    }
    return soonest == Long.MAX_VALUE
        ? Optional.empty()
        : Optional.of(Instant.ofEpochSecond(soonest));
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    /** The longest lifetime: the seconds of a thousand years. */
    private static final long LONGEST = 31_556_952_000L;

    @Override
    public String name() {
      return "add_time";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      String text = prefs.string("format", "a string", "{parent}:{time}");
      NameFormat format = NameFormat.read("format", text, List.of("parent", "time"), prefs);
      if (!text.isEmpty() && !prefs.hasErrors() && !format.uses("time")) {
        NameFormat.problem(
            prefs,
            "format",
            "without {time} all children of a parent would have the same name",
            "put {time} into the format");
      }
      ZoneId zone = zone(prefs, ZoneId.systemDefault());
      Json schedule = prefs.require("schedule", "a list of objects with \"cron\" and \"lifetime\"");
      List<Item> items = new ArrayList<>();
      if (schedule instanceof Json.Arr list) {
        for (int i = 0; i < list.items().size(); i++) {
          String at = prefs.at("schedule") + "[" + i + "]";
          Json item = list.items().get(i);
          if (item instanceof Json.Obj object) {
            Prefs inside = prefs.inside(object, at);
            Item read = item(inside, zone);
            inside.reportUnknownKeys();
            if (read != null) {
              items.add(read);
            }
          } else {
            prefs.error(at, item.at(), item, "expected an object, not " + item.kind());
          }
        }
      } else if (schedule != null) {
        prefs.expected("schedule", schedule, "a list of objects");
      }
      return prefs.finish(() -> new AddTimeNodes(parentLevel, format, items, spec.path()));
    }

    private static @Nullable Item item(Prefs item, ZoneId otherwise) {
      Json lifetimeAt = item.require("lifetime", "the seconds for which a node exists");
      long lifetime = lifetimeAt == null ? 1 : item.integer("lifetime", 1, 1, LONGEST);
      long enabled = item.integer("enabled_lifetime", -1, -1, LONGEST);
      Set<String> tags = item.tags("tags");
      ZoneId zone = zone(item, otherwise);
      Json fixes = item.get("dst_fixes");
      Json cron = item.require("cron", "when the events are");
      CronSchedule schedule =
          cron == null
              ? null
              : ScheduleReader.read(
                  cron, item.at("cron"), fixes, item.at("dst_fixes"), zone, item::add);
      return schedule == null
          ? null
          : new Item(
              new EventWindow(schedule, lifetime),
              lifetime,
              enabled < 0 ? lifetime : enabled,
              tags);
    }

    private static ZoneId zone(Prefs prefs, ZoneId otherwise) {
      String name = prefs.string("time_zone", "the name of a time zone", "");
      Json value = prefs.object().get("time_zone");
      if (value == null || (name.isEmpty() && !(value instanceof Json.Str))) {
        return otherwise;
      }
      try {
        return ZoneId.of(name);
      } catch (DateTimeException e) {
        String hint = Suggestions.hint(name, ZoneId.getAvailableZoneIds());
        prefs.error(
            prefs.at("time_zone"),
            value.at(),
            value,
            "there is no time zone of that name",
            hint == null ? "such as \"Europe/Berlin\" or \"UTC\"" : hint);
        return otherwise;
      }
    }
  }
}
