/** What queries of a scheduler return, and what it publishes. Immutable. */
@NullMarked
package io.espalier.core.api.view;

import org.jspecify.annotations.NullMarked;
