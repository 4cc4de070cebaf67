/** The contract suite of node sources. */
@NullMarked
package io.espalier.testkit.nodes;

import org.jspecify.annotations.NullMarked;
