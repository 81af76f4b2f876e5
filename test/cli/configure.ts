import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../support/built.ts";

/** The fields of a request by the account of {@link configure}. */
export const ALICE = { Authorization: `Basic ${btoa("alice:secret of alice")}`, Accept: "application/json" };

/** Writes a configuration with one account. Returns the path of the file. */
export async function configure(members: object): Promise<string> {
  const file = join(await makeFolder(), "fileferry.json");
  const config = {
    listen: { port: 0 },
    authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret of alice" }] }],
    ...members,
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}
