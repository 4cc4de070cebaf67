/** Node sources: one file each. */
@NullMarked
package io.espalier.nodes;

import org.jspecify.annotations.NullMarked;
