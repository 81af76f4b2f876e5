import { expect } from "vitest";
import { LINKS_SECRET } from "../../../examples/service.ts";
import { createNodePasswordHasher } from "../../../src/auth/passwords/hash-node.ts";
import { createSealedLinks } from "../../../src/sharing/links.ts";
import type { LinkRecord } from "../../../src/sharing/record.ts";
import { type WireCase, wireCase } from "./case.ts";
import type { CallOptions, WireAnswer, WireEnvironment } from "./client.ts";

/** Seals links as the example does, which opens them: everything about such a link is in its token. */
const sealed = createSealedLinks({ secrets: [LINKS_SECRET], store: undefined, clock: Date.now });

const UNDESCRIBED = "Each link has a token of its own.";
const JSON_API = { Accept: "application/json" };
const FORM = { Accept: "text/html", "Content-Type": "application/x-www-form-urlencoded" };

/** Asks without an account, below the URL of a link. */
interface LinkClient {
  /** The path of the link's URL, which ends in `/`. */
  readonly url: string;
  readonly environment: WireEnvironment;
  ask(method: string, path: string, options?: CallOptions): Promise<WireAnswer>;
}

/** A case with the files `a.csv` and `sub/b.csv` in its folder, and a link to the folder, or to a member of it. */
function linkCase(
  name: string,
  { member, ...wanted }: Partial<LinkRecord> & { readonly member?: string },
  run: (client: LinkClient) => Promise<void>,
): WireCase {
  return wireCase(name, async (environment) => {
    const { call, folder, put } = environment;
    await put("a.csv", "1,2,3");
    expect((await call("PUT", `${folder}sub/`)).status).toBe(201);
    await put("sub/b.csv", "4,5,6");
    const [, , ...segments] = folder.replace(/\/$/, "").split("/");
    const created = Math.floor(Date.now() / 1000);
    const token = await sealed.toToken({
      id: crypto.randomUUID().replaceAll("-", ""),
      username: "alice",
      path: [...segments, ...(member === undefined ? [] : [member])],
      isFolder: member === undefined,
      permissions: ["allow-read", "allow-list"],
      created,
      expires: created + 600,
      ...wanted,
    });
    const url = `/__svc__/share/${token}/`;
    const ask: LinkClient["ask"] = (method, path, options = {}) =>
      call(method, url + path, { as: null, undescribed: UNDESCRIBED, ...options });
    await run({ url, environment, ask });
  });
}

function membersOf(listing: WireAnswer): readonly string[] {
  return listing
    .json<{ content: { name: string }[] }>()
    .content.map(({ name }) => name)
    .sort();
}

/** Links (SHARING 1, 2, 4, 6.1, 8). */
export const linkCases: readonly WireCase[] = [
  linkCase("a folder link has the folder as root, and nothing above it", {}, async ({ url, environment, ask }) => {
    const listing = await ask("GET", "", { headers: JSON_API });
    expect([listing.status, membersOf(listing)]).toEqual([200, ["a.csv", "sub"]]);
    expect((await ask("GET", "sub/b.csv")).text).toBe("4,5,6");
    const part = await ask("GET", "a.csv", { headers: { Range: "bytes=2-3" } });
    expect([part.status, part.text, part.header("server-path")]).toEqual([206, "2,", "/a.csv"]);
    const archive = await ask("GET", "?zip", { headers: { Accept: "text/html" } });
    expect([archive.status, archive.header("content-type")]).toEqual([200, "application/zip"]);
    expect((await ask("GET", "..%2Fa.csv")).status).toBe(400);
    expect((await ask("GET", "never.csv")).status).toBe(404);
    const bare = url.slice(0, -1);
    for (const [method, status] of [
      ["GET", 302],
      ["PUT", 307],
    ] as const) {
      const redirect = await environment.call(method, bare, { as: null, undescribed: UNDESCRIBED });
      expect([redirect.status, redirect.header("location")]).toEqual([status, url]);
    }
  }),
  linkCase("a file link has a root with its file alone", { member: "a.csv" }, async ({ ask }) => {
    expect(membersOf(await ask("GET", "", { headers: JSON_API }))).toEqual(["a.csv"]);
    const file = await ask("GET", "a.csv");
    expect([file.status, file.text]).toEqual([200, "1,2,3"]);
    expect([file.header("referrer-policy"), file.header("cache-control")]).toEqual([
      "no-referrer",
      "private, no-cache",
    ]);
    expect((await ask("GET", "sub/b.csv")).status).toBe(404);
  }),
  linkCase("a token with a changed character is an unknown URL, and OPTIONS tells nothing", {}, async (client) => {
    const { call } = client.environment;
    const send = (method: string, path: string) =>
      call(method, path, { as: null, headers: JSON_API, undescribed: UNDESCRIBED });
    const unknown = await send("GET", "/__svc__/nothing");
    for (const index of [0, 10, 40, client.url.length - 4]) {
      const at = "/__svc__/share/".length + index;
      const other = client.url[at] === "A" ? "B" : "A";
      const forged = await send("GET", `${client.url.slice(0, at)}${other}${client.url.slice(at + 1)}`);
      expect([forged.status, forged.text]).toEqual([404, unknown.text]);
    }
    const [known, never] = [await send("OPTIONS", client.url), await send("OPTIONS", "/__svc__/share/none/")];
    expect([known.status, known.header("allow")]).toEqual([never.status, never.header("allow")]);
  }),
  linkCase("a link whose time is over is gone", { expires: 1_000_000_000 }, async ({ ask }) => {
    const answer = await ask("GET", "a.csv", { headers: JSON_API });
    expect([answer.status, answer.json()]).toEqual([410, { errors: [{ message: "The link has expired." }] }]);
  }),
  linkCase("a link of an account that does not exist is gone", { username: "nobody" }, async ({ ask }) => {
    expect((await ask("GET", "a.csv")).status).toBe(410);
  }),
  linkCase("a link permits what it says alone", {}, async ({ environment, ask }) => {
    expect((await ask("PUT", "new.csv", { body: "new" })).status).toBe(403);
    expect((await ask("DELETE", "a.csv")).status).toBe(403);
    expect(await environment.names()).toEqual(["a.csv", "sub"]);
  }),
  linkCase(
    "a link to write makes new files, and replaces none",
    { permissions: ["allow-read", "allow-list", "allow-write"] },
    async ({ environment, ask }) => {
      expect((await ask("PUT", "new.csv", { body: "new" })).status).toBe(201);
      const refused = await ask("PUT", "a.csv", { headers: JSON_API, body: "other" });
      expect([refused.status, refused.json()]).toEqual([
        403,
        { errors: [{ message: "The link does not permit replacing a file." }] },
      ]);
      expect((await environment.call("GET", `${environment.folder}a.csv`)).text).toBe("1,2,3");
      expect(await environment.names()).toEqual(["a.csv", "new.csv", "sub"]);
    },
  ),
  wireCase("a link with a password opens for it alone, by Basic or by the form", async (environment) => {
    const passwordHash = await createNodePasswordHasher().hash("open sesame");
    await linkCase("", { passwordHash }, async ({ url, ask }) => {
      const asked = await ask("GET", "a.csv");
      expect([asked.status, asked.header("www-authenticate")]).toEqual([
        401,
        'Basic realm="Shared link", charset="UTF-8"',
      ]);
      const basic = (password: string) => ({ Authorization: `Basic ${btoa(`any:${password}`)}` });
      expect((await ask("GET", "a.csv", { headers: basic("wrong") })).status).toBe(401);
      expect((await ask("GET", "a.csv", { headers: basic("open sesame") })).text).toBe("1,2,3");
      const page = await ask("GET", "", { headers: { Accept: "text/html" } });
      expect([page.status, page.text.includes("a.csv")]).toEqual([401, false]);
      expect((await ask("POST", "", { headers: FORM, body: "password=wrong" })).status).toBe(401);
      const opened = await ask("POST", "", { headers: FORM, body: "password=open+sesame" });
      expect([opened.status, opened.header("location")]).toEqual([303, url]);
      const [cookie = "", ...attributes] = (opened.header("set-cookie") ?? "").split("; ");
      expect(attributes).toEqual(expect.arrayContaining([`Path=${url}`, "HttpOnly", "SameSite=Lax"]));
      expect((await ask("GET", "a.csv", { headers: { Cookie: cookie } })).text).toBe("1,2,3");
    }).run(environment);
  }),
];
