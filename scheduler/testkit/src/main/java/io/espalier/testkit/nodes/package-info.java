/** What every node source must do, as a suite to extend. */
@NullMarked
package io.espalier.testkit.nodes;

import org.jspecify.annotations.NullMarked;
