import type { AccountFiles } from "../account/files.ts";
import { isStorageError, StorageError } from "../contracts/storage-adapter.ts";
import { HttpError } from "../http/http-error.ts";
import { readJsonBody } from "../http/request-body.ts";
import { jsonResponse } from "../http/responses.ts";
import { isMemberName } from "../http/segment.ts";
import { type Command, type CommandOutcome, commandsRequestSchema } from "../wire/commands.ts";
import type { AccountExchange } from "./endpoint.ts";
import { toHttpError } from "./errors.ts";

/**
 * `POST /home/<folder>/` with a JSON body: folder commands, in order, each one's failure leaving the following ones
 * running (4.3, CONTRACT 4.5). All of them are checked before the first runs.
 */
export async function postCommands(exchange: AccountExchange): Promise<Response> {
  const { request, path, files } = exchange;
  const body = commandsRequestSchema.safeParse(await readJsonBody(request));
  if (!body.success) throw new HttpError("malformed", "The body is not a list of commands.");
  if ((await files.kindOf(path.segments)) !== "folder") throw new StorageError("not-found");

  const outcomes: CommandOutcome[] = [];
  for (const command of body.data.commands) outcomes.push(await attempt(exchange, command));
  const hasFailed = outcomes.some(({ message }) => message !== null);
  return hasFailed ? jsonResponse(422, { errors: outcomes }) : jsonResponse(200, { results: outcomes });
}

async function attempt(exchange: AccountExchange, command: Command): Promise<CommandOutcome> {
  const { target } = command;
  try {
    if (!isMemberName(target)) throw new HttpError("malformed", "This is not a valid name.");
    await run(exchange, command);
    return { target, message: null };
  } catch (error) {
    return { target, message: toHttpError(error, exchange.report).message };
  }
}

async function run({ files, path }: AccountExchange, { command, target }: Command): Promise<void> {
  const member = [...path.segments, target];
  switch (command) {
    case "delete":
      return files.remove(member, "any");
    case "create-folder":
      return files.createFolder(member);
    case "create-folder-if-missing":
      return createIfMissing(files, member);
  }
}

async function createIfMissing(files: AccountFiles, member: readonly string[]): Promise<void> {
  try {
    await files.createFolder(member);
  } catch (error) {
    if (!isStorageError(error) || (await files.kindOf(member)) !== "folder") throw error;
  }
}
