package io.espalier.worker.resources;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of {@code /proc} and {@code /sys} below a directory. */
record FakeHost(Path root) {
  static final long MB = 1024 * 1024;

  FakeHost put(String path, Object content) {
    try {
      Path file = root.resolve(path);
      Files.createDirectories(file.getParent());
      Files.writeString(file, content + "\n");
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Mounts version 1 controllers; the process is in {@code /slice/own} of each. */
  FakeHost version1(String... controllers) {
    StringBuilder cgroup = new StringBuilder();
    StringBuilder mounts = new StringBuilder("22 1 0:1 / / rw - ext4 /dev/a rw\n");
    int id = 30;
    for (String controller : controllers) {
      cgroup.append(id).append(':').append(controller).append(":/slice/own\n");
      mounts
          .append(id++)
          .append(" 22 0:30 / /sys/fs/cgroup/")
          .append(controller)
          .append(" rw,nosuid shared:1 - cgroup cgroup rw,")
          .append(controller)
          .append('\n');
      put("sys/fs/cgroup/" + controller + "/slice/own/cgroup.procs", "1");
    }
    return put("proc/self/cgroup", cgroup).put("proc/self/mountinfo", mounts);
  }

  /** Mounts version 2; the process is in {@code /slice/own}. */
  FakeHost version2() {
    put("sys/fs/cgroup/slice/own/cgroup.procs", "1");
    return put("proc/self/cgroup", "0::/slice/own")
        .put("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
  }

  FakeHost memoryKb(long kb) {
    return put("proc/meminfo", "MemTotal:       " + kb + " kB\nMemFree:  1 kB");
  }

  FakeHost node(int number, long kb) {
    return put(
        "sys/devices/system/node/node" + number + "/meminfo",
        "Node " + number + " MemTotal:       " + kb + " kB\nNode " + number + " MemFree: 1 kB");
  }

  HostResources read() {
    return new HostResourceReader(root, new NvidiaSmi("", NvidiaSmi.TIMEOUT)).read();
  }

  CgroupPlace place() {
    return CgroupPlace.ofSelf(root);
  }
}
