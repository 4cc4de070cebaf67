@NullMarked
package io.espalier.testkit.scheduling;

import org.jspecify.annotations.NullMarked;
