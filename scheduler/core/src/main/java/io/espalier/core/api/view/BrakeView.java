package io.espalier.core.api.view;

import io.espalier.core.status.store.Brake;

/**
 * A brake as monitors see it.
 *
 * @param millionths what is left of each limit now; {@link Brake#ONE}: it is over
 * @param durable whether it survives a crash already
 */
public record BrakeView(Brake brake, int millionths, boolean durable) {}
