import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { FileClient } from "../../src/client/file-client.ts";
import { type ClientOptions, createClient, FileferryError } from "../../src/client.ts";
import { closeNodeServer, createNodeServer } from "../../src/node.ts";
import { createTestService, type TestService, type TestServiceOptions } from "../support/service.ts";

export const ALICE = { username: "alice", password: "secret" };

/** A client of alice, the service behind it, and where that is. */
export interface ClientEnvironment extends TestService {
  readonly client: FileClient;
  readonly origin: string;
  /** Makes another client of the same service. */
  connect(options?: Partial<ClientOptions>): FileClient;
}

/** Serves a test service on a free port, until the test ends. */
export async function openClient(
  options: TestServiceOptions = {},
  own: Partial<ClientOptions> = {},
): Promise<ClientEnvironment> {
  const environment = await createTestService(options);
  const server = createNodeServer(environment.service);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await closeNodeServer(server);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrl = `${origin}${options.basePath ?? ""}`;
  const connect = (more: Partial<ClientOptions> = {}) => createClient({ baseUrl, credentials: ALICE, ...own, ...more });
  return { ...environment, client: connect(), origin, connect };
}

/** A client whose requests are answered by a function. */
export function stubClient(respond: (request: Request) => Response | Promise<Response>): FileClient {
  const fetch: typeof globalThis.fetch = async (url, init) => respond(new Request(url, init));
  return createClient({ baseUrl: "http://files.example", credentials: { token: "abc" }, fetch });
}

/** The error that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<FileferryError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FileferryError)) throw new Error(`This is no FileferryError: ${String(error)}`);
  return error;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
