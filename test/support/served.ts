import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createAccountsAuthenticator, createFileService } from "../../src/index.ts";
import { closeNodeServer, createNodeServer } from "../../src/node.ts";
import { createRecordingLogger } from "./logger.ts";
import { watchSecrets } from "./secrets/secrets.ts";

/** A service over a real socket. */
export interface Served {
  readonly port: number;
  readonly origin: string;
  close(): Promise<void>;
}

/** The `Authorization` of the one account of {@link serve}, whose home is the storage's root. */
export const AUTHORIZATION = `Basic ${btoa("alice:secret")}`;

/** Serves a storage on a free port. */
export async function serve(storage: StorageAdapter): Promise<Served> {
  const logger = createRecordingLogger();
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const authentication = createAccountsAuthenticator({ accounts, logger });
  const server = createNodeServer(
    createFileService({ storage, authentication, logger, onEvent: watchSecrets(logger) }),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, origin: `http://127.0.0.1:${port}`, close: () => closeNodeServer(server) };
}
