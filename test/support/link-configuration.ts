import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "./built.ts";
import { leaveUndescribed } from "./openapi/undescribed.ts";

export const SECRET_OF_LINKS = "a secret of these tests, which seals links";

/** A configuration of the command. */
export interface LinkConfiguration {
  readonly folder: string;
  readonly config: string;
  /** The flags of a link command of alice. */
  readonly flags: readonly string[];
}

/** A configuration with alice's file `reports/a.csv`, and with these keys. */
export async function configureLinks(keys: object): Promise<LinkConfiguration> {
  const folder = await makeFolder();
  await mkdir(join(folder, "files/reports"), { recursive: true });
  await writeFile(join(folder, "files/reports/a.csv"), "1,2,3");
  const config = join(folder, "fileferry.json");
  const accounts = [
    { username: "alice", password: "secret of alice", home_folder_path: "/" },
    { username: "carol", password: "secret of carol", home_folder_path: "/", allow_links: false },
  ];
  const members = {
    listen: { port: 0 },
    storage: { type: "disk", root: "files" },
    authentication: [{ type: "accounts", accounts }],
    publicOrigin: "https://files.example",
    events: { file: "events.ndjson" },
    ...keys,
  };
  await writeFile(config, JSON.stringify(members));
  return { folder, config, flags: ["--config", config, "--account", "alice"] };
}

/** A URL on another server. No description has words for it. */
export function onServer(serverUrl: string, url: string): string {
  const { pathname } = new URL(url);
  leaveUndescribed("GET", pathname);
  return new URL(pathname, serverUrl).href;
}
