/**
 * The texts that the script of the folder page shows, in one language: the page hands them over as JSON. `{name}` in a text stands for a value.
 */
export interface ScriptTexts {
  /** Heading of the uploads: `Uploads`. */
  readonly uploads: string;
  /** Below the file field: `Or drop files and folders anywhere on this page.` */
  readonly dropHint: string;
  /** The button beside the file field that takes a whole folder: `Choose a folder`. */
  readonly chooseFolder: string;
  /** While a dropped folder is read: `Reading: {count} files so far`. */
  readonly reading: string;
  /** How far all uploads are: `{done} of {count} uploaded`. */
  readonly uploaded: string;
  /** A speed, `{speed}` such as `2.3 MB/s`, and the time that is left, `{time}` such as `2 min`: `{speed}, {time} left`. */
  readonly pace: string;
  /** What is not shown for its number: `And {count} more`. */
  readonly more: string;
  readonly waiting: string;
  readonly done: string;
  readonly cancelled: string;
  readonly skipped: string;
  /** `There is a file of this name already.` */
  readonly exists: string;
  readonly cancel: string;
  readonly cancelAll: string;
  readonly retry: string;
  readonly retryAll: string;
  readonly replace: string;
  readonly replaceAll: string;
  readonly skip: string;
  readonly skipAll: string;
  readonly close: string;
  /** `The network is lost.` */
  readonly networkLost: string;
  /** Of a dropped file or folder: `It cannot be read on this device.` */
  readonly unreadable: string;
  /** `The upload broke off.` */
  readonly brokenOff: string;
  /** `Your session has ended.` */
  readonly sessionEnded: string;
  /** The link beside it, which opens another tab: `Log in again in a new tab, then retry`. */
  readonly logInAgain: string;
  /** A refusal without a reason: `The server refused it (status {status}).` */
  readonly refused: string;
  /** A folder of an upload could not be made: `The folder {name} could not be created: {message}` */
  readonly folderFailed: string;
  /** Read out when uploads start: `Uploading {count} files.` */
  readonly started: string;
  /** Read out when one failed: `{name}: {message}` */
  readonly failed: string;
  /** Read out when all have ended: `Uploads ended: {done} of {count} uploaded.` */
  readonly ended: string;
  /** The question for one member: `Delete {name}?` */
  readonly deleteOne: string;
  /** The question for several: `Delete {count} items?` */
  readonly deleteMany: string;
  /** `Folders are deleted with everything in them. This cannot be undone.` */
  readonly deleteHint: string;
  readonly delete: string;
  /** Read out: `Deleted: {count}` */
  readonly deleted: string;
  /** On how many members a trigger was run, `{label}` what its button says: `{label}: {count} done` */
  readonly triggered: string;
  /** Beside the button for a ZIP archive, when more are chosen: `At most {count} items at once.` */
  readonly tooMany: string;
  /** Read out: `The folder {name} was created.` */
  readonly folderCreated: string;
}
