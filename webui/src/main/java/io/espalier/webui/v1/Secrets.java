package io.espalier.webui.v1;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Takes passwords out of what is shown: node sources may carry database URIs. */
final class Secrets {
  private static final String HIDDEN = "***";
  private static final Pattern SECRET_KEY =
      Pattern.compile("passw|secret|token|credential|api_?key", Pattern.CASE_INSENSITIVE);
  private static final Pattern USER_INFO = Pattern.compile("(://[^/@:\\s]*):[^/@\\s]*@");
  private static final Pattern PARAMETER =
      Pattern.compile("((?:password|secret|token)=)[^&;\\s]*", Pattern.CASE_INSENSITIVE);

  private Secrets() {}

  static Json.Obj hide(Json.Obj object) {
    Json.Builder shown = Json.object();
    object
        .members()
        .forEach(
            (key, value) ->
                shown.put(key, SECRET_KEY.matcher(key).find() ? Json.of(HIDDEN) : hideIn(value)));
    return shown.build();
  }

  private static Json hideIn(Json value) {
    if (value instanceof Json.Obj object) {
      return hide(object);
    }
    if (value instanceof Json.Arr array) {
      List<Json> items = new ArrayList<>();
      array.items().forEach(item -> items.add(hideIn(item)));
      return new Json.Arr(items);
    }
    if (value instanceof Json.Str string) {
      String text = USER_INFO.matcher(string.value()).replaceAll("$1:" + HIDDEN + "@");
      return Json.of(PARAMETER.matcher(text).replaceAll("$1" + HIDDEN));
    }
    return value;
  }
}
