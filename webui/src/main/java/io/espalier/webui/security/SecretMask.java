package io.espalier.webui.security;

import io.espalier.core.config.Job;
import io.espalier.core.config.Settings;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.json.Secrets;

/** Hides the secrets of jobs from all who may not change them. */
public final class SecretMask {
  private SecretMask() {}

  /** Returns a job with all defaults, masked for this caller. */
  public static Json.Obj job(Job job, Settings settings, Principal caller) {
    return job(BistroJobWriter.toJson(job, settings), caller);
  }

  /** Returns a job, as it was written or with all defaults, masked for this caller. */
  public static Json.Obj job(Json.Obj job, Principal caller) {
    // A caller that may save jobs gets the job unmasked, to edit and save it.
    return caller.role().covers(Role.ADMIN) ? job : Secrets.hideTexts(job);
  }
}
