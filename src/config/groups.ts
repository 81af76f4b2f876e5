import type { Groups } from "../account/account.ts";
import { compilePermissions } from "../account/permissions.ts";
import type { GroupSettings } from "../contracts/account.ts";
import { checkOption } from "../contracts/option-error.ts";
import { groupSettingsSchema } from "../schemas/account.ts";
import { isObject } from "./checks.ts";

/** Checks groups and their permissions. @throws OptionError for an option such as `groups.staff.home_folder_path`. */
export function toGroups(groups: Readonly<Record<string, unknown>>): Groups {
  checkOption(isObject(groups), "groups", "groups by their identifier");
  const parsed = Object.entries(groups).map(([id, settings]) => [id, toGroup(id, settings)] as const);
  return new Map(parsed);
}

function toGroup(id: string, settings: unknown): GroupSettings {
  const parsed = groupSettingsSchema.safeParse(settings);
  const issue = parsed.error?.issues[0];
  checkOption(parsed.success, ["groups", id, ...(issue?.path ?? [])].join("."), `valid (${issue?.message})`);
  const group = parsed.data as GroupSettings;
  const problem = findPermissionProblem(group);
  checkOption(problem === undefined, `groups.${id}.permissions`, `valid (${problem})`);
  return group;
}

function findPermissionProblem({ permissions = [] }: GroupSettings): string | undefined {
  try {
    compilePermissions(permissions, "user");
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
