/** Node trees: the nodes that sources deliver, and the packed tree that the scheduler traverses. */
@NullMarked
package io.espalier.core.topology;

import org.jspecify.annotations.NullMarked;
