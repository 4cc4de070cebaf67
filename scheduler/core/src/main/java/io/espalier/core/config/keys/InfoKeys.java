package io.espalier.core.config.keys;

import io.espalier.core.config.label.JobInfo;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys by which a job tells people about itself; jobs do not inherit them. */
public final class InfoKeys {
  private static final int LONGEST_DESCRIPTION = 2_000;
  private static final int LONGEST_URL = 2_000;
  private static final int MOST_LABELS = 64;
  private static final int MOST_LINKS = 20;
  private static final String LABEL_NAME = "[A-Za-z][A-Za-z0-9_./-]{0,62}";
  private static final String SHORT_TEXT = "[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}";

  /** Without a user before the host: pages show links to everybody. */
  private static final Pattern URL =
      Pattern.compile(
          "(?i:https?)://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?"
              + "([/?#][A-Za-z0-9._~%!$&'()*+,;=:@/?#\\[\\]-]*)?");

  private InfoKeys() {}

  /** The part of a job that is for people. */
  public static final Info INFO = new Info();

  /** See {@link #INFO}. */
  public static final class Info extends Section<JobInfo> {
    private final Key<JobInfo, String> description =
        own(
            "description",
            ValueType.text()
                .checked(
                    text -> text.length() <= LONGEST_DESCRIPTION && !hasOddControls(text),
                    "a description has at most "
                        + LONGEST_DESCRIPTION
                        + " characters and no control characters but newlines and tabs")
                .inSchema(
                    "{'type': ['string', 'number'], 'maxLength': " + LONGEST_DESCRIPTION + "}"),
            JobInfo::description,
            "What the job is for, for people.");
    private final Key<JobInfo, SortedMap<String, String>> labels =
        own(
            "labels",
            texts(
                ValueType.text(
                    Pattern.compile(SHORT_TEXT),
                    "the value of a label must have 1 to 200 characters and no control"
                        + " characters"),
                LABEL_NAME,
                "the name of a label must have 1 to 63 letters (a-z, A-Z), digits, and"
                    + " \"_./-\", and start with a letter",
                MOST_LABELS),
            JobInfo::labels,
            "`{NAME: value}`, [by which people find the"
                + " job](configuration-yaml.md#description-labels-and-links):"
                + " `espalier jobs --label NAME=value`.");
    private final Key<JobInfo, SortedMap<String, String>> links =
        own(
            "links",
            texts(
                ValueType.text()
                    .checked(
                        url -> url.length() <= LONGEST_URL && URL.matcher(url).matches(),
                        "expected an http or https URL without a user, of at most "
                            + LONGEST_URL
                            + " characters",
                        "such as \"https://wiki.example/run-book\"")
                    .inSchema(
                        "{'type': 'string', 'pattern': '^[Hh][Tt][Tt][Pp][Ss]?://',"
                            + " 'maxLength': "
                            + LONGEST_URL
                            + "}"),
                SHORT_TEXT,
                "the name of a link must have 1 to 200 characters and no control characters",
                MOST_LINKS),
            JobInfo::links,
            "`{NAME: URL}`, such as its run book and its dashboard; the job's page links to"
                + " them.");

    @Override
    public JobInfo read(ConfigObject in, JobInfo base) {
      return new JobInfo(in.get(description, base), in.get(labels, base), in.get(links, base));
    }

    private Info() {
      super("info", "What a job tells people about itself.", JobInfo.NONE);
    }
  }

  private static boolean hasOddControls(String text) {
    return text.chars().anyMatch(c -> Character.isISOControl(c) && c != '\n' && c != '\t');
  }

  /** Texts by names, which a pattern matches. */
  private static ValueType<SortedMap<String, String>> texts(
      ValueType<String> text, String name, String message, int most) {
    return ValueType.of(
        value -> read(value, text, name, message, most),
        InfoKeys::write,
        "object",
        ValueType.membersSchema(text.schema())
            .replaceFirst(
                ",",
                Matcher.quoteReplacement(
                    ", 'maxProperties': "
                        + most
                        + ", 'propertyNames': {'pattern': '^("
                        + name
                        + "$|_|//)'},")));
  }

  private static @Nullable SortedMap<String, String> read(
      ConfigValue value, ValueType<String> text, String name, String message, int most) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > most) {
      value.error("expected at most " + most + " of them, found " + members.size(), null);
      return null;
    }
    SortedMap<String, String> texts = new TreeMap<>();
    members.forEach(
        (key, member) -> {
          if (!key.matches(name)) {
            member.error(message, null);
          }
          String each = text.reader().read(member, "");
          if (each != null) {
            texts.put(key, each);
          }
        });
    return Collections.unmodifiableSortedMap(texts);
  }

  private static Json write(Map<String, String> texts) {
    Json.Builder out = Json.object();
    texts.forEach(out::put);
    return out.build();
  }
}
