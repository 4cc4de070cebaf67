/** Small configurations and trees, and the brute-force oracle of the scheduling core. */
@NullMarked
package io.espalier.testkit.scheduling;

import org.jspecify.annotations.NullMarked;
