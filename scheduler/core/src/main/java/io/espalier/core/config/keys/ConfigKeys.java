package io.espalier.core.config.keys;

import io.espalier.core.config.schema.Section;
import java.util.List;

/** All sections of a configuration: what the JSON Schema and the reference are generated from. */
public final class ConfigKeys {
  /** The sections whose keys have a table in the reference. */
  public static final List<Section<?>> SECTIONS =
      List.of(
          SettingsKeys.SETTINGS,
          NodeKeys.NODES,
          NodeKeys.NODE_SOURCE,
          NodeKeys.CHANGE_GUARD,
          ResourceKeys.RESOURCE,
          NodeLimitKeys.NODE_LIMIT,
          QueueKeys.QUEUE,
          SettingsKeys.CAPACITY,
          SetKeys.SET,
          NotifierKeys.NOTIFIER,
          NotifierKeys.WEBHOOK,
          NotifierKeys.WHEN,
          GroupKeys.GROUP,
          ProbeKeys.PROBE,
          WindowKeys.FREEZE,
          WindowKeys.NODE_WINDOWS,
          PhysicalResourceKeys.PHYSICAL_RESOURCES,
          PhysicalResourceKeys.physical("ram_mb"),
          PhysicalResourceKeys.physical("cpu_core"),
          PhysicalResourceKeys.physical("gpu_card"),
          TaskKeys.TASK_SUBPROCESS,
          TaskKeys.CGROUPS,
          TaskKeys.IONICE,
          TaskKeys.CGROUP_LIMITS,
          TaskKeys.KILL_SUBPROCESS,
          JobKeys.JOB,
          StepKeys.STEP,
          StepKeys.COMPENSATION,
          StepKeys.VERIFY,
          CallKeys.CALL,
          CallKeys.CALLBACK,
          CallKeys.THRIFT,
          CallKeys.HTTP,
          CallKeys.POLL,
          CallKeys.CANCEL,
          CallTlsKeys.TLS,
          DependencyKeys.WHOLE_JOB,
          RolloutKeys.ROLLOUT,
          RolloutKeys.FAIL_WHEN,
          BatchKeys.BATCH,
          StartRateKeys.START_RATE,
          OutcomeKeys.FAIL_JOB_WHEN,
          OutcomeKeys.SUCCEED_JOB_WHEN,
          TaskKeys.LOG_RETENTION,
          JobFilterKeys.FILTER,
          RetryKeys.RETRY);

  private ConfigKeys() {}
}
