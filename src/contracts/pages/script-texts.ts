/**
 * The texts that the script of the folder page shows, in one language. The page passes them to the script as JSON.
 * `{name}` in a text stands for a value.
 */
export interface ScriptTexts {
  /** Heading of the uploads: `Uploads`. */
  readonly uploads: string;
  /** Below the file field: `Or drop files and folders anywhere on this page.` */
  readonly dropHint: string;
  /** The button next to the file field, which uploads a whole folder: `Choose a folder`. */
  readonly chooseFolder: string;
  /** If files are chosen first, on a page that asks for the sender: `Enter your name, then the files are sent.` */
  readonly senderMissing: string;
  /** While the script reads a dropped folder: `Reading: {count} files so far`. */
  readonly reading: string;
  /** The progress of all uploads: `{done} of {count} uploaded`. */
  readonly uploaded: string;
  /** The speed and the remaining time, such as `2.3 MB/s` and `2 min`: `{speed}, {time} left`. */
  readonly speed: string;
  /** The number of entries that are not shown: `And {count} more`. */
  readonly more: string;
  readonly waiting: string;
  readonly done: string;
  readonly cancelled: string;
  readonly skipped: string;
  /** `A file with this name already exists.` */
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
  /** `The network connection was lost.` */
  readonly networkLost: string;
  /** For a dropped file or folder: `The file or folder cannot be read on this device.` */
  readonly unreadable: string;
  /** After the percentage of an upload that is tried again by itself: `Interrupted, trying again` */
  readonly tryingAgain: string;
  /** After the percentage of an upload that goes on: `resumed at {percent} %` */
  readonly resumed: string;
  /** Heading of the uploads that broke off earlier: `Unfinished uploads` */
  readonly unfinished: string;
  /** `Choose the file again` */
  readonly chooseAgain: string;
  /** If that file is another one: `This is another file than the one of the unfinished upload, or it has changed.` */
  readonly otherFile: string;
  /** Ends an unfinished upload: `Discard` */
  readonly discard: string;
  /** `The upload was interrupted.` */
  readonly interrupted: string;
  /** `Your session has ended.` */
  readonly sessionEnded: string;
  /** The link after it, which opens another tab: `Log in again in a new tab, then retry`. */
  readonly logInAgain: string;
  /** For a refusal without a reason: `The server rejected the request (status {status}).` */
  readonly refused: string;
  /** If a folder of an upload could not be created: `The folder {name} could not be created: {message}` */
  readonly folderFailed: string;
  /** For screen readers, when uploads start: `Uploading {count} files.` */
  readonly started: string;
  /** For screen readers, when an upload has failed: `{name}: {message}` */
  readonly failed: string;
  /** For screen readers, when all uploads have ended: `Uploads finished: {done} of {count} uploaded.` */
  readonly ended: string;
  /** The question for one member: `Delete {name}?` */
  readonly deleteOne: string;
  /** The question for several members: `Delete {count} items?` */
  readonly deleteMany: string;
  /** `Folders are deleted with everything in them. This cannot be undone.` */
  readonly deleteHint: string;
  /** The same, where what is deleted goes to the trash. */
  readonly trashHint: string;
  readonly delete: string;
  /** For screen readers: `Deleted: {count}` */
  readonly deleted: string;
  /** The field of the dialog that renames a member: `New name of {name}` */
  readonly newName: string;
  readonly rename: string;
  /** For screen readers: `Renamed: {name}` */
  readonly renamed: string;
  /** If no folder was entered: `Enter the folder to move or copy to.` */
  readonly destinationMissing: string;
  /** `Moved: {count}` */
  readonly moved: string;
  /** `Copied: {count}` */
  readonly copied: string;
  /** The number of members that a trigger has run on; `{label}` is the text of its button: `{label}: {count} done` */
  readonly triggered: string;
  /** Next to the button for a ZIP archive, if there are too many members: `Select at most {count} items at a time.` */
  readonly tooMany: string;
  /** For screen readers: `The folder {name} was created.` */
  readonly folderCreated: string;
}
