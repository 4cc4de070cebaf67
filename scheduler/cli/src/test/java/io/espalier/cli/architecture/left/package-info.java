/** One half of a cycle of packages. */
@NullMarked
package io.espalier.cli.architecture.left;

import org.jspecify.annotations.NullMarked;
