/** Numbers and bytes of uploads. */
export interface UploadAmount {
  readonly count: number;
  readonly bytes: number;
}

/**
 * What accounts may create before their uploads are counted again, which takes the longer the more there are: thousands
 * of small files have an upload each, and finished ones are known for a while.
 */
export interface UploadRooms {
  /** Takes the room of an upload. False: there is none, and the uploads of the account must be counted. */
  take(account: string, bytes: number): boolean;
  /** Gives an account a share of what its limits leave, as counted just now. */
  give(account: string, left: UploadAmount): void;
}

/** Other processes count for themselves: eight together stay within the limits. */
const SHARE = 1 / 8;
const MAX_AGE_SECONDS = 10;
const MAX_ACCOUNTS = 1000;

interface Room extends UploadAmount {
  readonly until: number;
}

/** Creates the rooms of a service. `clock` is in milliseconds. */
export function createUploadRooms(clock: () => number): UploadRooms {
  const rooms = new Map<string, Room>();

  function take(account: string, bytes: number): boolean {
    const room = rooms.get(account);
    if (room === undefined || room.count < 1 || room.bytes < bytes || clock() > room.until) return false;
    rooms.set(account, { ...room, count: room.count - 1, bytes: room.bytes - bytes });
    return true;
  }

  function give(account: string, { count, bytes }: UploadAmount): void {
    rooms.delete(account);
    const [oldest] = rooms.keys();
    if (rooms.size >= MAX_ACCOUNTS && oldest !== undefined) rooms.delete(oldest);
    rooms.set(account, { count: count * SHARE, bytes: bytes * SHARE, until: clock() + 1000 * MAX_AGE_SECONDS });
  }

  return { take, give };
}
