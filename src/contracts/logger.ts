/**
 * A logger: the part of the interface of pino and of the console that the service uses. Details never hold a password,
 * a session ID or an `Authorization` value.
 */
export interface Logger {
  /** Logs normal operation. */
  info(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Logs something that an operator may have to look at. */
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Logs a failure of the service itself, not a client's error. */
  error(details: Readonly<Record<string, unknown>>, message: string): void;
}
