import type { Logger } from "../../contracts/logger.ts";
import { createTerminalLogger, type Output } from "../log/terminal.ts";
import { readConfigFile } from "./file.ts";
import type { ConfigFile } from "./schema.ts";
import type { ServeSettings } from "./serve-settings.ts";

/**
 * Reads a configuration for a command that works while the service runs. What is wrong at the start of the service
 * is said there, so only errors are logged. Rejects as {@link readConfigFile} does.
 */
export function readWithoutServer(file: string, stderr: Output, origin?: string): Promise<ServeSettings> {
  const logger: Logger = { ...createTerminalLogger(stderr, { quiet: true }), warn: () => undefined };
  const adjust = ({ listen: _listen, metrics: _metrics, events, ...config }: ConfigFile): ConfigFile => ({
    ...config,
    // The running service renames a file that is full: two processes must not.
    ...(events !== undefined && { events: { ...events, maxBytes: 0 } }),
    ...(origin !== undefined && { publicOrigin: origin }),
  });
  return readConfigFile(file, () => logger, { adjust });
}
