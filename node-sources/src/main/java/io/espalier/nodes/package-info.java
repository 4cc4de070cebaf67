/** Node sources, each in a file of its own. */
@NullMarked
package io.espalier.nodes;

import org.jspecify.annotations.NullMarked;
