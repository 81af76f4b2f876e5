import * as z from "zod";
import { DEFAULT_GROUP, type Groups } from "../../account/account.ts";
import { TRIGGER_STYLES } from "../../contracts/trigger.ts";
import { checkByService } from "./option-checks.ts";

/** The triggers of a configuration file. All that they do is to write a line to the log for each member. */
type TriggerEntries = z.infer<typeof triggerEntriesSchema>;

const triggerEntriesSchema = z.record(
  z.string(),
  z.strictObject({
    label: z.string().exactOptional(),
    style: z.enum(TRIGGER_STYLES).exactOptional(),
    groups: z.array(z.string()).exactOptional(),
  }),
);

/** The key `triggers` (CONTRACT 10). The service checks names and values; {@link findUnknownGroups} checks groups. */
export const triggersSchema = triggerEntriesSchema.superRefine((triggers, context) => {
  if (context.issues.length > 0) return;
  checkByService((entries: TriggerEntries) => ({ triggers: withoutGroups(entries) }))(triggers, context);
});

/** The paths of groups that the configuration does not have. */
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
