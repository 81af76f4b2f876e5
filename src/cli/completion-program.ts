import { type Command, InvalidArgumentError } from "commander";

const completionHelp = `
Examples:
  fileferry completion bash > /etc/bash_completion.d/fileferry
  fileferry completion zsh > /usr/share/zsh/site-functions/_fileferry
  fileferry completion fish > ~/.config/fish/completions/fileferry.fish`;

/** Adds `completion` to the command. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print a script that completes this command in a shell")
    .argument("<shell>", "bash, zsh or fish", (text) => {
      if (!/^(?:bash|zsh|fish)$/.test(text)) throw new InvalidArgumentError("expected bash, zsh or fish");
      return text;
    })
    .addHelpText("after", completionHelp)
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const { writeCompletion } = await import("./commands/all-but-serve.ts");
      process.stdout.write(writeCompletion(program, shell));
    });
}
