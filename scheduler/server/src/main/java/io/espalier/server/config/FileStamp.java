package io.espalier.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The metadata of a file. The change time, which no ordinary program can set, advances with every
 * change of the content, whatever the modification time is.
 */
record FileStamp(Path file, FileTime changed, Map<String, Object> all) {

  /** Returns the stamps of the files; empty where the file system has no change times. */
  static List<FileStamp> of(List<Path> files) throws IOException {
    List<FileStamp> stamps = new ArrayList<>();
    for (Path file : files) {
      if (!file.getFileSystem().supportedFileAttributeViews().contains("unix")) {
        return List.of();
      }
      Map<String, Object> all = Files.readAttributes(file, "unix:size,lastModifiedTime,ctime,ino");
      FileTime changed = (FileTime) Objects.requireNonNull(all.get("ctime"));
      stamps.add(new FileStamp(file, changed, Map.copyOf(all)));
    }
    return stamps;
  }

  boolean changedBefore(long millis) {
    return changed.toMillis() < millis;
  }
}
