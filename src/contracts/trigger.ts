/**
 * A command of your own on members of a folder (4.3, 4.6). It becomes a form action and a POST command with the
 * trigger's name. The name has up to 64 letters, digits, `-` and `_`, and begins with a letter or digit. It must not be
 * the name of a built-in action or command.
 */
export interface Trigger {
  /** The text of its button. Default: the trigger's name. */
  readonly label?: string;
  /** The look of its button. Default: `neutral`. */
  readonly style?: TriggerStyle;
  /** The identifiers of the groups whose accounts may use it. Default, and if the list is empty: all groups. */
  readonly groups?: readonly string[];
  /**
   * Runs the trigger on a member. It is called for each requested member that exists, one after the other, with this
   * member as the only entry of `members`. If it throws, only this member fails. The client sees the message of an
   * `HttpError`; any other error is logged, and the client sees a general message. Event 40043 is emitted in each case.
   * Default: only the event is emitted.
   */
  run?(context: TriggerContext, members: readonly TriggerMember[]): unknown;
}

/** The looks of a trigger's button. */
export const TRIGGER_STYLES = ["neutral", "success", "warning", "danger"] as const;

/**
 * The look of a trigger's button.
 *
 * @useDeclaredType
 */
export type TriggerStyle = (typeof TRIGGER_STYLES)[number];

/** Which account runs a trigger, and in which folder. */
export interface TriggerContext {
  /** The trigger's name. */
  readonly trigger: string;
  readonly account: { readonly name: string; readonly uuid: string; readonly email: string; readonly group: string };
  /** The folder's virtual path, such as `/reports`; `/` for the root. */
  readonly folder: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A member of the folder that a trigger runs on. */
export interface TriggerMember {
  readonly name: string;
  readonly kind: "file" | "folder";
  /** The member's virtual path, such as `/reports/a.csv`. */
  readonly path: string;
}
