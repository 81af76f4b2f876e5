import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileService, createHttpAuthenticator } from "../../src/index.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { answer, serveEndpoint } from "../support/endpoint-server.ts";
import { type Block, findBlocks, toPlace } from "./blocks.ts";
import { toCommands } from "./dockerfile.ts";
import { createEnvironment } from "./environment.ts";
import { parseRequest, toValuePattern } from "./http-request.ts";
import { readPages } from "./pages.ts";

const pages = (await readPages(["README.md", "CONTRIBUTING.md", "docs", "examples"])).map(findBlocks);

/** The blocks of a language, each with the one behind it. */
function blocksOf(language: string): readonly (readonly [place: string, block: Block, next: Block | undefined])[] {
  return pages.flatMap((blocks) =>
    blocks.flatMap((block, index) =>
      block.language === language ? [[toPlace(block), block, blocks[index + 1]] as const] : [],
    ),
  );
}

describe("a request that a page shows", () => {
  interface Received {
    readonly line: string;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly body: unknown;
  }

  /** What a service sends to judge a login which is that of the page. */
  async function receive({ credentials, server }: ShownBody): Promise<Received> {
    const received: Received[] = [];
    const { url, stop } = await serveEndpoint(async (req, res) => {
      const body: unknown = JSON.parse(await text(req));
      received.push({ line: `${req.method} ${req.url} HTTP/${req.httpVersion}`, fields: req.headers, body });
      answer(res, 204);
    });
    onTestFinished(stop);
    const { username, content, peer, creator } = credentials;
    const logger = { info() {}, warn() {}, error() {} };
    const service = createFileService({
      storage: createMemoryStorage(),
      authentication: createHttpAuthenticator({ url, username: "svc", password: "pw", testAtStart: false, logger }),
      publicOrigin: "https://files.example",
      server: { uuid: server.uuid },
      component: { uuid: creator.uuid },
      logger,
    });
    const request = new Request("https://files.example/__svc__/login", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ username, password: content }),
    });
    expect((await service.fetch(request, { peer })).status).toBe(200);
    expect(received).toHaveLength(1);
    return received[0] as Received;
  }

  interface ShownBody {
    readonly credentials: {
      readonly username: string;
      readonly content: string;
      readonly peer: {
        readonly address: string;
        readonly port: number;
        readonly family: "IPv4";
        readonly protocol: "TCP";
      };
      readonly creator: { readonly uuid: string };
    };
    readonly server: { readonly uuid: string };
  }

  it.for(blocksOf("http"))("is what is sent: %s", async ([, { text: shown }, next]) => {
    const head = parseRequest(shown);
    expect(next?.language).toBe("json");
    const body = JSON.parse(next?.text ?? "") as ShownBody;
    const sent = await receive(body);
    expect(sent.line).toBe(`${head?.method} ${head?.target} HTTP/1.1`);
    expect(sent.body).toEqual(body);
    for (const [name, value] of head?.fields ?? [])
      expect([name, sent.fields[name]]).toEqual([name, expect.stringMatching(toValuePattern(value))]);
    // What belongs to the connection, and to the platform's client, is not shown.
    const others = Object.keys(sent.fields).filter((name) => head?.fields.has(name) !== true);
    expect(others.filter((name) => !OF_CONNECTION.includes(name))).toEqual([]);
  });
});

const OF_CONNECTION = [
  "host",
  "connection",
  "content-length",
  "user-agent",
  "accept-language",
  "sec-fetch-mode",
  "pragma",
  "cache-control",
];

describe("a container that a page describes", () => {
  it.for(blocksOf("dockerfile"))("serves: %s", { timeout: 120_000 }, async ([, block, next]) => {
    const environment = await createEnvironment();
    onTestFinished(() => environment.stop());
    const roots = join(environment.folder, "stages");
    const root = join(roots, "stage-0");
    await mkdir(join(root, "etc/fileferry"), { recursive: true });
    const config = {
      storage: { type: "disk", root: join(root, "files") },
      authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret" }] }],
    };
    await writeFile(join(root, "etc/fileferry/fileferry.json"), JSON.stringify(config));
    const started = await environment.run(toCommands(block.text, join(environment.folder, "clone"), roots), {
      isStrict: true,
    });
    expect(started).toEqual({
      status: 0,
      output: expect.stringContaining(environment.toLocal("http://0.0.0.0:8080/")),
    });
    const upload = "echo content | curl -sS -u alice:secret -T - http://127.0.0.1:8080/home/a.txt -o /dev/null";
    expect(await environment.run(`${upload} && cat ${root}/files/alice/a.txt`, { isStrict: true })).toMatchObject({
      status: 0,
      output: "content",
    });
    // The commands behind it hand in what it takes, and nothing else.
    const run = next?.text ?? "";
    const [, ports] = / -p 127\.0\.0\.1:\d+:(\d+) /.exec(run) ?? [];
    const folders = [...run.matchAll(/ -v "[^":]+:([^"]+)"/g)].map(([, folder]) => folder);
    expect(block.text).toContain(`EXPOSE ${ports}\n`);
    expect(folders.length).toBeGreaterThan(0);
    for (const folder of folders) expect(block.text).toMatch(new RegExp(`["\\s]${folder}["/\\s]`));
  });
});

const ANALYZER = "/usr/bin/systemd-analyze";

describe.skipIf(!existsSync(ANALYZER))("a unit that a page shows", () => {
  it.for(blocksOf("ini"))("is one to systemd itself: %s", async ([, block]) => {
    const folder = await mkdtemp(join(tmpdir(), "fileferry-unit-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const unit = join(folder, "fileferry.service");
    await writeFile(unit, block.text.replace("/usr/bin/node", process.execPath));
    const { stdout, stderr } = spawnSync(ANALYZER, ["verify", "--man=no", "--recursive-errors=no", unit], {
      encoding: "utf8",
    });
    // Of the machine's own units, and of how it runs, nothing is asked.
    expect(`${stdout}${stderr}`.split("\n").filter((line) => line.includes("fileferry.service"))).toEqual([]);
  });
});
