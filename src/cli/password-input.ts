import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { decodeUtf8 } from "../platform/utf8.ts";
import { createFailure } from "./failure.ts";
import type { Output } from "./log/terminal.ts";

/** The input of a command, such as `process.stdin`. */
export type Input = NodeJS.ReadableStream & Partial<Pick<ReadStream, "isTTY">>;

/** The number of bytes that are read from a pipe at most. No password is that long. */
const maxLineBytes = 64 * 1024;

/**
 * Reads a password. On a terminal it prompts twice, without an echo; otherwise it reads the first line. Rejects with a
 * failure: of status 2 if the two inputs differ, of status 1 if the user cancels.
 */
export function readPassword(input: Input, prompts: Output): Promise<string> {
  return input.isTTY === true ? askTwice(input, prompts) : readLine(input);
}

/**
 * Reads two lines with Node's line editor, whose echo goes nowhere. The editor takes over the terminal before the first
 * prompt and keeps it until the end, so that early input is not echoed either.
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

/** Reads the first line without its line end, which is LF or CRLF. */
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
