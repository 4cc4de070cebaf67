/** A package with too many types. */
@NullMarked
package io.espalier.cli.architecture.crowd;

import org.jspecify.annotations.NullMarked;
