/** The worker protocol on the wire. */
@NullMarked
package io.espalier.thrift;

import org.jspecify.annotations.NullMarked;
