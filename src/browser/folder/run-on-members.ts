import { fill } from "../format.ts";
import { type CommandResult, type Problem, runCommands } from "../requests.ts";
import { type OpenFolderPage, problemElement } from "./page.ts";

/** What a command on members has done. */
interface MembersResult {
  /** The members that it succeeded for. */
  readonly done: readonly CommandResult[];
  readonly hasFailed: boolean;
  /** The session has ended or the service does not respond. */
  readonly isLost: boolean;
}

/** Runs a command on members and shows the problems. */
export async function runOnMembers(
  page: OpenFolderPage,
  command: string,
  names: readonly string[],
  destination?: string,
): Promise<MembersResult> {
  const members = page.main.querySelector("#members");
  members?.setAttribute("aria-busy", "true");
  const { outcomes, problem } = await runCommands([], command, names, page.texts, destination);
  members?.removeAttribute("aria-busy");
  const problems = toProblems(outcomes, problem, page);
  page.showProblems(problems);
  const done = outcomes.filter(({ message }) => message === null);
  return {
    done,
    hasFailed: problems.length > 0,
    isLost: problem?.kind === "login" || problem?.kind === "network",
  };
}

/** One line per failure, for at most 20 failures. */
export function toProblems(
  outcomes: readonly CommandResult[],
  problem: Problem | undefined,
  { texts }: OpenFolderPage,
): (Node | string)[] {
  const failed = outcomes.filter(({ message }) => message !== null);
  const lines: (Node | string)[] = failed
    .slice(0, 20)
    .map(({ target, message }) => fill(texts.failed, { name: target, message: message ?? "" }));
  if (failed.length > 20) lines.push(fill(texts.more, { count: failed.length - 20 }));
  if (problem !== undefined) lines.push(problemElement(problem, texts));
  return lines;
}
