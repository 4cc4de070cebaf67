/** The contract suite of status stores. */
@NullMarked
package io.espalier.testkit.status;

import org.jspecify.annotations.NullMarked;
