import { z } from "zod";
import { DEFAULT_GROUP, type Groups } from "../../account/account.ts";
import { TRIGGER_STYLES } from "../../contracts/trigger.ts";
import { byService } from "./option-checks.ts";

/** Triggers as a configuration file has them: all they do is a line in the log for each member. */
type TriggerEntries = z.infer<typeof triggerEntriesSchema>;

const triggerEntriesSchema = z.record(
  z.string(),
  z.strictObject({
    label: z.string().exactOptional(),
    style: z.enum(TRIGGER_STYLES).exactOptional(),
    groups: z.array(z.string()).exactOptional(),
  }),
);

/** The key `triggers` (CONTRACT 10). What its names and members must be, the service knows; of the groups see {@link findUnknownGroups}. */
export const triggersSchema = triggerEntriesSchema.superRefine((triggers, context) => {
  if (context.issues.length > 0) return;
  byService((entries: TriggerEntries) => ({ triggers: withoutGroups(entries) }))(triggers, context);
});

/** The places of groups that are not among those of the configuration. */
export function findUnknownGroups(
  triggers: TriggerEntries = {},
  known: Groups,
): readonly (readonly (string | number)[])[] {
  return Object.entries(triggers).flatMap(([name, { groups = [] }]) =>
    groups.flatMap((id, index) => (id === DEFAULT_GROUP || known.has(id) ? [] : [["triggers", name, "groups", index]])),
  );
}

function withoutGroups(triggers: TriggerEntries): TriggerEntries {
  return Object.fromEntries(Object.entries(triggers).map(([name, { groups: _groups, ...entry }]) => [name, entry]));
}
