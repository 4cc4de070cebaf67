package io.espalier.thrift.wire;

import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.core.config.task.ProcessAttributes.IoClass;
import io.espalier.core.config.task.ProcessAttributes.IoNice;
import io.espalier.core.config.task.ProcessAttributes.RunAs;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TaskVariables;
import io.espalier.core.logs.LogQuery;
import io.espalier.thrift.gen.WireAttributes;
import io.espalier.thrift.gen.WireCgroupLimits;
import io.espalier.thrift.gen.WireCgroups;
import io.espalier.thrift.gen.WireLogOptions;
import io.espalier.thrift.gen.WireRecipe;
import io.espalier.thrift.gen.WireSubprocess;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The part that all starts of one job have in common. */
record JobTemplate(
    List<String> command,
    StatusSource statusFrom,
    SubprocessOptions subprocess,
    KillRequest kill,
    Map<String, Integer> workerSlots,
    LogOptions logs) {

  WireRecipe toWire() {
    return new WireRecipe(
        command, statusFrom.label(), toWire(subprocess), Wire.of(kill), workerSlots, toWire(logs));
  }

  static JobTemplate of(WireRecipe wire) {
    return new JobTemplate(
        wire.getCommand() == null ? List.of() : List.copyOf(wire.getCommand()),
        WireWorks.statusFrom(wire.getStatusFrom()),
        subprocess(wire.getSubprocess()),
        Wire.kill(wire.getKill()),
        Wire.map(wire.getWorkerSlots()),
        logs(wire.getLogs()));
  }

  private static WireLogOptions toWire(LogOptions logs) {
    WireLogOptions wire = new WireLogOptions();
    logs.retentionDays().ifPresent(wire::setRetentionDays);
    logs.maxMb().ifPresent(wire::setMaxMb);
    wire.setRedact(logs.redact());
    return wire;
  }

  private static LogOptions logs(@Nullable WireLogOptions wire) {
    if (wire == null) {
      return LogOptions.DEFAULT;
    }
    List<String> redact = wire.getRedact() == null ? List.of() : wire.getRedact();
    for (String pattern : redact) {
      String complaint = LogQuery.complaintAbout(pattern);
      if (!complaint.isEmpty()) {
        throw new BadMessageException("a pattern of what to hide is none: " + complaint);
      }
    }
    if (wire.getRetentionDays() < 0 || wire.getMaxMb() < 0) {
      throw new BadMessageException(
          "logs cannot be kept for less than no time, or in less than no space");
    }
    return new LogOptions(
        optional(wire.isSetRetentionDays(), wire.getRetentionDays()),
        optional(wire.isSetMaxMb(), wire.getMaxMb()),
        redact);
  }

  private static WireSubprocess toWire(SubprocessOptions options) {
    SubprocessOptions.Cgroups cgroups = options.cgroups();
    return new WireSubprocess(
        options.pollMillis(),
        options.maxLogLinesPerPollInterval(),
        options.parentDeathSignal(),
        true, // A worker of the release before reads it, and does the same whatever it says.
        options.useCanaryPipe(),
        new WireCgroups(
            cgroups.root(), cgroups.slice(), cgroups.subsystems(), cgroups.killWithoutFreezer()),
        toWire(options.attributes()),
        options.variables().passed(),
        options.variables().set(),
        toWire(options.limits()));
  }

  private static SubprocessOptions subprocess(@Nullable WireSubprocess wire) {
    WireSubprocess options = Wire.present(wire, "process options");
    WireCgroups cgroups = Wire.present(options.getCgroups(), "cgroups");
    return new SubprocessOptions(
        options.getPollMillis(),
        options.getMaxLogLinesPerPollInterval(),
        options.getParentDeathSignal(),
        options.isUseCanaryPipe(),
        new SubprocessOptions.Cgroups(
            Wire.text(cgroups.getRoot()),
            Wire.text(cgroups.getSlice()),
            cgroups.getSubsystems() == null ? List.of() : cgroups.getSubsystems(),
            cgroups.isKillWithoutFreezer()),
        attributes(Wire.present(options.getAttributes(), "process attributes")),
        new TaskVariables(
            options.getPassedVariables() == null ? List.of() : options.getPassedVariables(),
            Wire.map(options.getSetVariables())),
        limits(Wire.present(options.getLimits(), "limits")));
  }

  private static WireAttributes toWire(ProcessAttributes attributes) {
    WireAttributes wire = new WireAttributes();
    attributes.umask().ifPresent(wire::setUmask);
    attributes.nice().ifPresent(wire::setNice);
    attributes
        .ioNice()
        .ifPresent(io -> wire.setIoClass(io.ioClass().label()).setIoLevel(io.level()));
    attributes
        .runAs()
        .ifPresent(as -> wire.setRunAsUser(as.user()).setRunAsGroup(as.group().orElse(null)));
    return wire;
  }

  private static ProcessAttributes attributes(WireAttributes wire) {
    return new ProcessAttributes(
        wire.isSetUmask() ? OptionalInt.of(wire.getUmask()) : OptionalInt.empty(),
        wire.isSetNice() ? OptionalInt.of(wire.getNice()) : OptionalInt.empty(),
        wire.isSetIoClass()
            ? Optional.of(
                new IoNice(
                    Wire.word(IoClass.values(), IoClass::label, wire.getIoClass(), "I/O class"),
                    wire.getIoLevel()))
            : Optional.empty(),
        wire.isSetRunAsUser()
            ? Optional.of(new RunAs(wire.getRunAsUser(), Optional.ofNullable(wire.getRunAsGroup())))
            : Optional.empty());
  }

  private static WireCgroupLimits toWire(CgroupLimits limits) {
    WireCgroupLimits wire = new WireCgroupLimits();
    limits.memoryMb().ifPresent(wire::setMemoryMb);
    limits.memorySwapMb().ifPresent(wire::setMemorySwapMb);
    limits.cpuWeight().ifPresent(wire::setCpuWeight);
    limits.cpuQuotaPercent().ifPresent(wire::setCpuQuotaPercent);
    limits.pidsMax().ifPresent(wire::setPidsMax);
    limits.ioWeight().ifPresent(wire::setIoWeight);
    wire.setEnforced(limits.required());
    return wire;
  }

  private static CgroupLimits limits(WireCgroupLimits wire) {
    return new CgroupLimits(
        optional(wire.isSetMemoryMb(), wire.getMemoryMb()),
        optional(wire.isSetMemorySwapMb(), wire.getMemorySwapMb()),
        optional(wire.isSetCpuWeight(), wire.getCpuWeight()),
        optional(wire.isSetCpuQuotaPercent(), wire.getCpuQuotaPercent()),
        optional(wire.isSetPidsMax(), wire.getPidsMax()),
        optional(wire.isSetIoWeight(), wire.getIoWeight()),
        wire.isEnforced());
  }

  private static OptionalLong optional(boolean set, long value) {
    return set ? OptionalLong.of(value) : OptionalLong.empty();
  }

  private static OptionalInt optional(boolean set, int value) {
    return set ? OptionalInt.of(value) : OptionalInt.empty();
  }
}
