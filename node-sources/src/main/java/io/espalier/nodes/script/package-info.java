/** The node source that runs a program. */
@NullMarked
package io.espalier.nodes.script;

import org.jspecify.annotations.NullMarked;
