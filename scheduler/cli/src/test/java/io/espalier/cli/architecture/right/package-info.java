/** One half of a cycle of packages. */
@NullMarked
package io.espalier.cli.architecture.right;

import org.jspecify.annotations.NullMarked;
