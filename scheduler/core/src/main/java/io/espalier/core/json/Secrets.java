package io.espalier.core.json;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Knows what may be a secret, and hides it in what is shown: node sources may have secrets in URIs
 * and headers, jobs in the environment of their tasks and in the bodies of their calls.
 */
public final class Secrets {
  private static final String HIDDEN = "***";
  private static final String WORDS =
      "passw|passphrase|pwd|secret|token|credential|private|auth(?!or)|cookie"
          + "|(?:api|access|signing|encryption)[-_.]?key";
  private static final Pattern SECRET_KEY = Pattern.compile(WORDS, Pattern.CASE_INSENSITIVE);
  private static final Pattern USER_INFO = Pattern.compile("(://[^/@:\\s]*):[^/@\\s]*@");
  private static final Pattern PARAMETER =
      Pattern.compile("((?:" + WORDS + ")[\\w.-]{0,64}=)[^&;\\s]*", Pattern.CASE_INSENSITIVE);

  /** What a call sends: of an object, values with revealing names are hidden. */
  private static final String BODY = "body";

  /** What is hidden as a text; but for a body, objects whose values are all hidden. */
  private static final Set<String> HIDDEN_WHOLE = Set.of("headers", "environment", BODY);

  /** Objects of a job whose members are texts under any names, such as the label "environment". */
  private static final Set<String> NAMED_BY_USERS = Set.of("labels", "links");

  private Secrets() {}

  /** Returns whether a value with such a key, and all that is in it, may be a secret. */
  public static boolean isKey(String key) {
    return HIDDEN_WHOLE.contains(key) || SECRET_KEY.matcher(key).find();
  }

  /** Returns whether an object in this value has a key of a secret. */
  public static boolean areIn(Json value) {
    if (value instanceof Json.Obj object) {
      return object.members().entrySet().stream()
          .anyMatch(member -> isKey(member.getKey()) || areIn(member.getValue()));
    }
    return value instanceof Json.Arr array && array.items().stream().anyMatch(Secrets::areIn);
  }

  /** Masks for all callers: values with revealing names, and passwords in texts. */
  public static Json.Obj hide(Json.Obj object) {
    return hide(object, true);
  }

  /** Masks texts only; members keep their types, because a resource may have any name. */
  public static Json.Obj hideTexts(Json.Obj object) {
    return hide(object, false);
  }

  /** The same of any value. */
  public static Json hideTexts(Json value) {
    return hideIn(value, false);
  }

  private static Json.Obj hide(Json.Obj object, boolean byName) {
    return hide(object, byName, HIDDEN_WHOLE);
  }

  private static Json.Obj hide(Json.Obj object, boolean byName, Set<String> whole) {
    Json.Builder shown = Json.object();
    object
        .members()
        .forEach(
            (key, value) ->
                shown.put(
                    key,
                    byName && SECRET_KEY.matcher(key).find()
                        ? Json.of(HIDDEN)
                        : whole.contains(key)
                            ? hideWhole(key, value)
                            : hideMember(key, value, byName)));
    return shown.build();
  }

  private static Json hideMember(String key, Json value, boolean byName) {
    return NAMED_BY_USERS.contains(key) && value instanceof Json.Obj texts
        ? hide(texts, byName, Set.of())
        : hideIn(value, byName);
  }

  /** Of a wrong type it is in a job that is shown as it was written; a number is of a resource. */
  private static Json hideWhole(String key, Json value) {
    if (value instanceof Json.Obj object) {
      return key.equals(BODY) ? hide(object) : hideAll(object);
    }
    return value instanceof Json.Str || value instanceof Json.Arr ? Json.of(HIDDEN) : value;
  }

  private static Json.Obj hideAll(Json.Obj object) {
    Json.Builder shown = Json.object();
    object.members().keySet().forEach(key -> shown.put(key, HIDDEN));
    return shown.build();
  }

  private static Json hideIn(Json value, boolean byName) {
    if (value instanceof Json.Obj object) {
      return hide(object, byName);
    }
    if (value instanceof Json.Arr array) {
      List<Json> items = new ArrayList<>();
      array.items().forEach(item -> items.add(hideIn(item, byName)));
      return new Json.Arr(items);
    }
    if (value instanceof Json.Str string) {
      String text = USER_INFO.matcher(string.value()).replaceAll("$1:" + HIDDEN + "@");
      return Json.of(PARAMETER.matcher(text).replaceAll("$1" + HIDDEN));
    }
    return value;
  }
}
