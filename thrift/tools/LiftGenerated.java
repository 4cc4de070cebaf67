import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Lifts sources that thrift 0.17 made to libthrift 0.21 and later, whose functions of processors
 * also name their result: {@code java LiftGenerated.java DIRECTORY}.
 */
public final class LiftGenerated {
  private static final String BASE = "org.apache.thrift.TBase";
  private static final Pattern FUNCTION =
      Pattern.compile(
          "public static class (\\w+)<I extends (?:Async)?Iface> extends"
              + " org\\.apache\\.thrift\\.(?:Async)?ProcessFunction<I, (\\w+)_args(.*)> \\{");

  private LiftGenerated() {}

  public static void main(String[] args) throws IOException {
    List<Path> sources;
    try (Stream<Path> all = Files.walk(Path.of(args[0]))) {
      sources = all.filter(path -> path.toString().endsWith(".java")).toList();
    }
    for (Path source : sources) {
      Files.writeString(source, lift(Files.readString(source)));
    }
  }

  static String lift(String made) {
    String text =
        made.replaceAll(
                "(\\bProcessFunction<I, \\? extends\\s+org\\.apache\\.thrift\\.TBase)>",
                "$1, ? extends " + BASE + ">")
            .replaceAll(
                "(\\bAsyncProcessFunction<I, \\? extends\\s+org\\.apache\\.thrift\\.TBase, ?\\?)>",
                "$1, ? extends " + BASE + ">")
            .replace("protected boolean isOneway()", "public boolean isOneway()");
    StringBuilder lifted = new StringBuilder();
    int at = 0;
    Matcher function = FUNCTION.matcher(text);
    while (function.find()) {
      String name = function.group(2);
      boolean answers = text.contains("public static class " + name + "_result ");
      String result = answers ? name + "_result" : BASE;
      lifted.append(text, at, function.end() - 3).append(", ").append(result).append("> {");
      at = function.end();
      int made17 = text.indexOf("public " + name + "_args getEmptyArgsInstance() {", at);
      int end = text.indexOf("}", made17) + 1;
      lifted
          .append(text, at, end)
          .append("\n\n      @Override\n      public ")
          .append(result)
          .append(" getEmptyResultInstance() {\n        return ")
          .append(answers ? "new " + name + "_result()" : "null")
          .append(";\n      }");
      at = end;
    }
    return lifted.append(text.substring(at)).toString().replaceAll("[ \\t]+(?=\\n)", "");
  }
}
