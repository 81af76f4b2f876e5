import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { Agent, type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNodePasswordHasher } from "../../src/auth/passwords/hash-node.ts";
import { hasOpenssl, makeCertificate } from "../support/certificates.ts";
import { type Command, startCommand } from "../support/command.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { delay, openAll } from "./clients.ts";
import { startHostileClients } from "./hostile-clients.ts";

const ACCOUNTS = amount({ short: 3, long: 64 });
/** The files of the folder that all hostile accounts have as their home. */
const MEMBERS = amount({ short: 500, long: 10_000 });
const LARGE_BYTES = 64 * 1024 * 1024;
/** The files of the honest account's folder. */
const OWN_MEMBERS = 100;
/** How often the honest account asks for its listing and for its file at most, and how long the hostile ones go on. */
const REQUESTS = amount({ short: 20, long: 5000 });
const SECONDS = amount({ short: 3, long: 180 });
const TIMEOUT = amount({ short: 120_000, long: 1_800_000 });

const MAX_MEBIBYTES = 600;
/** How many times as long the honest account may wait as when it is alone. The aim is 10 (docs/security.md). */
const MAX_RATIO = amount({ short: Number.POSITIVE_INFINITY, long: 10 });

const canRun = process.platform === "linux" && hasOpenssl();

/** The requests of the honest account, with the 99th percentile of their durations, in milliseconds. */
const ASKED = { "a listing": "/home/", "a download of 1 KiB": "/home/small" } as const;
type Waits = Readonly<Record<keyof typeof ASKED, number>>;
const WHATS = Object.keys(ASKED) as readonly (keyof Waits)[];

let folder: string;
let service: Command;
let port: number;

describe.skipIf(!canRun)(`${ACCOUNTS} accounts that do their worst at once (needs Linux and openssl)`, () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-hostile-"));
    await writeFiles();
    makeCertificate(folder);
    const config = join(folder, "fileferry.json");
    await writeFile(config, JSON.stringify(await toConfig()));
    service = await startCommand(["serve", "--config", config, "--quiet"]);
    port = Number(new URL(service.origin).port);
  }, TIMEOUT);

  afterAll(async () => {
    agent.destroy();
    service?.process.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  it(
    "leave the service its memory, and another account its time",
    async () => {
      const honest = await logIn("honest");
      await measureWaits(honest, REQUESTS / 10);
      const alone = await measureWaits(honest, REQUESTS);
      const sessions = await Promise.all(Array.from({ length: ACCOUNTS }, (_, index) => logIn(`hostile${index}`)));
      const hostile = await startHostileClients(folder, { port, sessions });
      try {
        const [beside] = await Promise.all([measureWaits(honest, REQUESTS), delay(SECONDS * 1000)]);
        const started = await hostile.countStarted();
        const peak = (await service.peakMegabytes()) / 1.048576;
        report(peak, alone, beside);
        expect(Object.entries(started).filter(([, count]) => count === 0)).toEqual([]);
        expect(peak, "MiB resident").toBeLessThan(MAX_MEBIBYTES);
        for (const what of WHATS) expect(beside[what] / alone[what], what).toBeLessThan(MAX_RATIO);
      } finally {
        hostile.end();
      }
    },
    TIMEOUT,
  );

  async function measureWaits(session: string, count: number): Promise<Waits> {
    const headers = { Authorization: `session ${session}`, Accept: "application/json" };
    const found: [string, number][] = [];
    for (const what of WHATS) {
      const waits: number[] = [];
      const end = performance.now() + (SECONDS * 1000) / 2;
      while (waits.length < count && performance.now() < end) {
        const begun = performance.now();
        const { status } = await ask({ path: ASKED[what], headers, agent });
        waits.push(performance.now() - begun);
        expect([what, status]).toEqual([what, 200]);
      }
      waits.sort((one, other) => one - other);
      found.push([what, waits[Math.floor(waits.length * 0.99)] as number]);
    }
    return Object.fromEntries(found) as unknown as Waits;
  }
});

const ROW = `${ACCOUNTS} hostile accounts at once, over TLS`;

function report(peak: number, alone: Waits, beside: Waits): void {
  reportFigure({ row: ROW, what: "resident at most", value: peak, unit: "MiB", bound: `below ${MAX_MEBIBYTES}` });
  for (const what of WHATS) {
    const named = `99th percentile of ${what} of another account`;
    reportFigure({ row: ROW, what: `${named}, alone`, value: alone[what], unit: "ms" });
    const bound = `below ${MAX_RATIO} times as long`;
    reportFigure({ row: ROW, what: `${named}, beside them`, value: beside[what], unit: "ms", bound });
  }
}

async function writeFiles(): Promise<void> {
  const [hostile, honest] = [join(folder, "files/hostile"), join(folder, "files/honest")];
  await mkdir(join(hostile, "big"), { recursive: true });
  await mkdir(honest, { recursive: true });
  await openAll(MEMBERS, (index) => writeFile(join(hostile, "big", `member ${index}.txt`), "x".repeat(1000)));
  await openAll(OWN_MEMBERS, (index) => writeFile(join(honest, `member ${index}.txt`), "x"));
  await writeFile(join(honest, "small"), "x".repeat(1024));
  await writeFile(join(hostile, "large"), "");
  await truncate(join(hostile, "large"), LARGE_BYTES);
}

/** A configuration with the default limits. All accounts have one password, with a hash as it costs by default. */
async function toConfig(): Promise<object> {
  const password = await createNodePasswordHasher().hash("secret");
  const hostile = Array.from({ length: ACCOUNTS }, (_, index) => ({
    username: `hostile${index}`,
    password,
    home_folder_path: "/hostile",
  }));
  return {
    listen: { port: 0, tls: { key: join(folder, "key.pem"), cert: join(folder, "cert.pem") } },
    storage: { type: "disk", root: join(folder, "files") },
    authentication: [
      { type: "accounts", accounts: [{ username: "honest", password, home_folder_path: "/honest" }, ...hostile] },
    ],
  };
}

async function logIn(username: string): Promise<string> {
  const body = JSON.stringify({ username, password: "secret" });
  const headers = { "Content-Type": "application/json" };
  for (;;) {
    const { status, text } = await ask({ method: "POST", path: "/__svc__/login", headers }, body);
    // This number of passwords at once is more than may wait to be verified.
    if (status === 503) await delay(500);
    else return (JSON.parse(text) as { results: [{ session: string }] }).results[0].session;
  }
}

function ask(options: RequestOptions, body = ""): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    asked.on("error", reject).end(body);
  });
}
