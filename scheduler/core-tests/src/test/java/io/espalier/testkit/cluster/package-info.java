@NullMarked
package io.espalier.testkit.cluster;

import org.jspecify.annotations.NullMarked;
