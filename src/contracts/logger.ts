/** The part of pino's and the console's interface that we use. Details never hold a password, session ID or `Authorization` value. */
export interface Logger {
  info(details: Readonly<Record<string, unknown>>, message: string): void;
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  error(details: Readonly<Record<string, unknown>>, message: string): void;
}
