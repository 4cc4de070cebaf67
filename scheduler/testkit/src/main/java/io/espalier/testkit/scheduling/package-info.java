/**
 * Small configurations and trees, contract suites of policies and selectors, and random runs of the
 * scheduling core against the {@link io.espalier.testkit.oracle.Oracle}.
 */
@NullMarked
package io.espalier.testkit.scheduling;

import org.jspecify.annotations.NullMarked;
