package io.espalier.core.api;

import io.espalier.core.status.LimitOverride;
import org.jspecify.annotations.Nullable;

/**
 * An override of a limit as monitors see it.
 *
 * @param configured the limit that it stands in for, of its node or of all of the level; null:
 *     there is no such resource on that level now, so that the override means nothing until there
 *     is
 */
public record LimitView(LimitOverride override, @Nullable Integer configured) {}
