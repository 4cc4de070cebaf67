package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.bool;
import static io.espalier.core.config.schema.ValueType.list;
import static io.espalier.core.config.schema.ValueType.membersSchema;
import static io.espalier.core.config.schema.ValueType.oneOf;
import static io.espalier.core.config.schema.ValueType.seconds;
import static io.espalier.core.config.schema.ValueType.text;
import static io.espalier.core.config.schema.ValueType.texts;

import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.notification.NotifiedKind;
import io.espalier.core.notification.NotifierSpec;
import io.espalier.core.notification.Severity;
import io.espalier.core.notification.WebhookSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The keys of notifiers (docs/notifications.md). */
public final class NotifierKeys {
  /** The placeholder of the content of the secret's file. */
  public static final String SECRET = "secret";

  /** The placeholders of a body, besides {@link #SECRET}. */
  private static final Set<String> PLACEHOLDERS =
      new TreeSet<>(
          List.of(
              SECRET,
              "id",
              "kind",
              "severity",
              "action",
              "subject",
              "summary",
              "time",
              "count",
              "job",
              "set",
              "queue",
              "owner"));

  /** The maximum number of notifiers, because each is a label of metrics. */
  private static final int MOST_NOTIFIERS = 100;

  private static final double LONGEST_TIMEOUT_SECONDS = 300;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}");
  private static final Pattern URL =
      Pattern.compile(
          "https?://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?"
              + "([/?]([A-Za-z0-9._~%!$&'()*+,;=:@/?-]|\\{secret\\})*)?");

  private NotifierKeys() {}

  /** {@code webhook} of a notifier. */
  public static final Section<WebhookSpec> WEBHOOK =
      new Section<>(
          WebhookSpec.KIND,
          "A receiver that is told by a POST request.",
          new WebhookSpec("", "", Duration.ofSeconds(10), false, Optional.empty())) {
        private final Key<WebhookSpec, String> url =
            key(
                    "url",
                    text(URL, "expected a URL such as \"https://hooks.example/espalier\"")
                        .says("URL")
                        .inSchema("{'type': 'string', 'pattern': '^https?://'}"),
                    WebhookSpec::url,
                    "Where to send. `{secret}` stands for the content of `secret_file`, for"
                        + " receivers whose URLs are secrets.")
                .required("the URL of the receiver");
        private final Key<WebhookSpec, String> secretFile =
            key(
                    "secret_file",
                    text()
                        .checked(
                            name -> !name.isBlank() && !ValueType.hasControls(name),
                            "expected the name of a file")
                        .says("file"),
                    WebhookSpec::secretFile,
                    "A file whose content [signs](notifications.md#signature) each notification; it"
                        + " is read each time, relative to where the scheduler was started.")
                .required("a file with the secret that signs");
        private final Key<WebhookSpec, Duration> timeout =
            key(
                "timeout_sec",
                seconds(0.001, LONGEST_TIMEOUT_SECONDS),
                WebhookSpec::timeout,
                "How long one attempt may take.");
        private final Key<WebhookSpec, Boolean> allowPrivate =
            key(
                "allow_private",
                bool(),
                WebhookSpec::allowPrivate,
                "Whether the receiver may be on this host or in a private network.");
        private final Key<WebhookSpec, Optional<Json>> body =
            key(
                    "body",
                    body(),
                    WebhookSpec::body,
                    "What to send instead of the notification itself: an object whose texts may"
                        + " have [placeholders](notifications.md#bodies-for-other-receivers).")
                .writtenUnless(Optional.empty());

        @Override
        public @Nullable WebhookSpec read(ConfigObject in, WebhookSpec base) {
          String to = in.read(url, base);
          String file = in.read(secretFile, base);
          WebhookSpec webhook =
              new WebhookSpec(
                  to == null ? "" : to,
                  file == null ? "" : file,
                  in.get(timeout, base),
                  in.get(allowPrivate, base),
                  in.get(body, base));
          return to == null || file == null ? null : webhook;
        }
      };

  /** {@code when} of a notifier. */
  static final Section<NotifierSpec.Filter> WHEN =
      new Section<>(
          "when", "What a receiver is told: all conditions must hold.", NotifierSpec.Filter.ALL) {
        private final Key<NotifierSpec.Filter, Set<String>> kinds =
            key(
                "kinds",
                kinds(),
                NotifierSpec.Filter::kinds,
                "Kinds of [events](notifications.md#what-is-told); without it, all of these.");
        private final Key<NotifierSpec.Filter, Set<String>> jobs =
            names("jobs", NotifierSpec.Filter::jobs, "Names of jobs.");
        private final Key<NotifierSpec.Filter, Set<String>> sets =
            names("sets", NotifierSpec.Filter::sets, "Sets of jobs.");
        private final Key<NotifierSpec.Filter, Set<String>> queues =
            names("queues", NotifierSpec.Filter::queues, "Queues of jobs.");
        private final Key<NotifierSpec.Filter, Set<String>> owners =
            names("owners", NotifierSpec.Filter::owners, "Owners of jobs.");
        private final Key<NotifierSpec.Filter, Severity> severity =
            key(
                "severity",
                oneOf(Arrays.asList(Severity.values()), Severity::word),
                NotifierSpec.Filter::severity,
                "The least severity: `info`, `warning` or `error`. The end of a problem is"
                    + " `info`.");

        private Key<NotifierSpec.Filter, Set<String>> names(
            String name, Function<NotifierSpec.Filter, Set<String>> getter, String what) {
          return key(
              name,
              texts().as(Set::copyOf, given -> new ArrayList<>(new TreeSet<>(given))),
              getter,
              what + " What is about none of them is not told.");
        }

        @Override
        public NotifierSpec.Filter read(ConfigObject in, NotifierSpec.Filter base) {
          return new NotifierSpec.Filter(
              in.get(kinds, base),
              in.get(jobs, base),
              in.get(sets, base),
              in.get(queues, base),
              in.get(owners, base),
              in.get(severity, base));
        }
      };

  /** One notifier in {@code notifications}. */
  static final Section<NotifierSpec> NOTIFIER =
      new Section<>(
          "notifications",
          "A receiver of notifications.",
          new NotifierSpec(WebhookSpec.KIND, Json.Obj.EMPTY, NotifierSpec.Filter.ALL)) {
        private final Key<NotifierSpec, Json.Obj> webhook =
            key(
                    WebhookSpec.KIND,
                    CallKeys.normalised(WEBHOOK),
                    NotifierSpec::options,
                    "How it is called.")
                .required("how the receiver is called");
        private final Key<NotifierSpec, NotifierSpec.Filter> when =
            key("when", WHEN.type(), NotifierSpec::when, "What it is told; without it, all.");

        @Override
        public @Nullable NotifierSpec read(ConfigObject in, NotifierSpec base) {
          Json.Obj options = in.read(webhook, base);
          NotifierSpec.Filter filter = in.get(when, base);
          return options == null ? null : new NotifierSpec(WebhookSpec.KIND, options, filter);
        }
      };

  /** Returns where a notifier sends and what, in one line without secrets. */
  public static String shown(NotifierSpec notifier) {
    return notifier.kind()
        + " "
        + notifier.target()
        + " when "
        + JsonWriter.compact(WHEN.write(notifier.when()));
  }

  private static ValueType<Set<String>> kinds() {
    List<String> words = NotifiedKind.kinds().stream().map(EventKind::word).toList();
    return list(oneOf(words, word -> word), "")
        .as(
            Set::copyOf,
            given -> words.stream().filter(given::contains).collect(Collectors.toList()))
        .says("list");
  }

  private static ValueType<Optional<Json>> body() {
    return ValueType.of(
        value -> {
          Json.Obj object = value.object();
          if (object == null) {
            return null;
          }
          Set<String> unknown = new TreeSet<>();
          collect(object, unknown);
          unknown.removeAll(PLACEHOLDERS);
          if (unknown.isEmpty()) {
            return Optional.of(object);
          }
          value.error(
              "there is no placeholder {" + String.join("}, {", unknown) + "}",
              "there are {" + String.join("}, {", PLACEHOLDERS) + "}");
          return null;
        },
        body -> body.orElse(Json.Null.NULL),
        "object",
        "{'type': 'object'}");
  }

  private static void collect(Json json, Set<String> placeholders) {
    if (json instanceof Json.Str text) {
      Matcher found = CallTypes.PLACEHOLDER.matcher(text.value());
      while (found.find()) {
        placeholders.add(found.group(1));
      }
    } else if (json instanceof Json.Arr items) {
      items.items().forEach(item -> collect(item, placeholders));
    } else if (json instanceof Json.Obj object) {
      object.members().values().forEach(member -> collect(member, placeholders));
    }
  }

  /** {@code notifications}: notifiers by name. */
  static ValueType<Map<String, NotifierSpec>> notifiers() {
    return ValueType.of(
        NotifierKeys::readNotifiers,
        notifiers -> Json.Obj.EMPTY,
        "object",
        membersSchema(NOTIFIER.type().schema())
            .replaceFirst(
                ",",
                ", 'maxProperties': "
                    + MOST_NOTIFIERS
                    + ", 'propertyNames': {'pattern': '^("
                    + Matcher.quoteReplacement(NAME.pattern())
                    + "\\$|_|//)'},"));
  }

  private static @Nullable Map<String, NotifierSpec> readNotifiers(ConfigValue value) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > MOST_NOTIFIERS) {
      value.error(
          "expected at most " + MOST_NOTIFIERS + " notifiers, found " + members.size(), null);
      return null;
    }
    Map<String, NotifierSpec> notifiers = new LinkedHashMap<>();
    members.forEach(
        (name, member) -> {
          NotifierSpec notifier = NOTIFIER.read(member, NOTIFIER.usual());
          if (!NAME.matcher(name).matches()) {
            member.error(
                "the name of a notifier must have 1 to 100 letters (a-z, A-Z), digits, and"
                    + " \"_-.:\", and start with a letter, a digit or \"_\"",
                null);
          }
          if (notifier != null) {
            notifiers.put(name, notifier);
          }
        });
    return notifiers;
  }
}
