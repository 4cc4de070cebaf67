package io.espalier.core.loop;

import io.espalier.core.loop.rollout.RolloutTracker;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.scheduling.SchedulingCore;

/** The parts of the loop that both commands of operators and ends of tasks change. */
record SharedParts(
    SchedulingCore core,
    LiveTasks live,
    LoopPorts ports,
    LoopEvents events,
    JobStateTracker jobStates,
    RolloutTracker rollouts,
    ViewPublisher views,
    Committer committer) {}
