package io.espalier.core.api.view;

import io.espalier.core.status.store.LimitOverride;
import org.jspecify.annotations.Nullable;

/**
 * A limit override as monitors see it.
 *
 * @param configured the overridden limit, of its node or of the whole level; null when that level
 *     has no such resource now, so that the override has no effect
 */
public record LimitView(LimitOverride override, @Nullable Integer configured) {}
