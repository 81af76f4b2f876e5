/** The part of pino's and the console's interface that we use. Details never hold a password, session ID or `Authorization` value. */
export interface Logger {
  /** Tells of what is as it should be. */
  info(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Tells of what somebody may have to look at. */
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  /** Tells of a failure of the service, not of a client. */
  error(details: Readonly<Record<string, unknown>>, message: string): void;
}
