import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, runCommand, startServer } from "../support/built.ts";
import { configureLinks, onServer, SECRET_OF_LINKS } from "../support/link-configuration.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";
import { runInProcess } from "../support/run-in-process.ts";

beforeAll(ensureBuilt, 300_000);

describe.skipIf(!hasRedis && process.env.CI === undefined)(`fileferry link with a store${redisNote}`, () => {
  let redis: TestRedis;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it("lists and revokes links of the running service", async () => {
    const { config, flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS, store: redis.url } });
    const create = async (...more: readonly string[]) =>
      JSON.parse((await runInProcess(["link", "create", ...more, ...flags, "--json"])).stdout);
    const server = await startServer(["serve", "--config", config]);
    const first = await create("/reports");
    const second = await create("/reports/a.csv", "--max-uses", "2", "--label", "for Bob");
    const file = onServer(server.url, second.file_url);
    expect((await fetch(file)).status).toBe(200);
    const listed = await runCommand(["link", "list", ...flags]);
    expect(listed).toMatchObject({ status: 0, stderr: "" });
    const lines = listed.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines).toContainEqual(
      expect.stringMatching(
        new RegExp(`^${second.id}  /reports/a\\.csv  allow-read, until [\\dT:-]+Z, 1 of 2 uses, for Bob$`),
      ),
    );
    expect(lines).toContainEqual(expect.stringMatching(`^${first.id}  /reports/  allow-read allow-list, until`));
    const asJson = await runInProcess(["link", "list", ...flags, "--json"]);
    const { content } = JSON.parse(asJson.stdout);
    expect(content).toContainEqual({ ...second, uses: 1, url: expect.any(String), file_url: expect.any(String) });
    expect((await fetch(onServer(server.url, content[0].url))).status).toBe(200);

    const revoke = ["link", "revoke", second.id, "--config", config];
    expect(await runInProcess(revoke)).toEqual({ status: 0, stdout: "", stderr: "" });
    expect((await fetch(file)).status).toBe(410);
    expect(await runInProcess(revoke)).toEqual({
      status: 1,
      stdout: "",
      stderr: `error: there is no link with the ID ${second.id}\n`,
    });
    expect((await runInProcess(["link", "list", ...flags])).stdout.split("\n")).toHaveLength(2);
  });

  it("has nothing to list of an account without links", async () => {
    const { config } = await configureLinks({ links: { secret: SECRET_OF_LINKS, store: redis.url } });
    const nobody = ["--config", config, "--account", "carol"];
    expect(await runInProcess(["link", "list", ...nobody])).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it("is known to all workers", async () => {
    const { config, flags } = await configureLinks({
      links: { secret: SECRET_OF_LINKS, store: redis.url },
      session: { store: redis.url },
    });
    const server = await startServer(["serve", "--config", config, "--workers", "2"]);
    const { stdout } = await runInProcess(["link", "create", "/reports/a.csv", ...flags, "--max-uses", "3", "--json"]);
    const file = onServer(server.url, JSON.parse(stdout).file_url);
    const get = async () => (await fetch(file, { headers: { Connection: "close" } })).status;
    const statuses = await Promise.all(Array.from({ length: 12 }, get));
    expect(statuses.toSorted()).toEqual([200, 200, 200, ...Array(9).fill(410)]);
  });

  it("ends with status 1 if the store cannot be reached", async () => {
    const { flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS, store: "redis://127.0.0.1:9" } });
    const { status, stderr } = await runInProcess(["link", "list", ...flags]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/links\.store: Redis at 127\.0\.0\.1:9 cannot be reached: [^\n]*\n$/);
  });
});
