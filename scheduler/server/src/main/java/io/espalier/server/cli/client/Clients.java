package io.espalier.server.cli.client;

/**
 * What the client commands get from the process they run in.
 *
 * @param opener of clients
 * @param width of the terminal that standard output is; 0: it is none, cut nothing
 */
public record Clients(Client.Opener opener, int width) {}
