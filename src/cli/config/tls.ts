import { readFile } from "node:fs/promises";
import type { NodeTlsOptions } from "../../runtimes/node/server.ts";
import { describeSystemError } from "../failure.ts";
import { addProblem, type ConfigContext, toOneLine } from "./context.ts";
import type { ConfigFile } from "./schema.ts";

type TlsFiles = NonNullable<NonNullable<ConfigFile["listen"]>["tls"]>;

/** Reads the files of `listen.tls`. If one is wrong, it adds the problem to the context and returns `undefined`. */
export async function readTlsFiles(files: TlsFiles, context: ConfigContext): Promise<NodeTlsOptions | undefined> {
  const key = await readTlsFile("key", files.key, context);
  const cert = await readTlsFile("cert", files.cert, context);
  const ca = files.ca === undefined ? undefined : await readTlsFile("ca", files.ca, context);
  if (key === undefined || cert === undefined || (ca === undefined && files.ca !== undefined)) return undefined;
  // As an import of this file it would take 0.2 MB in each run: Node then makes the list of its root certificates.
  const { createSecureContext } = await import("node:tls");
  const tls = { key, cert, ...(ca === undefined ? undefined : { ca }) };
  try {
    createSecureContext(tls);
    return tls;
  } catch (error) {
    addProblem(
      context,
      "listen.tls",
      `the key and certificates are not usable: ${toOneLine((error as Error).message)}`,
    );
    return undefined;
  }
}

async function readTlsFile(member: keyof TlsFiles, path: string, context: ConfigContext): Promise<Buffer | undefined> {
  try {
    return await readFile(context.toPath(path));
  } catch (error) {
    addProblem(context, `listen.tls.${member}`, `cannot be read: ${describeSystemError(error)}`);
    return undefined;
  }
}
