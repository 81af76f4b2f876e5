import type { UploadItem, UploadList } from "fileferry/react";
import { toMessage } from "./messages.ts";
import { toSize } from "./text.ts";

export interface UploadRowsProps extends Pick<UploadList, "uploads" | "abort" | "clear"> {
  readonly retry: (id: string, overwrite: boolean) => void;
}

/** The uploads, with what the user can do with each. */
export function UploadRows({ uploads, abort, retry, clear }: UploadRowsProps) {
  if (uploads.length === 0) return null;
  const done = uploads.filter(({ state }) => state === "done").length;
  return (
    <section aria-label="Uploads">
      <p role="status">
        {done} of {uploads.length} files uploaded
      </p>
      <ul>
        {uploads.map((upload) => (
          <UploadRow key={upload.id} upload={upload} abort={abort} retry={retry} />
        ))}
      </ul>
      <button type="button" onClick={() => clear()}>
        Clear the list
      </button>
    </section>
  );
}

interface UploadRowProps extends Pick<UploadRowsProps, "abort" | "retry"> {
  readonly upload: UploadItem;
}

function UploadRow({ upload, abort, retry }: UploadRowProps) {
  const { id, name, state, error } = upload;
  const exists = error?.code === "already-exists";
  return (
    <li>
      <span className="name">{name}</span>
      <Progress upload={upload} />
      {(state === "waiting" || state === "uploading") && (
        <button type="button" aria-label={`Abort ${name}`} onClick={() => abort(id)}>
          Abort
        </button>
      )}
      {(state === "failed" || state === "aborted") && (
        <button
          type="button"
          aria-label={`${exists ? "Replace" : "Try again"}: ${name}`}
          onClick={() => retry(id, exists)}
        >
          {exists ? "Replace" : "Try again"}
        </button>
      )}
    </li>
  );
}

function Progress({ upload: { name, state, sent, total, error } }: { readonly upload: UploadItem }) {
  if (error) {
    return (
      <span role="alert" className="failure">
        {toMessage(error)}
      </span>
    );
  }
  if (state !== "uploading")
    return <span>{{ waiting: "Waiting", done: "Done", aborted: "Aborted", failed: "" }[state]}</span>;
  return (
    <>
      <progress aria-label={`Progress of ${name}`} value={sent} max={total} />
      <span>
        {toSize(sent)} of {toSize(total)}
      </span>
    </>
  );
}
