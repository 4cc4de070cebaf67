/** Real database servers for tests, from files on the class path. */
@NullMarked
package io.espalier.testkit.database;

import org.jspecify.annotations.NullMarked;
