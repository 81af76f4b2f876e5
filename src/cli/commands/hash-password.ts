import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { createNodePasswordHasher } from "../../auth/passwords/hash-node.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { createFailure } from "../failure.ts";
import type { Output } from "../log/terminal.ts";

/** What the user types into. `process.stdin` is one. */
export type Input = NodeJS.ReadableStream & Partial<Pick<ReadStream, "isTTY">>;

/** No password is so long: whatever is piped in, this much of it is read at most. */
const maxLineBytes = 64 * 1024;

/**
 * Reads a password - twice and without an echo on a terminal, else the first line as it is - and gives its PHC string. Rejects
 * with a failure of status 2 when there is none, it is too long, or the two differ; of status 1 when the user breaks off.
 */
export async function hashPassword(input: Input, prompts: Output): Promise<string> {
  const password = input.isTTY === true ? await askTwice(input, prompts) : await readLine(input);
  try {
    return await createNodePasswordHasher().hash(password);
  } catch (error) {
    throw createFailure(2, [`error: ${(error as Error).message}`]);
  }
}

/**
 * The line editor of Node, its echo swallowed. It takes the terminal over before the first prompt and keeps it to the
 * end: whoever types early is not echoed either.
 */
async function askTwice(input: Input, prompts: Output): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input, output: silent, terminal: true, historySize: 0 });
  const lines = editor[Symbol.asyncIterator]();
  try {
    const password = await ask("Password: ");
    if (password !== (await ask("Repeat the password: "))) throw createFailure(2, ["error: The two passwords differ."]);
    return password;
  } finally {
    editor.close();
  }

  async function ask(prompt: string): Promise<string> {
    prompts.write(prompt);
    const { done, value } = await lines.next();
    prompts.write("\n");
    if (done === true) throw createFailure(1, ["error: No password was given."]);
    return value;
  }
}

/** The first line without its end; a carriage return before it belongs to the end. */
async function readLine(input: Input): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (chunk.includes(0x0a) || size > maxLineBytes) break;
  }
  const text = decodeUtf8(Buffer.concat(chunks));
  if (text === undefined) throw createFailure(2, ["error: The password is not valid UTF-8."]);
  const [line = ""] = text.split(/\r?\n/, 1);
  return line;
}
