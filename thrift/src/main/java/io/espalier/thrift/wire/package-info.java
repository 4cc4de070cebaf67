/** Converts between the records of the core and the structures of the IDL. */
@NullMarked
package io.espalier.thrift.wire;

import org.jspecify.annotations.NullMarked;
