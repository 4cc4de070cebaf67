package io.espalier.core.config.keys;

import io.espalier.core.config.NodeWindowRule;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.window.Freeze;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.config.window.Window;
import io.espalier.core.config.window.WindowSyntaxException;
import io.espalier.core.json.Json;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** {@code windows} and {@code freezes} of the settings, a queue or a job. */
final class WindowKeys {
  private static final int MOST = 100;
  private static final LocalDate SOME_DAY = LocalDate.EPOCH;

  /** An entry of {@code freezes}. */
  static final Section<Freeze> FREEZE =
      new Section<>(
          "freezes",
          "Days on which no task starts.",
          new Freeze(SOME_DAY, SOME_DAY, Optional.empty(), "")) {
        private final Key<Freeze, LocalDate> from =
            key("from", day(), Freeze::from, "The first day, as `2026-12-18`.")
                .own()
                .required("the first day, such as \"2026-12-18\"");
        private final Key<Freeze, LocalDate> to =
            key("to", day(), Freeze::to, "The last day; nothing starts on it.")
                .own()
                .required("the last day, such as \"2027-01-04\"");
        private final Key<Freeze, Optional<ZoneId>> zone =
            own(
                "zone",
                ValueType.optional(zoneName(), ZoneOffset.UTC),
                Freeze::zone,
                "The time zone of the days, as `Europe/Berlin`. It may be missing where the"
                    + " `windows` beside it name one zone.");
        private final Key<Freeze, String> reason =
            own(
                "reason",
                ValueType.plainText("the reason must not hold control characters"),
                Freeze::reason,
                "Why; people are told.");

        @Override
        public @Nullable Freeze read(ConfigObject in, Freeze base) {
          LocalDate first = in.read(from, base);
          LocalDate last = in.read(to, base);
          Freeze freeze =
              new Freeze(
                  first == null ? SOME_DAY : first,
                  last == null ? SOME_DAY : last,
                  in.get(zone, base),
                  in.get(reason, base));
          if (first == null || last == null) {
            return null;
          }
          ConfigValue end = in.find(to);
          if (end != null && last.isBefore(first)) {
            end.error("the freeze ends before it begins", "swap \"from\" and \"to\"");
            return null;
          }
          return freeze;
        }
      };

  /** An entry of {@code node_windows}. */
  static final Section<NodeWindowRule> NODE_WINDOWS =
      new Section<>(
          "node_windows",
          "When tasks may start on and below some nodes.",
          new NodeWindowRule(0, "", "", Schedule.ALWAYS)) {
        private final Key<NodeWindowRule, Integer> level =
            key("level", ValueType.level(), NodeWindowRule::level, "The level of the nodes.")
                .own()
                .required("the level of the nodes that are meant");
        private final Key<NodeWindowRule, String> tag =
            own(
                "tag",
                ValueType.plainText("a tag must not hold control characters"),
                NodeWindowRule::tag,
                "Only nodes that have this tag; without it all nodes of the level.");
        private final Key<NodeWindowRule, String> attribute =
            own(
                "attribute",
                ValueType.plainText("an attribute must not hold control characters"),
                NodeWindowRule::attribute,
                "The attribute that has the windows of each node, separated by `;`, in place of"
                    + " `windows`. Nodes without it are not meant; where it is no window, nothing"
                    + " starts, and a problem says so.");
        private final Key<NodeWindowRule, List<Window>> windows =
            windowsOf(this, NodeWindowRule::schedule, "on and below the nodes");
        private final Key<NodeWindowRule, List<Freeze>> freezes =
            freezesOf(this, NodeWindowRule::schedule, "on and below the nodes");

        @Override
        public @Nullable NodeWindowRule read(ConfigObject in, NodeWindowRule base) {
          Integer of = in.read(level, base);
          String holder = in.get(attribute, base);
          Schedule schedule = WindowKeys.schedule(in, windows, freezes, base);
          ConfigValue given = in.find(windows);
          if (of != null && of == in.value().names().levels().worker()) {
            in.value().error("workers are no nodes, so they have no windows", null);
          }
          if (!holder.isEmpty() && given != null) {
            given.error("the attribute has the windows", "remove one of the two");
          }
          if (!in.has(attribute) && given == null && !in.has(freezes)) {
            in.value().error("expected \"windows\", \"freezes\" or \"attribute\"", null);
          }
          return of == null ? null : new NodeWindowRule(of, in.get(tag, base), holder, schedule);
        }
      };

  private WindowKeys() {}

  /** {@code node_windows}: the valid entries, in order. */
  static ValueType<List<NodeWindowRule>> nodeWindows() {
    return ValueType.list(NODE_WINDOWS.type(), NODE_WINDOWS.usual());
  }

  private static ValueType<LocalDate> day() {
    return ValueType.of(
        value -> {
          String text = value.text();
          try {
            return text == null ? null : LocalDate.parse(text);
          } catch (DateTimeException e) {
            value.error("expected a day such as \"2026-12-18\"", null);
            return null;
          }
        },
        day -> Json.of(day.toString()),
        "day",
        "{'type': 'string', 'pattern': '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'}");
  }

  private static ValueType<ZoneId> zoneName() {
    return ValueType.of(
        value -> {
          String name = value.text();
          try {
            return name == null ? null : Window.zone(name);
          } catch (WindowSyntaxException e) {
            value.error(e.problem(), e.hint());
            return null;
          }
        },
        zone -> Json.of(zone.getId()),
        "time zone",
        "{'type': 'string', 'minLength': 1}");
  }

  private static @Nullable Window window(ConfigValue value) {
    String text = value.text();
    try {
      return text == null ? null : Window.parse(text);
    } catch (WindowSyntaxException e) {
      value.error(e.problem(), e.hint());
      return null;
    }
  }

  /** {@code windows}: a list of texts. */
  static ValueType<List<Window>> windows() {
    return ValueType.of(
        WindowKeys::readWindows,
        windows -> Json.strings(windows.stream().map(Window::text).toList()),
        "list of [windows](windows.md)",
        "{'type': 'array', 'minItems': 1, 'maxItems': "
            + MOST
            + ", 'items': {'type': 'string', 'pattern': ' ', 'minLength': 5}}");
  }

  private static @Nullable List<Window> readWindows(ConfigValue value) {
    List<ConfigValue> items = value.items();
    if (items == null) {
      return null;
    }
    if (items.isEmpty() || items.size() > MOST) {
      value.error(
          items.isEmpty()
              ? "it never opens, because the list is empty"
              : "expected at most " + MOST + " windows, found " + items.size(),
          items.isEmpty() ? "remove the key if tasks may start at all times" : null);
      return null;
    }
    List<Window> windows = new ArrayList<>();
    for (ConfigValue item : items) {
      Window window = window(item);
      if (window != null) {
        Optional<Window> other = windows.stream().filter(window::overlaps).findFirst();
        other.ifPresent(
            first -> item.warning("it overlaps with \"" + first.text() + "\"", "make them one"));
        windows.add(window);
      }
    }
    return windows;
  }

  /** {@code freezes}: a list of objects. */
  static ValueType<List<Freeze>> freezes() {
    ValueType<List<Freeze>> list = ValueType.list(FREEZE.type(), FREEZE.usual());
    return list.checked(all -> all.size() <= 10 * MOST, "expected at most 1000 freezes")
        .inSchema(list.schema().replaceFirst("\\{", "{'maxItems': " + 10 * MOST + ", "));
  }

  /** Reads both keys, and checks what concerns both. */
  static <R> Schedule schedule(
      ConfigObject in, Key<R, List<Window>> windows, Key<R, List<Freeze>> freezes, R base) {
    List<Window> open = in.get(windows, base);
    List<Freeze> frozen = in.get(freezes, base);
    ConfigValue given = in.find(freezes);
    Set<ZoneId> zones = open.stream().map(Window::zone).collect(Collectors.toSet());
    if (given != null && zones.size() != 1 && given.json() instanceof Json.Arr array) {
      for (int i = 0; i < array.items().size(); i++) {
        if (array.items().get(i) instanceof Json.Obj each && each.get("zone") == null) {
          new ConfigValue(each, given.path().index(i), given.problems(), given.names())
              .error("the time zone is missing", "add \"zone\": \"Europe/Berlin\", for example");
        }
      }
    }
    warnOfOverlaps(given, frozen);
    return new Schedule(open, frozen);
  }

  private static void warnOfOverlaps(@Nullable ConfigValue given, List<Freeze> freezes) {
    for (int i = 1; given != null && i < freezes.size(); i++) {
      Freeze freeze = freezes.get(i);
      for (Freeze other : freezes.subList(0, i)) {
        if (freeze.zone().equals(other.zone())
            && !freeze.to().isBefore(other.from())
            && !other.to().isBefore(freeze.from())) {
          given.warning(
              "the freezes from " + other.from() + " and from " + freeze.from() + " overlap",
              "make them one");
        }
      }
    }
  }

  /** The key {@code windows} of a section. */
  static <R> Key<R, List<Window>> windowsOf(
      Section<R> section, Function<R, Schedule> schedule, String whose) {
    return section.own(
        "windows",
        windows(),
        holder -> schedule.apply(holder).windows(),
        "When tasks "
            + whose
            + " may start: `[\"Mon-Fri 22:00-05:00 Europe/Berlin\", \"Sat-Sun UTC\"]`. A task"
            + " starts only where the settings, its queue and its job all have an [open"
            + " window](windows.md), or none.");
  }

  /** The key {@code freezes} of a section. */
  static <R> Key<R, List<Freeze>> freezesOf(
      Section<R> section, Function<R, Schedule> schedule, String whose) {
    return section.own(
        "freezes",
        freezes(),
        holder -> schedule.apply(holder).freezes(),
        "Days on which no task " + whose + " starts, [whatever the windows say](windows.md).");
  }
}
