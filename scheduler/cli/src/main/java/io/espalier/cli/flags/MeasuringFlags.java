package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.worker.resources.MeasuringOptions;
import io.espalier.worker.resources.NvidiaSmi;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags that configure how running tasks and the host are measured. */
public final class MeasuringFlags {
  @Option(
      names = "--usage-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "2000",
      description =
          "How often CPU time and memory of each live task are read; less often when this would"
              + " cost more than a two-hundredth of a core (default ${DEFAULT-VALUE}; 0: never).")
  private int usageMillis;

  @Option(
      names = "--nvidia-smi",
      paramLabel = "PATH",
      description =
          "The tool that knows the graphics cards, or off (default: nvidia-smi, if it is in PATH).")
  private @Nullable String nvidiaSmi;

  public MeasuringOptions measuring(List<String> problems) {
    if (usageMillis < 0) {
      problems.add("--usage-ms must be 0 or more");
    }
    MeasuringOptions usual = MeasuringOptions.of(System.getenv());
    NvidiaSmi cards =
        nvidiaSmi == null ? usual.cards() : new NvidiaSmi(tool(problems), NvidiaSmi.TIMEOUT);
    return new MeasuringOptions(Duration.ofMillis(usageMillis), cards);
  }

  private String tool(List<String> problems) {
    String tool = String.valueOf(nvidiaSmi);
    try {
      if (!tool.equals(NvidiaSmi.OFF) && !Files.isExecutable(Path.of(tool))) {
        problems.add("--nvidia-smi " + tool + " is no program; say off if there are no cards");
      }
    } catch (InvalidPathException e) {
      problems.add("--nvidia-smi: not a path: " + e.getReason());
    }
    return tool;
  }
}
