/** Certificates for tests. */
@NullMarked
package io.espalier.testkit.tls;

import org.jspecify.annotations.NullMarked;
