import type { OwnedUpload, OwnedUploads } from "../account/uploads/owned-uploads.ts";
import type { UploadLink } from "../account/uploads/upload-note.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { Connection } from "../contracts/connection.ts";
import type { EventLink } from "../contracts/events/envelope.ts";
import type { Emit } from "../events/emitter.ts";
import { ERRORS } from "../http/errors.ts";
import type { LinkService } from "../request/context.ts";
import type { ReportError } from "../request/errors.ts";
import { isSilent, toTotals, toUploadData, UPLOAD_LOST } from "../transfers/uploads/events.ts";
import { findFinishedFile, isExpired, isUnreported } from "../transfers/uploads/expiry.ts";

/** Ends resumable uploads that have expired, or that are lost with their folder. */
export interface Sweeper {
  /** Ends what has expired or is lost, and returns how much that was. Several processes may do it at once. */
  sweep(signal?: AbortSignal): Promise<number>;
  /** Sweeps, unless that was done in the last ten minutes. Does not wait for it; a failure is reported. */
  sweepSoon(connection: Connection): void;
}

/** What a sweeper needs of its service. */
export interface SweeperOptions {
  readonly config: Omit<ServiceConfig, "storage">;
  /** Absent: the storage has none. */
  readonly uploads: OwnedUploads | undefined;
  /** Absent: the service has no links. */
  readonly links: Pick<LinkService, "sealed"> | undefined;
  readonly emit: Emit;
  readonly report: ReportError;
  /** Keeps a runtime alive that stops at the end of a request. */
  readonly waitFor: (connection: Connection, work: Promise<void>) => void;
}

const INTERVAL_MS = 600_000;

/** Creates the sweeper of a service. It has no timer: not every runtime has one. */
export function createSweeper({ config, uploads, links, emit, report, waitFor }: SweeperOptions): Sweeper {
  const { clock } = config;
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function sweep(signal?: AbortSignal): Promise<number> {
    const { uploads: times } = config;
    if (uploads === undefined || times === undefined) return 0;
    sweptAt = clock();
    let count = 0;
    for await (const upload of uploads.list()) {
      signal?.throwIfAborted();
      const { lost = false } = upload.state;
      if (!lost && !isExpired(upload, times, clock())) continue;
      const discarded = await uploads.discard(upload);
      if (discarded === undefined) continue;
      count += 1;
      const isFinished = findFinishedFile(upload) !== undefined;
      // Another process may have completed it since it was listed, and emits its event.
      if (discarded === "done" && !isFinished) continue;
      emitEnd(upload);
      if (!isFinished && !isSilent(upload.note)) await giveBackUse(upload);
    }
    return count;
  }

  /** Emits the event of an upload that has ended, if none was emitted yet. Its envelope is that of the creation. */
  function emitEnd(upload: OwnedUpload): void {
    const { account: name, note, state } = upload;
    const { link } = note;
    const envelope = {
      ...(link && { link: toEventLink(link) }),
      account: { ...note.account, name },
      component: { uuid: config.component.uuid, type: note.component },
      ...(note.trace !== undefined && { trace: note.trace }),
    };
    const file = findFinishedFile(upload);
    if (file === undefined && !isSilent(note)) {
      const details = state.lost === true ? UPLOAD_LOST : ERRORS["upload-gone"][1];
      const data = { ...toUploadData(upload), ...toTotals(upload, state.offset, clock()), details };
      emit({ id: 40022, data, ...envelope });
    } else if (file !== undefined && isUnreported(upload)) {
      const data = { ...toUploadData(upload), ...toTotals(upload, file.size, file.modified.getTime()) };
      emit({ id: 40017, data, ...envelope });
    }
  }

  /** An upload that has ended gives the use of its link back, if the link is still there. A failure is reported. */
  async function giveBackUse({ note: { link } }: OwnedUpload): Promise<void> {
    const { stored, uses } = links?.sealed ?? {};
    if (link === undefined || stored === undefined || uses === undefined) return;
    try {
      const record = await stored.find(link.id);
      if (record?.maxUses === undefined) return;
      await uses.giveBack({ id: record.id, expires: record.expires, maxUses: record.maxUses }, "upload");
    } catch (error) {
      report(error);
    }
  }

  function sweepSoon(connection: Connection): void {
    if (Math.abs(clock() - sweptAt) < INTERVAL_MS) return;
    sweptAt = clock();
    waitFor(
      connection,
      sweep().then(() => undefined, report),
    );
  }

  return { sweep, sweepSoon };
}

/** The link of an upload, without what only the service needs of it. */
function toEventLink({ id, label, sender }: UploadLink): EventLink {
  return { id, label, ...(sender !== undefined && { sender }) };
}
