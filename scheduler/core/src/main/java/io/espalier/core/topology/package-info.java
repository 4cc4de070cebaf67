/** Node trees: what node sources deliver and what the scheduler walks. */
@NullMarked
package io.espalier.core.topology;

import org.jspecify.annotations.NullMarked;
