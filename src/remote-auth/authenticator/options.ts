import type { OnEvent } from "../../contracts/events/file-event.ts";
import type { Logger } from "../../contracts/logger.ts";
import { checkOption, OptionError } from "../../contracts/option-error.ts";
import { RECIPIENT_OPTIONS, type Recipient, type RecipientOptions, readRecipient } from "../../outbound/destination.ts";
import { uuidSchema } from "../../schemas/remote-auth.ts";

/**
 * How the external method asks its endpoint (4.7). Its secrets never appear in error messages, log lines or events.
 */
export interface HttpAuthenticatorOptions extends RecipientOptions {
  /**
   * The server in the requests (2.3). It takes precedence over the `server` of the credentials. Default: the
   * credentials' one, or the nil UUID.
   */
  readonly server?: { readonly uuid: string };
  /**
   * The component that received the login, in the requests (2.3). Its members take precedence over the `creator` of the
   * credentials. Default: the credentials' one, or the nil UUID and `http`.
   */
  readonly creator?: { readonly uuid?: string; readonly type?: string };
  /** Whether `start` sends a test request for a made-up account (4.7, rule 1). Default: true. */
  readonly testAtStart?: boolean;
  /** Where failures, suspensions and doubtful responses are logged. Default: the console. */
  readonly logger?: Logger;
  /** Called for every suspension, with event 40042. Default: not called. */
  readonly onEvent?: OnEvent;
}

/** {@link HttpAuthenticatorOptions}, checked and complete. */
export interface RemoteSettings extends Recipient {
  readonly server: { readonly uuid: string } | undefined;
  readonly creator: { readonly uuid?: string; readonly type?: string };
  readonly testAtStart: boolean;
  readonly logger: Logger;
  readonly onEvent: OnEvent | undefined;
}

const knownOptions: ReadonlySet<string> = new Set([
  ...RECIPIENT_OPTIONS,
  "server",
  "creator",
  "testAtStart",
  "logger",
  "onEvent",
] satisfies (keyof HttpAuthenticatorOptions)[]);

/**
 * Checks the options and fills in their defaults.
 * @throws TypeError naming the wrong option, never its value.
 */
export function readOptions(options: HttpAuthenticatorOptions): RemoteSettings {
  checkOption(typeof options === "object" && options !== null, "url", "given");
  // With a misspelt `password` or `testAtStart`, a default would apply unnoticed.
  const unknown = Object.keys(options).find((key) => !knownOptions.has(key));
  if (unknown !== undefined) throw new OptionError(unknown, "left out: it is not a known option");
  const { testAtStart = true, server, creator = {}, logger = console, onEvent } = options;
  checkOption(typeof testAtStart === "boolean", "testAtStart", "true or false");
  checkOption(server === undefined || isUuid(server?.uuid), "server", "an object with a UUID as uuid");
  checkOption(typeof creator === "object" && creator !== null, "creator", "an object");
  checkOption(creator.uuid === undefined || isUuid(creator.uuid), "creator.uuid", "a UUID");
  checkOption(creator.type === undefined || isWord(creator.type), "creator.type", "a word such as https");
  checkOption(onEvent === undefined || typeof onEvent === "function", "onEvent", "a function");
  checkOption(isLogger(logger), "logger", "an object with info, warn and error");
  return {
    ...readRecipient(options),
    server: server && { uuid: server.uuid },
    creator: { ...creator },
    testAtStart,
    logger,
    onEvent,
  };
}

function isUuid(value: unknown): boolean {
  return uuidSchema.safeParse(value).success;
}

function isWord(value: unknown): boolean {
  return typeof value === "string" && /^[!-~]+$/.test(value);
}

function isLogger(logger: Logger): boolean {
  const methods = ["info", "warn", "error"] as const;
  return typeof logger === "object" && methods.every((method) => typeof logger?.[method] === "function");
}
