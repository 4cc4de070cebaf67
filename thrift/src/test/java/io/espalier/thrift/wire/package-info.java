@NullMarked
package io.espalier.thrift.wire;

import org.jspecify.annotations.NullMarked;
