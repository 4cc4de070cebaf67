package io.espalier.server.config;

import io.espalier.core.config.Config;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.json.Json;
import io.espalier.json.JsonEdit;
import io.espalier.json.JsonReader;
import io.espalier.server.config.yaml.YamlText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Edits of top-level members in the documents of a configuration. Everything else in a document
 * stays as it is, to the character.
 */
final class ConfigEdits {

  private ConfigEdits() {}

  /** Returns the document that contains a member, or will; a new one is an empty object. */
  static Document holding(WritableConfigSource target, Text text, String key) {
    return holding(target, text.documents(), key);
  }

  private static Document holding(
      WritableConfigSource target, List<Document> documents, String key) {
    Optional<Document> holding =
        documents.stream().filter(document -> object(document).get(key) != null).findFirst();
    if (holding.isPresent()) {
      return holding.get();
    }
    if (!key.startsWith(Config.JOB_KEY)) {
      return documents.get(0);
    }
    String fallback = target.documentFor(key.substring(Config.JOB_KEY.length()));
    return documents.stream()
        .filter(document -> document.name().equals(fallback))
        .findFirst()
        .orElse(new Document(fallback, "{\n}\n"));
  }

  /**
   * Returns the new texts of the documents that change; empty for a document that only had members
   * which are removed.
   *
   * @param members new members; empty values are removed
   */
  static SortedMap<String, Optional<byte[]>> edited(
      WritableConfigSource target, Text text, Map<String, Optional<Json>> members) {
    Map<String, Document> now = new LinkedHashMap<>();
    text.documents().forEach(document -> now.put(document.name(), document));
    SortedMap<String, Optional<byte[]>> changed = new TreeMap<>();
    members.forEach(
        (key, member) -> {
          Document document = holding(target, List.copyOf(now.values()), key);
          boolean alone = object(document).members().size() == 1 && now.size() > 1;
          if (member.isEmpty() && alone) {
            now.remove(document.name());
            changed.put(document.name(), Optional.empty());
          } else {
            Document next = edited(document, key, member);
            now.put(next.name(), next);
            changed.put(next.name(), Optional.of(next.bytes()));
          }
        });
    return changed;
  }

  private static Document edited(Document document, String key, Optional<Json> member) {
    String before = new String(document.bytes(), StandardCharsets.UTF_8);
    String bom = before.startsWith("\ufeff") ? "\ufeff" : "";
    String body = before.substring(bom.length());
    String after =
        member.isPresent() ? JsonEdit.put(body, key, member.get()) : JsonEdit.remove(body, key);
    return new Document(document.name(), bom + after);
  }

  /** Returns a text with these new documents, to be checked. */
  static Text with(Text text, SortedMap<String, Optional<byte[]>> changed) {
    Map<String, Document> documents = new LinkedHashMap<>();
    text.documents().forEach(document -> documents.put(document.name(), document));
    changed.forEach(
        (name, bytes) -> {
          if (bytes.isPresent()) {
            documents.put(name, new Document(name, bytes.get()));
          } else {
            documents.remove(name);
          }
        });
    return new Text(new ArrayList<>(documents.values()), "", List.of(), text.referred());
  }

  /** Returns the members of a JSON document; none of what is no object, or YAML. */
  static Json.Obj object(Document document) {
    return !YamlText.isYaml(document)
            && JsonReader.config().read(document.bytes()).value() instanceof Json.Obj object
        ? object
        : Json.Obj.EMPTY;
  }
}
