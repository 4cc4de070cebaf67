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
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    String name =
        text.documents().stream()
            .filter(document -> object(document).get(key) != null)
            .map(Document::name)
            .findFirst()
            .orElseGet(() -> documentFor(target, text, key));
    return document(text, name);
  }

  private static String documentFor(WritableConfigSource target, Text text, String key) {
    return key.startsWith(Config.JOB_KEY)
        ? target.documentFor(key.substring(Config.JOB_KEY.length()))
        : text.documents().get(0).name();
  }

  private static Document document(Text text, String name) {
    return text.documents().stream()
        .filter(document -> document.name().equals(name))
        .findFirst()
        .orElse(new Document(name, "{\n}\n"));
  }

  /** Returns the members as the JSON documents have them; of the same key the first. */
  static Map<String, Json> members(Text text) {
    Map<String, Json> members = new HashMap<>();
    text.documents().forEach(document -> object(document).members().forEach(members::putIfAbsent));
    return members;
  }

  /**
   * Returns the new texts of the documents that change; empty for a document that only had members
   * which are removed. Reads every document once, however many members change.
   *
   * @param members new members; empty values are removed
   */
  static SortedMap<String, Optional<byte[]>> edited(
      WritableConfigSource target, Text text, Map<String, Optional<Json>> members) {
    Map<String, Set<String>> keys = new LinkedHashMap<>();
    Map<String, String> holders = new HashMap<>();
    for (Document document : text.documents()) {
      Set<String> ofDocument = new HashSet<>(object(document).members().keySet());
      ofDocument.forEach(key -> holders.putIfAbsent(key, document.name()));
      keys.put(document.name(), ofDocument);
    }
    SortedMap<String, Map<String, Optional<Json>>> edits = new TreeMap<>();
    members.forEach(
        (key, member) -> {
          String holder = holders.get(key);
          String name = holder == null ? documentFor(target, text, key) : holder;
          edits.computeIfAbsent(name, fresh -> new LinkedHashMap<>()).put(key, member);
          Set<String> ofDocument = keys.computeIfAbsent(name, fresh -> new HashSet<>());
          if (member.isPresent()) {
            ofDocument.add(key);
          } else {
            ofDocument.remove(key);
          }
        });
    SortedMap<String, Optional<byte[]>> changed = new TreeMap<>();
    edits.forEach(
        (name, ofDocument) -> {
          boolean isGone = keys.getOrDefault(name, Set.of()).isEmpty() && keys.size() > 1;
          if (isGone) {
            keys.remove(name);
          }
          changed.put(
              name,
              isGone ? Optional.empty() : Optional.of(edited(document(text, name), ofDocument)));
        });
    return changed;
  }

  private static byte[] edited(Document document, Map<String, Optional<Json>> members) {
    String before = new String(document.bytes(), StandardCharsets.UTF_8);
    String bom = before.startsWith("\ufeff") ? "\ufeff" : "";
    String body = before.substring(bom.length());
    Map<String, Json> put = new LinkedHashMap<>();
    for (Map.Entry<String, Optional<Json>> member : members.entrySet()) {
      if (member.getValue().isPresent()) {
        put.put(member.getKey(), member.getValue().get());
      } else {
        body = JsonEdit.remove(body, member.getKey());
      }
    }
    return (bom + JsonEdit.put(body, put)).getBytes(StandardCharsets.UTF_8);
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
