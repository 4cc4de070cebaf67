/** The YAML notation of configurations: translated to Bistro's notation and back. */
@NullMarked
package io.espalier.server.config.yaml;

import org.jspecify.annotations.NullMarked;
