import { readFile } from "node:fs/promises";
import { expect } from "vitest";

/** One account of the file, as it is written there. */
interface Written {
  readonly username: string;
  readonly password: string;
}

/** The accounts of a file whose passwords are changed, each at most once, and what is known of them. */
export interface PasswordBook {
  readonly file: string;
  /** As the file had them when it was looked at last. */
  written: readonly Written[];
  /** The changes that were asked for since, by the account's name, and whether each was acknowledged. */
  readonly asked: Map<string, boolean>;
  /** The accounts whose passwords have not been changed. */
  readonly fresh: string[];
}

/**
 * What the accounts file of an environment begins with: the one account that works on files, and those that change
 * their passwords.
 */
export function toAccounts(count: number): readonly object[] {
  const members = Array.from({ length: count }, (_, index) => {
    const username = `member-${index}`;
    return { username, password: firstPassword(username), home_folder_path: "/" };
  });
  return [{ username: "alice", password: "secret", home_folder_path: "/" }, ...members];
}

/** The book of a file that was written by {@link toAccounts}. */
export async function openBook(file: string): Promise<PasswordBook> {
  const written = await readWritten(file);
  const fresh = written.map(({ username }) => username).filter((name) => name !== "alice");
  return { file, written, asked: new Map(), fresh };
}

/** Logs in as an account that has not changed its password yet, and changes it; whether all was answered. */
export async function changePassword(book: PasswordBook, origin: string): Promise<boolean> {
  const username = book.fresh.pop();
  if (username === undefined) throw new Error("There are too few accounts.");
  try {
    const [status, body] = await post(`${origin}__svc__/login`, { username, password: firstPassword(username) });
    expect(status, body).toBe(200);
    const [{ session }] = JSON.parse(body).results;
    book.asked.set(username, false);
    const update = { current_password: firstPassword(username), new_password: nextPassword(username) };
    const [changed, text] = await post(`${origin}home/__svc__/password-update`, update, `session ${session}`);
    expect(changed, text).toBe(200);
    book.asked.set(username, true);
    return true;
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) return false;
    throw error;
  }
}

/**
 * Looks at the file before anything else is started: it parses, and only what was asked for may be otherwise. Names
 * those that have changed.
 */
export async function checkFile(book: PasswordBook, what: string): Promise<readonly string[]> {
  const text = await readFile(book.file, "utf8");
  const written = await readWritten(book.file).catch(() => []);
  expect(
    written.map(({ username }) => username),
    `the accounts file parses, ${what}:\n${text.slice(0, 300)}`,
  ).toEqual(book.written.map(({ username }) => username));
  const changed: string[] = [];
  for (const [index, account] of written.entries()) {
    const former = book.written[index];
    const isAsked = book.asked.get(account.username);
    if (isAsked === undefined || account.password === former?.password) {
      expect(account, `${account.username} is as it was, ${what}`).toEqual(former);
      expect(isAsked, `${account.username} has the password that was acknowledged, ${what}`).not.toBe(true);
      continue;
    }
    expect(account.password, what).toMatch(/^\$scrypt\$/);
    expect({ ...account, password: "" }, what).toEqual({ ...former, password: "" });
    changed.push(account.username);
  }
  book.written = written;
  book.asked.clear();
  return changed;
}

/** Those whose entries have changed log in by the new password, and not by the first one. */
export async function checkLogins(origin: string, changed: readonly string[], what: string): Promise<void> {
  for (const username of changed) {
    const next = { username, password: nextPassword(username) };
    expect((await post(`${origin}__svc__/login`, next))[0], `${username} logs in, ${what}`).toBe(200);
  }
}

async function readWritten(file: string): Promise<readonly Written[]> {
  return JSON.parse(await readFile(file, "utf8")).accounts;
}

function firstPassword(username: string): string {
  return `the first password of ${username}`;
}

function nextPassword(username: string): string {
  return `the next password of ${username}`;
}

async function post(url: string, body: object, authorization?: string): Promise<readonly [number, string]> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      Accept: "application/json",
      "Content-Type": "application/json",
      ...(authorization !== undefined && { Authorization: authorization }),
    },
    body: JSON.stringify(body),
  });
  // A status that has arrived counts, even if the rest of the answer is cut off.
  return [response.status, await response.text().catch(() => "")];
}
