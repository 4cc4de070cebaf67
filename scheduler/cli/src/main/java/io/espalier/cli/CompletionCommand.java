package io.espalier.cli;

import io.espalier.server.ExitCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code completion SHELL}: prints the script with which a shell completes commands, flags and
 * names of jobs.
 */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    description = "Print what lets a shell complete commands, flags and names of jobs.",
    footer = {
      "",
      "Names of jobs are asked of the scheduler that ESPALIER_SERVER or the default names.",
      "",
      "EXAMPLES",
      "  espalier completion bash > ~/.local/share/bash-completion/completions/espalier",
      "  espalier completion zsh > ~/.espalier-completion    # and in .zshrc: source that file"
    })
final class CompletionCommand implements Callable<Integer> {
  enum Shell {
    bash,
    zsh
  }

  @Parameters(paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
  private Shell shell = Shell.bash;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    CommandLine root = Objects.requireNonNull(spec.root().commandLine());
    spec.commandLine().getOut().print(script(root, shell));
    spec.commandLine().getOut().flush();
    return ExitCode.OK;
  }

  /** Returns one script for both shells: zsh can run that of bash after a setup line. */
  static String script(CommandLine root, Shell shell) {
    // What picocli says at the top about installing the script is about other programs.
    String generated =
        AutoComplete.bash("espalier", root)
            .lines()
            .dropWhile(line -> line.startsWith("#") || line.isBlank())
            .collect(Collectors.joining("\n"));
    List<String> names = new ArrayList<>();
    root.getSubcommands()
        .forEach(
            (name, command) -> {
              if (beginsWithJob(command)) {
                names.add(name);
              }
              command
                  .getSubcommands()
                  .forEach(
                      (verb, of) -> {
                        if (beginsWithJob(of)) {
                          names.add("'" + name + " " + verb + "'");
                        }
                      });
            });
    Collections.sort(names);
    return "#!/usr/bin/env bash\n"
        + "# Completion of espalier for bash and zsh, made by: espalier completion\n\n"
        + generated
        + """

        # Names of jobs come from the scheduler. They are compared and quoted, never evaluated.
        _espalier_with_jobs() {
          _complete_espalier "$@" || :
          local word=${COMP_WORDS[COMP_CWORD]} name command
          case $COMP_CWORD in
            2) command=${COMP_WORDS[1]} ;;
            3) command="${COMP_WORDS[1]} ${COMP_WORDS[2]}" ;;
            *) return 0 ;;
          esac
          case $word in -*) return 0 ;; esac
          case $command in %s) ;; *) return 0 ;; esac
          COMPREPLY=()
          while IFS= read -r name; do
            case $name in "$word"*) COMPREPLY+=("$(printf '%%q' "$name")") ;; esac
          done < <("${COMP_WORDS[0]}" jobs --names 2>/dev/null)
        }
        complete -F _espalier_with_jobs espalier ./espalier
        """
            .formatted(String.join("|", names))
        + (shell == Shell.zsh ? "# For zsh: this file is to be sourced after compinit.\n" : "");
  }

  private static boolean beginsWithJob(CommandLine command) {
    List<PositionalParamSpec> parameters = command.getCommandSpec().positionalParameters();
    return !parameters.isEmpty() && parameters.get(0).paramLabel().startsWith("JOB");
  }
}
