import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import type { WireAnswer, WireEnvironment } from "./client.ts";

const HTML = { Accept: "text/html" };
const BOUNDARY = "----boundary";

type Part = readonly [name: string, value: string, fileName?: string];

/** A form as browsers send it. */
function toForm(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): string {
  const heads = parts.map(([name, value, fileName]) => {
    const file = fileName === undefined ? "" : `; filename="${fileName}"\r\nContent-Type: application/octet-stream`;
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  return heads.join("") + end;
}

function send(
  { call, folder }: WireEnvironment,
  parts: readonly Part[],
  fields = HTML as Readonly<Record<string, string>>,
) {
  const headers = { ...fields, "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` };
  return call("POST", folder, { headers, body: toForm(parts) });
}

function placeOf(answer: WireAnswer): unknown {
  return [answer.status, answer.header("location")?.split("?")[0]];
}

/** Pages and forms (4.6; CONTRACT 3.2, 4.6, 5). */
export const browserCases: readonly WireCase[] = [
  wireCase("a folder is a page for browsers", async ({ call, folder, put }) => {
    await put("a%20&%20b.txt", "x");
    const answer = await call("GET", folder, { headers: HTML });
    expect([answer.status, answer.header("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(answer.header("content-security-policy")).toContain("default-src 'none'");
    expect(answer.text).toContain("a &amp; b.txt");
    expect(answer.text).toContain("</html>");
  }),
  wireCase("a folder without a preference is a page, too", async ({ call, folder }) => {
    expect((await call("GET", folder)).header("content-type")).toContain("text/html");
  }),
  wireCase("the page is in the language that is asked for", async ({ call, folder }) => {
    const answer = await call("GET", folder, { headers: { ...HTML, "Accept-Language": "de" } });
    expect([answer.header("content-language"), answer.text.includes("Dieser Ordner ist leer.")]).toEqual(["de", true]);
  }),
  wireCase("style and script of the page come whole, for everybody and for long", async ({ call, folder }) => {
    const page = await call("GET", folder, { headers: HTML });
    const assets = [...page.text.matchAll(/"(\/__svc__\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(assets.length).toBeGreaterThan(1);
    for (const path of assets) {
      const asset = await call("GET", path, { as: null });
      expect([asset.status, asset.header("cache-control")]).toEqual([200, expect.stringContaining("immutable")]);
      expect(asset.header("content-length")).toBe(String(asset.bytes.byteLength));
    }
  }),
  wireCase("what is not there is 404 with a page", async ({ call, folder }) => {
    const answer = await call("GET", `${folder}missing`, { headers: HTML });
    expect([answer.status, answer.header("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  }),
  wireCase("PUT of a browser into a missing folder is 400", async ({ call, folder }) => {
    expect((await call("PUT", `${folder}none/a`, { headers: HTML, body: "x" })).status).toBe(400);
  }),
  wireCase("a form creates a folder: 303", async (environment) => {
    const answer = await send(environment, [
      ["action", "create-folder"],
      ["new-folder", "grün"],
    ]);
    expect(placeOf(answer)).toEqual([303, environment.folder]);
    expect(await environment.names()).toEqual(["grün"]);
  }),
  wireCase("a form uploads several files: 303", async (environment) => {
    const answer = await send(environment, [
      ["action", "upload-file"],
      ["upload-file", "one", "1.txt"],
      ["upload-file", "two\r\n--not the end", "C:\\\\folder\\\\2.txt"],
    ]);
    expect(placeOf(answer)).toEqual([303, environment.folder]);
    expect(await environment.names()).toEqual(["1.txt", "2.txt"]);
    expect((await environment.call("GET", `${environment.folder}2.txt`)).text).toBe("two\r\n--not the end");
    expect(await environment.events([40017], 2)).toHaveLength(2);
  }),
  wireCase("a form uploads some megabytes", async (environment) => {
    const content = "0123456789abcdef".repeat(1024 * 192);
    expect(
      (
        await send(environment, [
          ["action", "upload-file"],
          ["upload-file", content, "big"],
        ])
      ).status,
    ).toBe(303);
    expect((await environment.call("GET", `${environment.folder}big`)).text).toBe(content);
  }),
  wireCase("a form deletes members, and says which it could not", async (environment) => {
    await environment.put("a", "x");
    await environment.put("b", "x");
    const gone = await send(environment, [
      ["action", "delete-members"],
      ["selected-members", "a"],
    ]);
    expect(placeOf(gone)).toEqual([303, environment.folder]);
    const answer = await send(environment, [
      ["action", "delete-members"],
      ["selected-members", "none"],
      ["selected-members", "b"],
    ]);
    expect([answer.status, answer.text.includes("none")]).toEqual([404, true]);
    expect(await environment.names()).toEqual([]);
  }),
  wireCase("a form downloads members as an archive with relative names", async (environment) => {
    await environment.put("a", "hello");
    const answer = await send(environment, [
      ["action", "download-members"],
      ["selected-members", "a"],
    ]);
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/zip"]);
    const { default: JSZip } = await import("jszip");
    const zip = await JSZip.loadAsync(new Uint8Array(answer.bytes), { checkCRC32: true });
    expect(Object.keys(zip.files)).toEqual(["a"]);
  }),
  wireCase("a form runs a trigger", async (environment) => {
    await environment.put("a", "x");
    expect(
      (
        await send(environment, [
          ["action", "publish"],
          ["selected-members", "a"],
        ])
      ).status,
    ).toBe(303);
  }),
  wireCase("a form with a JSON Accept is answered as commands are", async (environment) => {
    const answer = await send(
      environment,
      [
        ["action", "create-folder"],
        ["new-folder", "x"],
      ],
      { Accept: "application/json" },
    );
    expect([answer.status, answer.json()]).toEqual([200, { results: [{ target: "x", message: null }] }]);
  }),
  ...(
    [
      ["an unknown action", [["action", "explode"]]],
      ["nothing selected", [["action", "delete-members"]]],
      ["no action", [["new-folder", "x"]]],
    ] as const
  ).map(([what, parts]) =>
    wireCase(`a form with ${what} is 400`, async (environment) => {
      expect((await send(environment, parts)).status).toBe(400);
      expect(await environment.names()).toEqual([]);
    }),
  ),
  wireCase("a form that is cut stores nothing of its last file", async ({ call, folder, names }) => {
    const headers = { ...HTML, "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` };
    const body = toForm(
      [
        ["action", "upload-file"],
        ["upload-file", "half", "half.txt"],
      ],
      "",
    ).slice(0, -2);
    expect((await call("POST", folder, { headers, body })).status).toBe(400);
    expect(await names()).toEqual([]);
  }),
  wireCase("metadata of an upload, in UTF-8, stand in its events", async ({ call, folder, events }) => {
    // Fields are sent byte by byte.
    const labels = Buffer.from('project=a, "project=b, c", tag-x=grün ☃').toString("latin1");
    expect((await call("PUT", `${folder}a`, { headers: { "X-Labels": labels }, body: "x" })).status).toBe(201);
    const [begun, done] = await events([40021, 40017], 2);
    for (const event of [begun, done]) {
      expect(event?.data).toMatchObject({ metadata: { project: ["a", "b, c"], "tag-x": ["grün ☃"] } });
    }
  }),
  ...["project", "unknown=1", 'project="open'].map((value) =>
    wireCase(`the metadata ${value} are 400, and nothing is stored`, async ({ call, folder, names }) => {
      expect((await call("PUT", `${folder}a`, { headers: { "X-Labels": value }, body: "x" })).status).toBe(400);
      expect(await names()).toEqual([]);
    }),
  ),
];
