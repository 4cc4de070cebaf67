/** Tests of the transport. */
@NullMarked
package io.espalier.thrift.rpc;

import org.jspecify.annotations.NullMarked;
