/** A command of a transcript, with what the page shows of its output. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** The commands of a transcript: each behind `$`, with the lines that it goes on with. */
export function toSteps(transcript: string): readonly Step[] {
  return [...transcript.matchAll(/^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*(?:\n|$))*)/gm)].map(
    ([, command = "", output = ""]) => ({ command, output: output.trimEnd() }),
  );
}

/**
 * Shown output as a pattern for lines that end: `…` is anything within a line, a line of `...` any number of lines, and
 * how many milliseconds something took is another number each time.
 */
export function toPattern(output: string): RegExp {
  const lines = (output === "" ? [] : output.split("\n")).map((line) =>
    line === "..." ? ANY_LINES : `${toLinePattern(line)}\n`,
  );
  return new RegExp(`^${lines.join("")}$`);
}

const ANY_LINES = "(?:.*\\n)*";

function toLinePattern(line: string): string {
  const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return parts.join("[^\\n]+").replace(/\d+ ms\b/g, "\\d+ ms");
}
