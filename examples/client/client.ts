/**
 * A client of the service with types from the OpenAPI document of the running service: a path, parameter or body that
 * the service does not have is a compile error, and responses have the types of their schemas.
 *
 *     SERVICE=http://127.0.0.1:8080 ACCOUNT=demo:demo node client.ts
 *
 * README.md shows how to generate the types. This command needs Node 22.18 or newer, which runs TypeScript. On Node 20
 * use `npx tsx` instead of `node`. The client creates the folder `client-example` of the account, and
 * `client-example.zip` in the current folder.
 */
import { writeFile } from "node:fs/promises";
import createClient, { type Client, defaultBodySerializer } from "openapi-fetch";
import type { components, paths } from "./service.d.ts";

/** The client requests JSON, of all formats that a response may have. */
type Service = Client<paths, "application/json">;

/** The body of a failure: of the request, or of every target if commands ran. */
type Failure = components["schemas"]["Errors"] | components["schemas"]["CommandErrors"] | Page;

/** Failures of pages, and of servers in between, have no JSON. */
type Page = string | { readonly "text/html": string } | { readonly "*/*": string };

/** What openapi-fetch returns. */
type Answer<T> =
  | { readonly data: T; readonly error?: never; readonly response: Response }
  | { readonly data?: never; readonly error: Failure; readonly response: Response };

function connect(baseUrl: string): Service {
  return createClient<paths, "application/json">({
    baseUrl,
    headers: { Accept: "application/json" },
    pathSerializer: toUrl,
    // Files go as they are. For one on the disk, `openAsBlob()` of node:fs makes a Blob that is not read into memory.
    bodySerializer: (body: unknown) => (body instanceof Blob ? body : defaultBodySerializer(body)),
  });
}

/**
 * Fills in `{path}` and `{folder}`, each segment encoded by itself: their slashes stay, as the service refuses encoded
 * ones. A `..` would be resolved before the request is sent, and lead elsewhere.
 */
function toUrl(template: string, parameters: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const segments = String(parameters[name]).split("/");
    if (segments.some((segment) => ["", ".", ".."].includes(segment)))
      throw new RangeError(`Not a path: ${parameters[name]}`);
    return segments.map(encodeURIComponent).join("/");
  });
}

/** The body of a success. Throws an unexpected failure, with the message of the service. */
function take<T>({ data, error, response }: Answer<T>): T {
  if (error !== undefined || !response.ok) throw new Error(`${response.status} ${toText(error)}`);
  return data;
}

/** As {@link take}, for a response that has a body. A POST to a folder has none if it creates a resumable upload. */
function takeBody<T>(answer: Answer<T>): NonNullable<T> {
  const body = take(answer);
  if (body === undefined || body === null) throw new Error("The response has no body.");
  return body;
}

/** If commands ran, an entry has a target, and a message if the command failed. */
function toText(failure: Failure | undefined): string {
  if (typeof failure !== "object" || !("errors" in failure)) return "without a reason";
  const entries = failure.errors;
  return entries.map((entry) => ("target" in entry ? toOutcome(entry) : entry.message)).join(", ");
}

function toOutcome({ target, message }: { readonly target: string; readonly message: string | null }): string {
  return `${target}: ${message ?? "done"}`;
}

/** Starts a session, which all later requests use. */
async function logIn(service: Service, username: string, password: string): Promise<void> {
  const { results } = take(await service.POST("/__svc__/login", { body: { username, password } }));
  const session = results[0]?.session;
  if (session === undefined) throw new Error("The login has no session.");
  service.use({ onRequest: ({ request }) => request.headers.set("Authorization", `session ${session}`) });
  print("logged in");
}

/** Creates folders: several by commands of one request, and one by PUT. */
async function createFolders(service: Service): Promise<void> {
  const root = await service.POST("/home/", {
    body: { commands: [{ command: "create-folder-if-missing", target: "client-example" }] },
  });
  print(`commands: ${takeBody(root).results.map(toOutcome).join(", ")}`);
  const { results } = takeBody(
    await service.POST("/home/{folder}/", {
      params: { path: { folder: "client-example" } },
      body: { commands: [{ command: "create-folder-if-missing", target: "Q1 & Q2" }] },
    }),
  );
  print(`commands: ${results.map(toOutcome).join(", ")}`);
  const drafts = await service.PUT("/home/{folder}/", { params: { path: { folder: "client-example/drafts" } } });
  take(drafts);
  print(`created: ${drafts.response.headers.get("Server-Path")}`);
}

/** Uploads a file, and downloads the second half of it. */
async function transfer(service: Service, path: string): Promise<void> {
  const content = new Blob(["quarter,revenue\n", "Q1,52311\n"], { type: "text/csv" });
  take(
    await service.PUT("/home/{path}", {
      params: { path: { path } },
      headers: { "Content-Type": content.type },
      body: content,
    }),
  );
  print(`stored: ${path}, ${content.size} bytes`);
  const part = await service.GET("/home/{path}", {
    params: { path: { path }, header: { Range: "bytes=16-" } },
    parseAs: "text",
  });
  print(`${part.response.headers.get("Content-Range")}: ${take(part).trim()}`);
}

/** Lists the members, in the order of the storage. */
async function list(service: Service, folder: string): Promise<void> {
  const { content } = take(await service.GET("/home/{folder}/", { params: { path: { folder } } }));
  for (const { name, is_directory, size } of content.toSorted((one, other) => one.name.localeCompare(other.name)))
    print(`member: ${name}${is_directory ? "/" : `, ${size} bytes`}`);
}

/** Runs commands in order, also after one that failed: a 422 has the result of each. */
async function tidyUp(service: Service, folder: string): Promise<void> {
  const { error, response } = await service.POST("/home/{folder}/", {
    params: { path: { folder } },
    body: {
      commands: [
        { command: "delete", target: "drafts" },
        { command: "delete", target: "never there" },
      ],
    },
  });
  print(`${response.status} ${toText(error)}`);
}

/** Downloads a folder as one archive, which is written to the disk while it arrives. */
async function download(service: Service, folder: string, file: string): Promise<void> {
  const archive = await service.GET("/home/{folder}/", {
    params: { path: { folder } },
    headers: { Accept: "application/zip" },
    parseAs: "stream",
  });
  await writeFile(file, take(archive) ?? "");
  print(`${archive.response.headers.get("Content-Type")}: ${file}`);
}

/** Shows that expected failures have types too. */
async function look(service: Service, path: string): Promise<void> {
  const { error, response } = await service.GET("/home/{path}", { params: { path: { path } }, parseAs: "text" });
  print(response.ok ? `there: ${path}` : `${response.status} ${toText(error)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { SERVICE = "http://127.0.0.1:8080", ACCOUNT = "demo:demo" } = process.env;
const [username = "", password = ""] = ACCOUNT.split(/:(.*)/s);
const service = connect(SERVICE);
await logIn(service, username, password);
await createFolders(service);
await transfer(service, "client-example/Q1 & Q2/revenue, 100% #1.csv");
await list(service, "client-example");
await list(service, "client-example/Q1 & Q2");
await tidyUp(service, "client-example");
await download(service, "client-example", "client-example.zip");
await look(service, "client-example/drafts/none.txt");
take(await service.POST("/__svc__/logout"));
await look(service, "client-example/Q1 & Q2/revenue, 100% #1.csv");
