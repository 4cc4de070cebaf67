/** The flags that commands share; each group checks its values and reports every problem. */
@NullMarked
package io.espalier.cli.flags;

import org.jspecify.annotations.NullMarked;
