package io.espalier.webui.security;

import io.espalier.core.config.Job;
import io.espalier.core.config.Settings;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Removes secrets from what is shown: node sources may have them in URIs and headers, jobs in the
 * environment of their tasks.
 */
public final class SecretMask {
  private static final String HIDDEN = "***";
  private static final String WORDS =
      "passw|passphrase|pwd|secret|token|credential|private|auth(?!or)|cookie"
          + "|(?:api|access|signing|encryption)[-_.]?key";
  private static final Pattern SECRET_KEY = Pattern.compile(WORDS, Pattern.CASE_INSENSITIVE);
  private static final Pattern USER_INFO = Pattern.compile("(://[^/@:\\s]*):[^/@\\s]*@");
  private static final Pattern PARAMETER =
      Pattern.compile("((?:" + WORDS + ")[\\w.-]{0,64}=)[^&;\\s]*", Pattern.CASE_INSENSITIVE);

  /** Objects whose values are all hidden, whatever their names. */
  private static final Set<String> HIDDEN_WHOLE = Set.of("headers", "environment");

  private SecretMask() {}

  /** Returns a job with all defaults, masked for this caller. */
  public static Json.Obj job(Job job, Settings settings, Principal caller) {
    return job(BistroJobWriter.toJson(job, settings), caller);
  }

  /** Returns a job, as it was written or with all defaults, masked for this caller. */
  public static Json.Obj job(Json.Obj job, Principal caller) {
    // A caller that may save jobs gets the job unmasked, to edit and save it.
    return caller.role().covers(Role.ADMIN) ? job : hideTexts(job);
  }

  /** Masks for all callers: values with revealing names, and passwords in texts. */
  public static Json.Obj hide(Json.Obj object) {
    return hide(object, true);
  }

  /** Masks texts only; members keep their types, because a resource may have any name. */
  public static Json.Obj hideTexts(Json.Obj object) {
    return hide(object, false);
  }

  private static Json.Obj hide(Json.Obj object, boolean byName) {
    Json.Builder shown = Json.object();
    object
        .members()
        .forEach(
            (key, value) ->
                shown.put(
                    key,
                    byName && SECRET_KEY.matcher(key).find()
                        ? Json.of(HIDDEN)
                        : HIDDEN_WHOLE.contains(key) && value instanceof Json.Obj whole
                            ? hideAll(whole)
                            : hideIn(value, byName)));
    return shown.build();
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
