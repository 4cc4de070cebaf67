import java.io.File;
import java.lang.reflect.Method;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/**
 * Writes a manual page for each command, as AsciiDoc, into the directory that it is given.
 * .ci/release runs it as a script, with the distribution and picocli-codegen on the class path.
 */
class ManPages {
  public static void main(String[] directory) throws Exception {
    // The command line is not public: plug-ins have no business with it.
    Method line =
        Class.forName("io.espalier.cli.EspalierCommand").getDeclaredMethod("line", Map.class);
    line.setAccessible(true);
    CommandSpec all = ((CommandLine) line.invoke(null, Map.of())).getCommandSpec();
    describeInOneLine(all);
    System.exit(
        ManPageGenerator.generateManPage(new File(directory[0]), null, new boolean[0], true, all));
  }

  /** The first line of a description becomes the one that `whatis` shows. */
  private static void describeInOneLine(CommandSpec command) {
    command.usageMessage().description(String.join(" ", command.usageMessage().description()));
    command.subcommands().values().forEach(each -> describeInOneLine(each.getCommandSpec()));
  }
}
