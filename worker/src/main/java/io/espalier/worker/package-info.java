/** Runs task processes and keeps their output. */
@NullMarked
package io.espalier.worker;

import org.jspecify.annotations.NullMarked;
