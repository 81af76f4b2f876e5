import { stat } from "node:fs/promises";
import type { Server } from "node:http";
import type { Logger } from "../contracts/logger.ts";
import type { NodeTlsOptions } from "../runtimes/node/server.ts";
import { failureOf } from "./failure.ts";

const CERTIFICATE_CHECK_MS = 10_000;

/** What can be read again while a service runs. */
export interface Reloads {
  /** The paths of the key and the certificates; none without TLS. */
  readonly tlsFiles: readonly string[];
  /** The result of `describeTlsFiles` from before the start read these files. */
  readonly tlsVersion: string;
  /** Reads the key and the certificates. Rejects with a failure if they are not usable. */
  readTls(): Promise<NodeTlsOptions | undefined>;
  /** Reads the accounts of the configuration. Rejects with a failure if it is not valid. */
  readAccounts(): Promise<void>;
  /** Returns the configuration of the start, with the accounts that were read last: a value of JSON. */
  currentConfig(): unknown;
}

/**
 * Returns a function that reads everything again, without a failed request: connections stay, and new ones get the new
 * certificate. What is wrong is logged, and stays as it was. Also watches the certificates until `stop` is called.
 */
export function createReloader(
  server: Server,
  reloads: Reloads,
  logger: Logger,
): { reload(): Promise<void>; stop(): void } {
  let known = reloads.tlsVersion;

  async function attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      logger.info({}, `${what} were read again.`);
    } catch (error) {
      const problems = failureOf(error)?.problems ?? [(error as Error).message];
      logger.error({ problems }, `${what} could not be read again, and stay as they were.`);
    }
  }

  async function reloadTls(): Promise<void> {
    known = await describeTlsFiles(reloads.tlsFiles);
    const tls = await reloads.readTls();
    if (tls === undefined) return;
    const { Server: TlsServer } = await import("node:tls");
    if (server instanceof TlsServer) server.setSecureContext({ key: tls.key, cert: tls.cert, ...toCa(tls) });
  }

  async function checkCertificates(): Promise<void> {
    const found = await describeTlsFiles(reloads.tlsFiles);
    if (found !== known && !found.includes("missing")) await attempt("The certificates", reloadTls);
  }

  const hasTls = reloads.tlsFiles.length > 0;
  const timer = hasTls ? setInterval(checkCertificates, CERTIFICATE_CHECK_MS) : undefined;
  timer?.unref();

  async function reload(): Promise<void> {
    await attempt("The accounts", reloads.readAccounts);
    if (hasTls) await attempt("The certificates", reloadTls);
  }

  return { reload, stop: () => clearInterval(timer) };
}

/** A text that changes when one of the files does. Links are followed: tools for certificates replace them. */
export async function describeTlsFiles(paths: readonly string[]): Promise<string> {
  const described = paths.map(async (path) => {
    const found = await stat(path).catch(() => undefined);
    return found === undefined ? "missing" : `${found.ino} ${found.mtimeMs} ${found.size}`;
  });
  return (await Promise.all(described)).join();
}

function toCa({ ca }: NodeTlsOptions): { ca?: string | Buffer | (string | Buffer)[] } {
  if (ca === undefined) return {};
  return { ca: typeof ca === "string" || Buffer.isBuffer(ca) ? ca : [...(ca as readonly (string | Buffer)[])] };
}

/** The order to read the configuration again. One that comes before the service can do so is remembered. */
export interface ReloadOrder {
  give(): void;
  /** Sets what is called for each order, and calls it if there was one. */
  onReload(reload: () => void): void;
}

/** Creates the order. `meanwhile` is called for each one that is only remembered. */
export function createReloadOrder(meanwhile: () => void = () => undefined): ReloadOrder {
  let isDue = false;
  let give = (): void => {
    isDue = true;
    meanwhile();
  };

  function onReload(reload: () => void): void {
    give = reload;
    if (isDue) reload();
  }

  return { give: () => give(), onReload };
}
