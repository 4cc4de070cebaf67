/** Finds the part of the tree in which failures concentrate. */
@NullMarked
package io.espalier.core.fault;

import org.jspecify.annotations.NullMarked;
