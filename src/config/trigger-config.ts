import { DEFAULT_GROUP } from "../account/account.ts";
import { checkOption } from "../contracts/option-error.ts";
import { TRIGGER_STYLES, type Trigger } from "../contracts/trigger.ts";
import { COMMANDS } from "../schemas/commands.ts";
import { FORM_ACTIONS, SHARE_ACTION } from "../uploads/form.ts";
import type { FileServiceOptions } from "./options.ts";

/** The triggers of a service by name. */
export type Triggers = ReadonlyMap<string, Trigger>;

const NAME = /^[0-9A-Za-z][\w-]{0,63}$/;
const TAKEN: readonly string[] = [...FORM_ACTIONS, SHARE_ACTION, ...COMMANDS];

/** Checks the option `triggers`. @throws OptionError for an option such as `triggers.approve.label`. */
export function toTriggers({ triggers = {}, groups = {} }: FileServiceOptions): Triggers {
  checkOption(isObject(triggers), "triggers", "triggers by their names");
  return new Map(Object.entries(triggers).map(([name, trigger]) => [name, toTrigger(name, trigger, groups)]));
}

/** The triggers that exist for the accounts of a group (4.3). */
export function triggersOf(triggers: Triggers, group: string): Triggers {
  return new Map([...triggers].filter(([, { groups = [] }]) => groups.length === 0 || groups.includes(group)));
}

function toTrigger(name: string, trigger: Trigger, known: object): Trigger {
  const option = `triggers.${name}`;
  const hasGoodName = NAME.test(name) && !TAKEN.includes(name);
  checkOption(hasGoodName, option, "named with letters, digits, - and _, and not as a built-in command");
  checkOption(isObject(trigger), option, "an object");
  const { label = name, style = "neutral", groups = [], run } = trigger;
  checkOption(typeof label === "string" && /\S/.test(label), `${option}.label`, "a text");
  checkOption(TRIGGER_STYLES.includes(style), `${option}.style`, `one of ${TRIGGER_STYLES.join(", ")}`);
  const areGroups = Array.isArray(groups) && groups.every((id) => id === DEFAULT_GROUP || Object.hasOwn(known, id));
  checkOption(areGroups, `${option}.groups`, "a list of groups");
  checkOption(run === undefined || typeof run === "function", `${option}.run`, "a function");
  // Called as a method: the object that the integrator gave may have state of its own.
  return { label, style, groups: [...groups], run: (context, members) => trigger.run?.(context, members) };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
