import { RESERVED_NAME } from "../../account/path.ts";
import { editAccountsFile, type OnUnknownMembers, readStoredEntries } from "../../auth/accounts/edit-file-node.ts";
import {
  describeUnknown,
  type EditAccounts,
  isSystemError,
  type StoredEntry,
  withMember,
  withoutUnknown,
} from "../../auth/accounts/file-content-node.ts";
import { withTotp } from "../../auth/accounts/file-totp-node.ts";
import { createTotp } from "../../auth/second-factor/create-totp.ts";
import { createFailure, describeSystemError } from "../failure.ts";
import { escapeText, type Output } from "../log/terminal.ts";
import type { Input } from "../password-input.ts";
import { toTerminalQrCode } from "../terminal-qr-code.ts";
import { hashPassword } from "./hash-password.ts";

/** The arguments and flags of the commands `fileferry account`. */
export interface AccountFlags {
  readonly verb: "add" | "list" | "set-password" | "set-totp" | "remove-totp" | "disable" | "enable" | "remove";
  readonly name: string;
  readonly file: string;
  readonly home?: string;
  readonly group?: string;
  readonly email?: string;
  readonly permission?: readonly string[];
  readonly issuer?: string;
  readonly json?: true;
}

/** Where the command reads and prints, such as `process`. */
interface AccountStreams {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
}

/**
 * Runs a command on an accounts file. Rejects with a failure: of status 1 if the file cannot be read or written, or has
 * or lacks the account; of status 2 if a flag, the password or the file is not valid.
 */
export async function runAccountCommand(flags: AccountFlags, streams: AccountStreams): Promise<void> {
  try {
    if (flags.verb === "list") await list(flags, streams);
    else if (flags.verb === "set-totp") await setTotp(flags, streams);
    else await change(flags, streams);
  } catch (error) {
    throw toAccountFailure(flags.file, error);
  }
}

/** The failure of a command for what reading or changing an accounts file has thrown; other errors as they are. */
export function toAccountFailure(file: string, error: unknown): unknown {
  const path = escapeText(file);
  if (error instanceof TypeError) return createFailure(2, [`error: ${path}: ${error.message}`]);
  return isSystemError(error) ? createFailure(1, [`error: ${path}: ${describeSystemError(error)}`]) : error;
}

/** Warns of members that the service does not know. */
export function warnOfUnknown(file: string, stderr: Output): OnUnknownMembers {
  return (places) => {
    const problem = `${escapeText(file)}: ${escapeText(describeUnknown(places))}`;
    stderr.write(`warning: ${problem}. The service reads no change of this file until it is removed.\n`);
  };
}

async function list({ file, json }: AccountFlags, { stdout, stderr }: AccountStreams): Promise<void> {
  const accounts = await readStoredEntries(file, warnOfUnknown(file, stderr));
  // A member that is not known may be a secret.
  for (const { password: _, keys: _keys, totp, ...members } of accounts.map(withoutUnknown)) {
    const account = { ...members, ...(totp !== undefined && { totp: true }) };
    stdout.write(json ? `${JSON.stringify(account)}\n` : toLine(account));
  }
}

function toLine({
  username,
  group,
  home_folder_path: home,
  totp,
  disabled,
}: Readonly<Record<string, unknown>>): string {
  const marks = [group && `group ${group}`, home && `home ${home}`, totp && "totp", disabled === true && "disabled"];
  return `${[username, ...marks.filter(Boolean)].map((text) => escapeText(String(text))).join("  ")}\n`;
}

async function change(flags: AccountFlags, streams: AccountStreams): Promise<void> {
  const { verb, name, file } = flags;
  const edit = await toEdit(flags, streams);
  const onUnknownMembers = warnOfUnknown(file, streams.stderr);
  const { isNew } = await editAccountsFile(file, edit, { canCreate: verb === "add", onUnknownMembers });
  // Shows a mistyped name of the file.
  const note = isNew ? `, in the new file ${escapeText(file)}` : "";
  streams.stdout.write(`${verb}: ${escapeText(name)}${note}\n`);
}

/** Prints the secrets only when the file has them. */
async function setTotp({ name, file, issuer }: AccountFlags, { stdout, stderr }: AccountStreams): Promise<void> {
  const { totp, url, recoveryCodes } = createTotp({ username: name, ...(issuer !== undefined && { issuer }) });
  const edit: EditAccounts = (accounts) => toReplaced(accounts, name, (account) => withTotp(account, totp));
  await editAccountsFile(file, edit, { onUnknownMembers: warnOfUnknown(file, stderr) });
  const lines = [
    `set-totp: ${escapeText(name)}`,
    url,
    await toTerminalQrCode(url, stdout),
    "Recovery codes, each of which works once:",
    ...recoveryCodes,
  ];
  stdout.write(`${lines.join("\n")}\n`);
}

/** Asks for a password if the change needs one, but not for an account that is there, or is not. */
async function toEdit(flags: AccountFlags, { stdin, stderr }: AccountStreams): Promise<EditAccounts> {
  const { verb, name, file } = flags;
  switch (verb) {
    case "add": {
      checkHome(flags);
      requireFree(await readStoredEntries(file).catch(toNoEntries), name);
      const account = toAccount(flags, await hashPassword(stdin, stderr));
      return (accounts) => [...requireFree(accounts, name), account];
    }
    case "set-password": {
      toReplaced(await readStoredEntries(file), name, (account) => account);
      const password = await hashPassword(stdin, stderr);
      return (accounts) => toReplaced(accounts, name, (account) => ({ ...account, password }));
    }
    case "remove-totp":
      return (accounts) => toReplaced(accounts, name, (account) => withTotp(account, undefined));
    case "disable":
      return (accounts) => toReplaced(accounts, name, (account) => ({ ...account, disabled: true }));
    case "enable":
      return (accounts) => toReplaced(accounts, name, (account) => withMember(account, "disabled", undefined));
    default:
      return (accounts) => toReplaced(accounts, name, () => undefined);
  }
}

function toNoEntries(error: unknown): readonly StoredEntry[] {
  if (isSystemError(error) && error.code === "ENOENT") return [];
  throw error;
}

function toAccount({ name, home, group, email, permission }: AccountFlags, password: string): StoredEntry {
  return {
    username: name,
    password,
    ...(group !== undefined && { group }),
    ...(home !== undefined && { home_folder_path: home }),
    ...(email !== undefined && { email }),
    ...(permission !== undefined && { permissions: [permission] }),
  };
}

/** The folder of this name is for what the wrappers of a storage keep: it makes no usable home. */
function checkHome({ name, home, group }: AccountFlags): void {
  const [first] = home?.split("/").filter((segment) => segment !== "") ?? [];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration spells it this way.
  const isReserved = first?.replaceAll("${USER}", name) === RESERVED_NAME;
  if (isReserved) throw createFailure(2, [`error: --home: ${RESERVED_NAME} is reserved`]);
  if (name !== RESERVED_NAME || home !== undefined || group !== undefined) return;
  throw createFailure(2, [`error: an account named ${RESERVED_NAME} needs --home`]);
}

function requireFree(accounts: readonly StoredEntry[], name: string): readonly StoredEntry[] {
  const isTaken = accounts.some(({ username }) => username === name);
  if (isTaken) throw createFailure(1, [`error: there is an account ${escapeText(name)} already`]);
  return accounts;
}

/** Replaces an account by the result of `step`; by nothing if that is `undefined`. */
function toReplaced(
  accounts: readonly StoredEntry[],
  name: string,
  step: (account: StoredEntry) => StoredEntry | undefined,
): readonly StoredEntry[] {
  if (!accounts.some(({ username }) => username === name)) {
    throw createFailure(1, [`error: there is no account ${escapeText(name)}`]);
  }
  return accounts.flatMap((account) => (account.username === name ? (step(account) ?? []) : account));
}
