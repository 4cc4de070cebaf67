/** The configuration of staged roll-outs (docs/rollout.md). */
@NullMarked
package io.espalier.core.config.rollout;

import org.jspecify.annotations.NullMarked;
