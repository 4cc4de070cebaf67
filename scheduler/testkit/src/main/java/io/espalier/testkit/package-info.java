/** Fixtures, contract suites and the test clock. */
@NullMarked
package io.espalier.testkit;

import org.jspecify.annotations.NullMarked;
