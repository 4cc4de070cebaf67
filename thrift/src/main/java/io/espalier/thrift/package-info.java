/** The wire format and transport of the worker protocol. */
@NullMarked
package io.espalier.thrift;

import org.jspecify.annotations.NullMarked;
