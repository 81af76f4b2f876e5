import type { Logger } from "../../contracts/logger.ts";
import { readConfigFile } from "../config/file.ts";
import type { ConfigFile } from "../config/schema.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { type Finding, toFindings, warning } from "../findings.ts";

/** A configuration that is valid, and what it makes. */
export interface Examined {
  readonly file: string;
  readonly config: ConfigFile;
  readonly settings: ServeSettings;
}

/** Reads a configuration and yields what is wrong with it, or what `describe` finds. */
export async function* examine(
  file: string,
  describe: (examined: Examined) => AsyncIterable<Finding>,
): AsyncGenerator<Finding> {
  const warnings: Finding[] = [];
  const logger: Logger = {
    info: () => undefined,
    warn: (_details, message) => void warnings.push(warning("configuration", message)),
    error: (_details, message) => void warnings.push(warning("configuration", message)),
  };
  let config: ConfigFile | undefined;
  // The service itself makes the file of events, with its own rights.
  const adjust = (read: ConfigFile): ConfigFile => {
    config = read;
    const { events: { file: _file, ...events } = {}, ...others } = read;
    return { ...others, events };
  };
  try {
    const settings = await readConfigFile(file, () => logger, { adjust });
    if (config !== undefined) yield* describe({ file, config, settings });
    for (const sink of settings.sinks ?? []) await sink.close();
  } catch (error) {
    yield* toFindings(error);
  }
  yield* warnings;
}
