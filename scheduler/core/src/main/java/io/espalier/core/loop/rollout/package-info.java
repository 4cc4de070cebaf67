/**
 * Carries out staged roll-outs (docs/rollout.md, docs/adr/0079-staged-rollouts.md). {@link
 * io.espalier.core.loop.rollout.RolloutTracker} is the step before each round: it determines which
 * tasks each stage has ({@code RolloutDraw}), counts how they end ({@code StagedJob}), opens the
 * next stage or halts the job, and writes that to the batch of the same instant ({@code
 * StoredRollouts}). What a stage must fulfil is decided in {@link io.espalier.core.rollout}.
 */
@NullMarked
package io.espalier.core.loop.rollout;

import org.jspecify.annotations.NullMarked;
