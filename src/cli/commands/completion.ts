import type { Command } from "commander";

/** A command with the words that may follow it: its subcommands and flags. */
interface Completed {
  /** The words from the name of the program to the command, such as `fileferry trash list`. */
  readonly words: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly { readonly name: string; readonly description: string; readonly hasValue: boolean }[];
}

/** How bashcompinit completes a word by a function of bash. */
const ZSH_COMPLETION = "_bash_complete -o default -F _fileferry";

type Shell = "bash" | "zsh" | "fish";

/** Writes a script that completes subcommands, flags, and else the names of files. */
export function writeCompletion(program: Command, shell: Shell): string {
  const completed = listCommands(program, program.name());
  return shell === "fish" ? toFish(completed) : toBash(completed, shell);
}

function listCommands(command: Command, words: string): readonly Completed[] {
  const commands = command.commands.map((one) => ({ name: one.name(), description: one.description() }));
  const flags = command.options.flatMap(({ long, description, required, optional }) =>
    typeof long === "string" ? [{ name: long, description, hasValue: required || optional }] : [],
  );
  const own = { words, commands, flags: [...flags, { name: "--help", description: "show help", hasValue: false }] };
  return [own, ...command.commands.flatMap((one) => listCommands(one, `${words} ${one.name()}`))];
}

/** A function for bash, which zsh runs as well. It looks for the longest command that the line begins with. */
function toBash(completed: readonly Completed[], shell: Shell): string {
  const cases = completed.map(({ words, commands, flags }) => {
    const offered = [...commands, ...flags].map(({ name }) => name).join(" ");
    return `    "${words}") offered="${offered}" ;;`;
  });
  const valued = [...new Set(completed.flatMap(({ flags }) => flags.filter((flag) => flag.hasValue)).map(toName))];
  const start = shell === "zsh" ? "#compdef fileferry\nautoload -U +X bashcompinit && bashcompinit\n" : "";
  // zsh reads the file at the first completion, and expects that it completes.
  const end = shell === "zsh" ? `if [ "\${funcstack[1]}" = _fileferry ]; then ${ZSH_COMPLETION}; fi\n` : "";
  return `${start}_fileferry() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" offered="" line="fileferry" index=1
  while [ "$index" -lt "$COMP_CWORD" ]; do
    case "\${COMP_WORDS[$index]}" in -*) break ;; *) line="$line \${COMP_WORDS[$index]}" ;; esac
    index=$((index + 1))
  done
  COMPREPLY=()
  case "$previous" in ${valued.join("|")}) return ;; esac
  while [ -n "$line" ]; do
    case "$line" in
${cases.join("\n")}
    esac
    if [ -n "$offered" ]; then break; fi
    case "$line" in *" "*) line="\${line% *}" ;; *) line="" ;; esac
  done
  while IFS= read -r index; do COMPREPLY+=("$index"); done < <(compgen -W "$offered" -- "$current")
}
complete -o default -F _fileferry fileferry
${end}`;
}

function toFish(completed: readonly Completed[]): string {
  const lines = completed.flatMap(({ words, commands, flags }) => {
    const [, ...path] = words.split(" ");
    const after = path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ") || "__fish_use_subcommand";
    const only = commands.length > 0 && path.length > 0 ? noneOf(commands.map(toName)) : "";
    const offer = (rest: string, description: string): string =>
      `complete -c fileferry -n '${after}${only}' ${rest} -d '${description.replaceAll("'", "\\'")}'`;
    return [
      ...commands.map(({ name, description }) => offer(`-f -a ${name}`, description)),
      ...flags.map(({ name, description, hasValue }) =>
        offer(`-l ${name.slice(2)}${hasValue ? " -r" : ""}`, description),
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
}

function noneOf(names: readonly string[]): string {
  return `; and not __fish_seen_subcommand_from ${names.join(" ")}`;
}

function toName({ name }: { readonly name: string }): string {
  return name;
}
