/** One half of a cycle of packages. */
@NullMarked
package io.espalier.server.architecture.right;

import org.jspecify.annotations.NullMarked;
