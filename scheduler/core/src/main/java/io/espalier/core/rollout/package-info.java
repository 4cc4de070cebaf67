/**
 * The decisions of staged roll-outs (docs/rollout.md, docs/adr/0079-staged-rollouts.md): which
 * tasks each stage has, and whether it has passed. Nothing here knows time, stores or the
 * scheduling core.
 */
@NullMarked
package io.espalier.core.rollout;

import org.jspecify.annotations.NullMarked;
