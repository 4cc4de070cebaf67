/** An in-memory scheduler for tests of its clients. */
@NullMarked
package io.espalier.testkit.api;

import org.jspecify.annotations.NullMarked;
