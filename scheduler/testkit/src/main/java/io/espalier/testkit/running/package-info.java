/** Contract suites and stand-ins for task runners and log stores. */
@NullMarked
package io.espalier.testkit.running;

import org.jspecify.annotations.NullMarked;
