package io.espalier.server.cli.client;

/** Resources of the contract, as templates. */
final class Paths {
  static final String STOP = "/api/v1/jobs/{job}/stop";
  static final String RERUN = "/api/v1/jobs/{job}/rerun";
  static final String VALIDATE = "/api/v1/jobs/{job}/validate";
  static final String WAITING = "/api/v1/jobs/{job}/waiting";
  static final String FAILURES = "/api/v1/jobs/{job}/failures";
  static final String LEVELS = "/api/v1/jobs/{job}/levels";
  static final String LIMITS = "/api/v1/limits";
  static final String LEVEL_LIMIT = "/api/v1/limits/{level}/{resource}";
  static final String NODE_LIMIT = "/api/v1/limits/{level}/{resource}/{node}";
  static final String TREE = "/api/v1/tree";
  static final String NODE = "/api/v1/nodes/{level}/{node}";
  static final String ME = "/api/v1/me";
  static final String AUDIT = "/api/v1/audit";

  private Paths() {}
}
