import type { NamedStore, ServeSettings } from "./serve-settings.ts";

/** The stores of settings, without those of the process. */
type Stores = Pick<ServeSettings, "sessionStore" | "lockStore" | "linkStore" | "quotaStore" | "answerStore">;

/** The stores that other processes share, each place once. The key names where the configuration has it first. */
export function toStoreList(settings: Stores): readonly NamedStore[] {
  const { sessionStore, lockStore, linkStore, quotaStore, answerStore } = settings;
  const named = [sessionStore, lockStore, linkStore, quotaStore, answerStore].filter((store) => store !== undefined);
  return [...new Map(named.toReversed().map((one) => [JSON.stringify(one.store), one])).values()].toReversed();
}
