package io.espalier.cli.client;

/** Resources of the contract, as templates. */
public final class Paths {
  public static final String STOP = "/api/v1/jobs/{job}/stop";
  public static final String RERUN = "/api/v1/jobs/{job}/rerun";
  public static final String VALIDATE = "/api/v1/jobs/{job}/validate";
  public static final String WAITING = "/api/v1/jobs/{job}/waiting";
  public static final String FAILURES = "/api/v1/jobs/{job}/failures";
  public static final String LEVELS = "/api/v1/jobs/{job}/levels";
  public static final String LIMITS = "/api/v1/limits";
  public static final String LEVEL_LIMIT = "/api/v1/limits/{level}/{resource}";
  public static final String NODE_LIMIT = "/api/v1/limits/{level}/{resource}/{node}";
  public static final String TREE = "/api/v1/tree";
  public static final String NODE = "/api/v1/nodes/{level}/{node}";
  public static final String ME = "/api/v1/me";
  public static final String AUDIT = "/api/v1/audit";

  private Paths() {}
}
