import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeFolder } from "../support/built.ts";
import { type Command, startCommand } from "../support/command.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";
import { AUTHORIZATION } from "../support/served.ts";

const KEYS = 20;
const REPEATS = 4;

describe.skipIf(!hasRedis && process.env.CI === undefined)(`two processes over one Redis${redisNote}`, () => {
  it("run a request with one key once, and repeat its answer from both", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const processes = await startTwo(redis);
    for (let count = 0; count < KEYS; count += 1) {
      const key = `key-${count}`;
      const send = (index: number) => sendOnce(processes[index % 2], key);
      const answers = await Promise.all(Array.from({ length: REPEATS }, (_, index) => send(index)));
      expect(answers.filter(({ status, isReplayed }) => status === 200 && !isReplayed)).toHaveLength(1);
      expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
      const [one, other] = [await send(0), await send(1)];
      expect(one).toEqual(other);
      expect([one.status, one.isReplayed]).toEqual([200, true]);
    }
  }, 300_000);
});

/** Starts two processes of the command over one folder. */
async function startTwo({ url }: TestRedis): Promise<readonly Command[]> {
  const file = join(await makeFolder(), "config.json");
  const account = { username: "alice", password: "secret", home_folder_path: "/" };
  const config = {
    storage: { type: "disk", root: await makeFolder() },
    idempotency: { store: url },
    authentication: [{ type: "accounts", accounts: [account] }],
  };
  await writeFile(file, JSON.stringify(config));
  const commands: Command[] = [];
  onTestFinished(async () => void (await Promise.all(commands.map((command) => command.stop()))));
  for (const _ of [1, 2]) commands.push(await startCommand(["serve", "--config", file, "--port", "0"]));
  return commands;
}

/** Sends a command. A second run of it would be 422, because the folder is there. */
async function sendOnce(process: Command | undefined, key: string) {
  const response = await fetch(`${process?.origin}/home/`, {
    method: "POST",
    headers: { authorization: AUTHORIZATION, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ commands: [{ command: "create-folder", target: key }] }),
  });
  const { status, headers } = response;
  return { status, isReplayed: headers.has("idempotency-replayed"), text: await response.text() };
}
