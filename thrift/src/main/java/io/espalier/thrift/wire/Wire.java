package io.espalier.thrift.wire;

import io.espalier.core.config.label.Labels;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.Versions;
import io.espalier.core.protocol.WorkerDescription;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.WorkerRef;
import io.espalier.thrift.gen.WireFacts;
import io.espalier.thrift.gen.WireHostFigures;
import io.espalier.thrift.gen.WireKill;
import io.espalier.thrift.gen.WireRun;
import io.espalier.thrift.gen.WireUsage;
import io.espalier.thrift.gen.WireVersions;
import io.espalier.thrift.gen.WireWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Conversions that all messages share. Reading throws {@link BadMessageException} and nothing else.
 */
final class Wire {
  private Wire() {}

  static <A, B> List<B> each(@Nullable List<A> list, Function<A, B> conversion) {
    if (list == null) {
      return List.of();
    }
    List<B> converted = new ArrayList<>(list.size());
    for (A item : list) {
      converted.add(conversion.apply(item));
    }
    return converted;
  }

  static <T> T present(@Nullable T value, String what) {
    if (value == null) {
      throw new BadMessageException("it lacks " + what);
    }
    return value;
  }

  /** Returns null for an empty value, because empty optional fields are omitted. */
  static @Nullable String orNone(String value) {
    return value.isEmpty() ? null : value;
  }

  static String text(@Nullable String value) {
    return value == null ? "" : value;
  }

  static <K, V> Map<K, V> map(@Nullable Map<K, V> value) {
    return value == null ? Map.of() : value;
  }

  /** Returns the constant with that word. */
  static <E> E word(E[] values, Function<E, String> label, @Nullable String word, String what) {
    for (E value : values) {
      if (label.apply(value).equals(word)) {
        return value;
      }
    }
    throw new BadMessageException("unknown " + what + ": " + word);
  }

  static WireWorker of(WorkerRef worker) {
    return new WireWorker(worker.shard(), worker.instance());
  }

  static WorkerRef worker(@Nullable WireWorker wire) {
    WireWorker worker = present(wire, "a worker");
    return new WorkerRef(present(worker.getShard(), "a shard"), worker.getInstance());
  }

  static WireRun of(String job, String node, Invocation invocation) {
    return new WireRun(
        job, node, invocation.epoch(), invocation.sequence(), invocation.startMillis());
  }

  static WireRun of(RunId run) {
    return of(run.job(), run.node(), run.invocation());
  }

  static RunId run(@Nullable WireRun wire) {
    WireRun run = present(wire, "a run");
    return new RunId(
        present(run.getJob(), "a job"),
        present(run.getNode(), "a node"),
        new Invocation(run.getEpoch(), run.getSequence(), run.getStartMillis()));
  }

  static WireFacts of(WorkerDescription facts) {
    WireFacts wire =
        new WireFacts(
            facts.host(),
            facts.address(),
            facts.maxTasks(),
            facts.physical(),
            new WireVersions(facts.versions().oldest(), facts.versions().newest()),
            facts.capabilities(),
            facts.labels());
    if (facts.measured().cpu() >= 0) {
      wire.setCpuInUse(facts.measured().cpu());
    }
    if (facts.measured().memory() >= 0) {
      wire.setMemoryInUse(facts.measured().memory());
    }
    wire.setFigures(of(facts.figures()));
    return wire;
  }

  static WorkerDescription facts(@Nullable WireFacts wire) {
    WireFacts facts = present(wire, "facts");
    WireVersions versions = present(facts.getVersions(), "versions");
    if (versions.getOldest() < 1 || versions.getNewest() < versions.getOldest()) {
      throw new BadMessageException("its versions are no range");
    }
    return new WorkerDescription(
        present(facts.getHost(), "a host"),
        present(facts.getAddress(), "an address"),
        facts.getMaxTasks(),
        map(facts.getPhysical()),
        new Versions(versions.getOldest(), versions.getNewest()),
        facts.getCapabilities() == null ? Set.of() : facts.getCapabilities(),
        labels(facts.getLabels()),
        new MeasuredLoad(
            facts.isSetCpuInUse() ? facts.getCpuInUse() : -1,
            facts.isSetMemoryInUse() ? facts.getMemoryInUse() : -1),
        figures(facts.getFigures()));
  }

  private static WireHostFigures of(HostFigures figures) {
    WireHostFigures wire = new WireHostFigures();
    if (figures.load() >= 0) {
      wire.setLoadThousandths(figures.load());
    }
    if (figures.memory().isKnown()) {
      wire.setMemoryTotalBytes(figures.memory().totalBytes());
      wire.setMemoryAvailableBytes(figures.memory().freeBytes());
    }
    if (figures.disk().isKnown()) {
      wire.setDiskTotalBytes(figures.disk().totalBytes());
      wire.setDiskFreeBytes(figures.disk().freeBytes());
    }
    return wire;
  }

  private static HostFigures figures(@Nullable WireHostFigures wire) {
    return wire == null
        ? HostFigures.UNKNOWN
        : new HostFigures(
            wire.isSetLoadThousandths() ? wire.getLoadThousandths() : -1,
            new HostFigures.Space(
                wire.isSetMemoryTotalBytes() ? wire.getMemoryTotalBytes() : -1,
                wire.isSetMemoryAvailableBytes() ? wire.getMemoryAvailableBytes() : -1),
            new HostFigures.Space(
                wire.isSetDiskTotalBytes() ? wire.getDiskTotalBytes() : -1,
                wire.isSetDiskFreeBytes() ? wire.getDiskFreeBytes() : -1));
  }

  private static Map<String, String> labels(@Nullable Map<String, String> wire) {
    Map<String, String> labels = wire == null ? Map.of() : wire;
    List<String> problems = Labels.problems(labels);
    if (!problems.isEmpty()) {
      throw new BadMessageException("its labels: " + problems.get(0));
    }
    return labels;
  }

  static WireUsage of(ResourceUsage usage) {
    return new WireUsage(
        usage.cpuMillis(),
        usage.peakMemoryBytes(),
        usage.readBytes(),
        usage.writtenBytes(),
        usage.memoryBytes(),
        usage.gpus());
  }

  static ResourceUsage usage(WireUsage wire) {
    return new ResourceUsage(
        wire.getCpuMillis(),
        wire.getPeakMemoryBytes(),
        wire.getReadBytes(),
        wire.getWrittenBytes(),
        wire.getMemoryBytes(),
        wire.getGpus() == null ? List.of() : wire.getGpus());
  }

  static WireKill of(KillRequest kill) {
    return new WireKill(kill.method().label(), kill.waitMillis());
  }

  static KillRequest kill(@Nullable WireKill wire) {
    WireKill kill = present(wire, "a way to kill");
    return new KillRequest(
        word(KillRequest.Method.values(), KillRequest.Method::label, kill.getMethod(), "method"),
        kill.getWaitMillis());
  }
}
