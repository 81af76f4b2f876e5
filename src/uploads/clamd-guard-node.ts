import { checkNames, checkOption } from "../contracts/option-error.ts";
import type { Upload, UploadGuard } from "../contracts/upload.ts";
import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import { beginScan, type ClamdAddress, type ClamdScan, type ScanAnswer } from "./clamd/scan-node.ts";

/** Options of {@link createClamdGuard}. */
export interface ClamdOptions {
  /** Where clamd listens: `host:port`, or the path of a socket, which begins with `/`. */
  readonly clamd: string;
  /**
   * The size of the largest file that is scanned, in bytes. It should be that of clamd's `StreamMaxLength`. Default:
   * 104,857,600 (100 MiB).
   */
  readonly maxBytes?: number;
  /** What happens to a larger file: 413, or it is accepted without a scan. Default: `refuse`. */
  readonly onTooLarge?: "refuse" | "pass";
  /** What happens if clamd does not answer: 503, or the file is accepted without a scan. Default: `refuse`. */
  readonly onUnavailable?: "refuse" | "pass";
  /** How long clamd may take for each step: to connect and read a chunk, and to answer. Seconds. Default: 60. */
  readonly timeoutSeconds?: number;
}

const NAMES = ["clamd", "maxBytes", "onTooLarge", "onUnavailable", "timeoutSeconds"];
const POLICIES: readonly unknown[] = ["refuse", "pass"];
const MAX_SECONDS = 3600;
/** The guard answers before its own time is over. */
const SPARE_SECONDS = 10;
const RETRY = { "Retry-After": "10" };
const VIRUS_NAME = /^[\x20-\x7e]{1,100}$/;

/** What is known of an upload: its scan, or that it is not scanned any more. */
type State = ClamdScan | "skipped" | "unavailable";

/**
 * Creates a guard that has each upload scanned by ClamAV's clamd before anyone can see it, over one connection for each
 * upload (`INSTREAM`). A virus is 422. What happens to files that cannot be scanned is an option.
 * @throws OptionError
 */
export function createClamdGuard(options: ClamdOptions): UploadGuard {
  const { address, maxBytes, onTooLarge, onUnavailable, timeoutSeconds } = toChecked(options);
  const states = new WeakMap<Upload, State>();

  function toState(upload: Upload): State {
    const state = states.get(upload) ?? beginScan(address, 1000 * timeoutSeconds);
    states.set(upload, state);
    return state;
  }

  /** Ends the scan: the upload goes on without, or fails. */
  function giveUp(upload: Upload, result: "skipped" | "unavailable", toError: () => HttpError): void {
    const state = states.get(upload);
    states.set(upload, result);
    if (typeof state === "object") state.cancel();
    if ((result === "skipped" ? onTooLarge : onUnavailable) === "refuse") throw toError();
  }

  function skip(upload: Upload): void {
    giveUp(upload, "skipped", () => createError("scan-too-large"));
  }

  /** @throws HttpError for a virus, and for a file that is refused without a scan. */
  function judge(upload: Upload, answer: ScanAnswer | undefined): void {
    if (answer === "too-large") skip(upload);
    if (typeof answer !== "object") return;
    const name = VIRUS_NAME.test(answer.virus) ? answer.virus : "unknown";
    throw createError("upload-infected", { values: { name } });
  }

  /** Runs a step of a scan. Returns `undefined` if clamd fails, and the upload goes on without. */
  async function scan<T>(upload: Upload, run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (cause) {
      giveUp(upload, "unavailable", () => createError("scan-unavailable", { headers: RETRY, cause }));
      return undefined;
    }
  }

  return {
    timeoutSeconds: timeoutSeconds + SPARE_SECONDS,
    async receive(upload, chunk) {
      const state = toState(upload);
      if (typeof state === "string") return;
      if (upload.size > maxBytes) skip(upload);
      else judge(upload, await scan(upload, () => state.send(chunk)));
    },
    async decide(upload) {
      const state = toState(upload);
      if (typeof state === "object") {
        const answer = await scan(upload, () => state.finish());
        state.cancel();
        judge(upload, answer);
        if (answer === "clean") upload.scan = "clean";
      }
      const now = states.get(upload);
      if (typeof now === "string") upload.scan = now;
      return undefined;
    },
    abandon(upload) {
      const state = states.get(upload);
      if (typeof state === "object") state.cancel();
    },
  };
}

function toChecked(options: ClamdOptions) {
  checkOption(typeof options === "object" && options !== null, "options", "an object with the member clamd");
  checkNames(options, NAMES, "");
  const {
    clamd,
    maxBytes = 104_857_600,
    onTooLarge = "refuse",
    onUnavailable = "refuse",
    timeoutSeconds = 60,
  } = options;
  const address = typeof clamd === "string" ? parseAddress(clamd) : undefined;
  checkOption(Number.isSafeInteger(maxBytes) && maxBytes > 0, "maxBytes", "a whole number of bytes");
  checkOption(POLICIES.includes(onTooLarge), "onTooLarge", '"refuse" or "pass"');
  checkOption(POLICIES.includes(onUnavailable), "onUnavailable", '"refuse" or "pass"');
  const isTime = typeof timeoutSeconds === "number" && timeoutSeconds > 0 && timeoutSeconds <= MAX_SECONDS;
  checkOption(isTime, "timeoutSeconds", `a number of seconds, at most ${MAX_SECONDS}`);
  checkOption(address !== undefined, "clamd", "host:port, or the path of a socket such as /run/clamav/clamd.ctl");
  return { address: address as ClamdAddress, maxBytes, onTooLarge, onUnavailable, timeoutSeconds };
}

function parseAddress(text: string): ClamdAddress | undefined {
  if (text.startsWith("/") && !text.includes("\0")) return { path: text };
  const [, ipv6, name, port = ""] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = ipv6 ?? name;
  return host === undefined || Number(port) < 1 || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}
