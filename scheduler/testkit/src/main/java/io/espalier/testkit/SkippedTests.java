package io.espalier.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Prints at the end of a test run what was not checked and why, so that a machine that lacks
 * something (a browser, a database server) does not skip tests silently. JUnit finds it by {@code
 * META-INF/services}.
 */
public final class SkippedTests implements TestExecutionListener {
  private final List<String> skipped = new CopyOnWriteArrayList<>();

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    skipped.add(test.getLegacyReportingName() + ": " + reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
      skipped.add(
          test.getLegacyReportingName()
              + ": "
              + result.getThrowable().map(Throwable::getMessage).orElse("no reason given"));
    }
  }

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    skipped.forEach(line -> System.err.println("NOT CHECKED: " + line));
  }
}
