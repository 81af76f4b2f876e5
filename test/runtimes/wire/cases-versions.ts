import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { patternOf } from "./cases-files.ts";
import type { WireEnvironment } from "./client.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

/** The URL of the versions of a file in the folder of a case. */
function versionsOf({ folder }: WireEnvironment, name: string, id?: string): string {
  const path = encodeURIComponent(folder.replace(/^\/home/, "") + name);
  return `/home/__svc__/versions${id === undefined ? "" : `/${id}`}?path=${path}`;
}

async function idsOf(environment: WireEnvironment, name: string): Promise<readonly string[]> {
  const headers = { Accept: "application/json" };
  const listed = await environment.call("GET", versionsOf(environment, name), { headers });
  expect(listed.status).toBe(200);
  return listed.json<{ content: readonly { id: string }[] }>().content.map(({ id }) => id);
}

/** The earlier contents of files. */
export const versionCases: readonly WireCase[] = [
  wireCase("what is overwritten is a version: listed, downloaded in parts, restored, removed", async (environment) => {
    const { call, folder, put, names, events } = environment;
    const [first, second] = [patternOf(300_000), "second"];
    for (const content of [first, second, "third"]) await put("a", content);
    const ids = await idsOf(environment, "a");
    expect(ids).toHaveLength(2);
    const [idOfSecond = "", idOfFirst = ""] = ids;
    const url = versionsOf(environment, "a", idOfFirst);
    const whole = await call("GET", url);
    expect([whole.status, whole.bytes.equals(first)]).toEqual([200, true]);
    const part = await call("GET", url, { headers: { Range: "bytes=299990-299999" } });
    expect([part.status, part.bytes.equals(first.subarray(299_990))]).toEqual([206, true]);
    const unchanged = await call("GET", url, { headers: { "If-None-Match": whole.header("etag") ?? "" } });
    expect([unchanged.status, unchanged.text]).toEqual([304, ""]);
    const head = await call("HEAD", url);
    expect([head.status, head.header("content-length")]).toEqual([200, "300000"]);
    const commands = [
      { command: "restore", target: idOfFirst },
      { command: "purge", target: idOfSecond },
    ];
    const list = versionsOf(environment, "a");
    const done = await call("POST", list, { headers: JSON_TYPE, body: JSON.stringify({ commands }) });
    expect(done.status).toBe(200);
    expect((await call("GET", `${folder}a`)).bytes.equals(first)).toBe(true);
    const left = await idsOf(environment, "a");
    expect(left).not.toContain(idOfSecond);
    const [newest = ""] = left;
    expect((await call("GET", versionsOf(environment, "a", newest))).text).toBe("third");
    expect(await names()).toEqual(["a"]);
    expect(await events([49113], 1)).toHaveLength(1);
  }),
  wireCase("a version is restored by the form of its page", async (environment) => {
    const { call, folder, put } = environment;
    await put("b", "one");
    await put("b", "two");
    const [id = ""] = await idsOf(environment, "b");
    const list = versionsOf(environment, "b");
    const html = { Accept: "text/html" };
    const page = await call("GET", list, { headers: html });
    expect([page.status, page.text.includes(`value="${id}"`)]).toEqual([200, true]);
    const headers = { ...html, "Content-Type": "application/x-www-form-urlencoded" };
    const body = `action=restore-members&selected-members=${id}`;
    const restored = await call("POST", list, { headers, body });
    expect([restored.status, restored.header("location")]).toEqual([303, `${list}&done=restored`]);
    expect((await call("GET", `${folder}b`)).text).toBe("one");
  }),
  wireCase("a version of another file, and of a path that climbs, is none", async (environment) => {
    const { call, put } = environment;
    for (const content of ["one", "two"]) await put("a", content);
    await put("b", "b");
    const [id = ""] = await idsOf(environment, "a");
    expect((await call("GET", versionsOf(environment, "b", id))).status).toBe(404);
    expect((await call("GET", versionsOf(environment, "../a", id))).status).toBe(400);
    expect((await call("GET", versionsOf(environment, "c"))).status).toBe(404);
  }),
];
