/** Nodes. */
@NullMarked
package io.espalier.server.nodes;

import org.jspecify.annotations.NullMarked;
