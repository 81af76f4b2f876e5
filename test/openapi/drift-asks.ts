import { createHash } from "node:crypto";
import { FORM_TYPE, type FormEntry, formOf } from "../support/forms.ts";
import type { Operation } from "../support/openapi/document.ts";

/** The fields of a request. */
export type Fields = Readonly<Record<string, string>>;

/** One request. */
export interface Ask {
  readonly method: string;
  readonly target: string;
  readonly fields?: Fields;
  readonly body?: string | Uint8Array;
}

/** The type of a JSON body. */
export const JSON_TYPE = { "content-type": "application/json" };
const FORM_FIELDS = { "content-type": FORM_TYPE };
const URLENCODED = { "content-type": "application/x-www-form-urlencoded" };

function commandsOf(...commands: readonly (readonly [string, unknown])[]): Pick<Ask, "fields" | "body"> {
  return {
    fields: JSON_TYPE,
    body: JSON.stringify({ commands: commands.map(([command, target]) => ({ command, target })) }),
  };
}

function form(...entries: readonly FormEntry[]): Pick<Ask, "fields" | "body"> {
  return { fields: FORM_FIELDS, body: formOf(...entries) };
}

/** Requests of an operation that can be served, and ones that cannot; each is sent in every variant, by everybody. */
export function asksOf({ method, template }: Operation): readonly Ask[] {
  const targets = TARGETS[template] ?? [template];
  const asks = targets.flatMap((target) => bodiesOf(method, template).map((body) => ({ method, target, ...body })));
  const [target = template] = targets;
  const isRemoval = method === "DELETE" && /^\/home\/\{(?:path|folder)\}/.test(template);
  return isRemoval ? [...asks, { method, target, fields: { "x-permanent": "1" } }] : asks;
}

/** A cursor of another listing. */
const CURSOR = "WzEsImMyZWIzODI4NDE2ZmRmZTgiLCJhIl0";

/** Targets that a template stands for, the one that can be served first. */
export const TARGETS: Readonly<Record<string, readonly string[]>> = {
  "/home/{path}": [
    "/home/a.txt",
    "/home/a.txt?inline",
    "/home/f",
    "/home/refused.txt",
    "/home/none.txt",
    "/home/none/a.txt",
    "/home/a.txt/b",
    "/home/%00",
  ],
  "/home/": [
    "/home/",
    "/home/?sort=size&order=desc&member=a.txt&done=deleted&sent=a.txt",
    "/home/?login=basic&return=%2Fhome%2Ff%2F",
    "/home/?zip",
    "/home/?q=a",
    "/home/?q=%CC%81",
    "/home/?limit=1",
    `/home/?limit=1&cursor=${CURSOR}`,
  ],
  "/home/{folder}/": [
    "/home/f/",
    "/home/f/?sort=size&order=desc&member=a.txt&done=deleted&sent=a.txt",
    "/home/f/?zip",
    "/home/f/?q=a",
    "/home/f/?limit=1",
    `/home/f/?limit=1&cursor=${CURSOR}`,
    "/home/new/",
    "/home/none/new/",
    "/home/a.txt/",
    "/home/a.txt/b/",
    "/home/%00/",
  ],
  "/__svc__/login": ["/__svc__/login", "/__svc__/login?return=%2Fhome%2Ff%2F"],
  "/__svc__/assets/{name}": ["/__svc__/assets/none.css"],
};

/** The digest of `new`. */
const DIGEST = `sha-256=:${createHash("sha256").update("new").digest("base64")}:`;

function bodiesOf(method: string, template: string): readonly Pick<Ask, "fields" | "body">[] {
  if (method === "PUT" && template === "/home/{path}") {
    return [
      { body: "new" },
      { body: "new", fields: { "x-labels": "project=a", "content-encoding": "identity" } },
      { body: "x".repeat(1001) },
      { body: "new", fields: { "content-digest": DIGEST, "repr-digest": DIGEST } },
      { body: "x", fields: { "content-encoding": "gzip" } },
      { body: "x", fields: { "content-range": "bytes 0-0/1" } },
    ];
  }
  if (method === "PUT" || method === "MKCOL") return [{}, { body: "x" }];
  if (method !== "POST") return [{}];
  if (template === "/__svc__/login") return LOGINS;
  if (template.endsWith("password-update")) return UPDATES;
  return template.startsWith("/home/") && template.endsWith("/") ? FOLDER_BODIES : [{}];
}

const LOGINS = [
  { fields: JSON_TYPE, body: '{"username":"alice","password":"secret"}' },
  { fields: URLENCODED, body: "username=alice&password=secret&one_time_password=287082&return=%2Fhome%2F" },
  {
    fields: { ...JSON_TYPE, "content-encoding": "identity" },
    body: '{"username":"alice","password":"secret","one_time_password":"287082"}',
  },
  { fields: { ...JSON_TYPE, "content-encoding": "gzip" }, body: "x" },
  { fields: JSON_TYPE, body: '{"username":"carol","password":"secret"}' },
  { fields: JSON_TYPE, body: "{" },
  { fields: JSON_TYPE, body: `"${"x".repeat(20_000)}"` },
  { fields: { "content-type": "text/plain" }, body: "x" },
];

const UPDATES = [
  { fields: { ...JSON_TYPE, "content-encoding": "gzip" }, body: "x" },
  {
    fields: { ...JSON_TYPE, "content-encoding": "identity" },
    body: '{"current_password":"secret","new_password":"a brand new password"}',
  },
  { fields: URLENCODED, body: "current_password=secret&new_password=a+brand+new+password&repeated_password=other" },
  {
    fields: URLENCODED,
    body: "current_password=secret&new_password=a+brand+new+password&repeated_password=a+brand+new+password",
  },
  { fields: JSON_TYPE, body: '{"current_password":"wrong","new_password":"a brand new password"}' },
  { fields: JSON_TYPE, body: "{" },
  { fields: JSON_TYPE, body: `"${"x".repeat(1_100_000)}"` },
  { fields: { "content-type": "text/plain" }, body: "x" },
];

const FOLDER_BODIES = [
  commandsOf(["create-folder-if-missing", "new"]),
  { ...commandsOf(["create-folder-if-missing", "new"]), fields: { ...JSON_TYPE, prefer: "dry-run" } },
  { ...commandsOf(["delete", "none"]), fields: { ...JSON_TYPE, prefer: "dry-run" } },
  {
    fields: JSON_TYPE,
    body: JSON.stringify({
      commands: [
        { command: "create-folder-if-missing", target: "new" },
        { command: "copy", target: "new", destination: "new.txt", overwrite: true },
        { command: "move", target: "new.txt", destination: "new", overwrite: true },
      ],
    }),
  },
  form(["action", "move-members"], ["selected-members", "a.txt"], ["destination", "/f"]),
  form(["action", "move-members"], ["selected-members", "c.txt"], ["destination", "/"]),
  form(["action", "copy-members"], ["selected-members", "none"], ["destination", "/"]),
  form(["action", "rename-member"], ["selected-members", "a.txt"], ["new-name", "new.txt"]),
  form(["action", "rename-member"], ["selected-members", "c.txt"], ["new-name", "new.txt"]),
  form(["action", "download-members"], ["selected-members", "a.txt"]),
  form(["action", "download-members"], ["download-list", "a.txt"]),
  form(["action", "upload-file"], ["upload-file", "refused.txt", "x"]),
  form(["file", "new.txt", "x"]),
  { fields: { ...FORM_FIELDS, "content-encoding": "gzip" }, body: "x" },
  commandsOf(["create-folder-if-missing", "new"], ["publish", ["b.txt"]], ["publish", "b.txt"]),
  commandsOf(["delete", "none"], ["create-folder", "new"]),
  commandsOf(),
  { fields: JSON_TYPE, body: `"${"x".repeat(1_100_000)}"` },
  { fields: { "content-type": "text/plain" }, body: "x" },
  { ...form(["action", "create-folder"], ["new-folder", "new"]) },
  { ...form(["action", "create-folder"], ["new-folder", "b.txt"]) },
  { ...form(["action", "delete-members"], ["selected-members", "none"]) },
  { ...form(["action", "delete-members"], ["selected-members", "b.txt"]) },
  { ...form(["action", "download-members"], ["selected-members", "b.txt"]) },
  { ...form(["action", "download-members"], ["download-list", "b.txt"]) },
  { ...form(["action", "publish"], ["selected-members", "b.txt"]) },
  { ...form(["action", "publish"], ["selected-members", "f"]) },
  {
    fields: { ...FORM_FIELDS, "x-labels": "project=a", "content-encoding": "identity" },
    body: formOf(["action", "upload-file"], ["upload-file", "new.txt", "x"]),
  },
  { ...form(["action", "upload-file"], ["upload-file", "new.txt", "x".repeat(1001)]) },
  {
    fields: { ...FORM_FIELDS, "x-labels": "nobodys=a" },
    body: formOf(["action", "upload-file"], ["upload-file", "new.txt", "x"]),
  },
];
