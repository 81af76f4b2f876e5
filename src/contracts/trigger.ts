/**
 * A command of the integrator's own on members of a folder (4.3, 4.6): a form action and a POST command of the same name, which has up to 64 letters, digits, `-` and
 * `_`, a letter or digit first, and is not that of a built-in one.
 */
export interface Trigger {
  /** What its button says. Default: the trigger's name. */
  readonly label?: string;
  /** How its button looks. Default: `neutral`. */
  readonly style?: TriggerStyle;
  /** The groups whose accounts have it, by their identifier. Default, and empty: all. */
  readonly groups?: readonly string[];
  /**
   * Acts on a member. It is called for each named member that is there, one after the other, with that one in `members`; what it throws fails
   * that member alone. The message of an `HttpError` is shown to the client, any other error is logged and shown as a blank failure. Whichever it is, event 40043 tells of it.
   * Default: nothing is done beside the event.
   */
  run?(context: TriggerContext, members: readonly TriggerMember[]): unknown;
}

/** How the button of a trigger can look. */
export const TRIGGER_STYLES = ["neutral", "success", "warning", "danger"] as const;

/**
 * How the button of a trigger can look.
 *
 * @useDeclaredType
 */
export type TriggerStyle = (typeof TRIGGER_STYLES)[number];

/** Who has asked for a trigger, and where. */
export interface TriggerContext {
  /** The trigger's name. */
  readonly trigger: string;
  readonly account: { readonly name: string; readonly uuid: string; readonly email: string; readonly group: string };
  /** The folder's virtual path, such as `/reports`; `/` for the root. */
  readonly folder: string;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** A member of the folder that a trigger acts on. */
export interface TriggerMember {
  readonly name: string;
  readonly kind: "file" | "folder";
  /** Its virtual path, such as `/reports/a.csv`. */
  readonly path: string;
}
