import type { RequestPermits } from "../limits/permits.ts";

/** Runs a request with its permits, and reports its response to them. Releases them if the request fails. */
export async function withPermits<T>(permits: RequestPermits, run: () => Promise<T>): Promise<T> {
  const all = [permits.transferPermit, permits.pagePermit, permits.bodyPermit];
  try {
    const response = await run();
    for (const permit of all) permit.responded();
    return response;
  } catch (error) {
    for (const permit of all) permit.release();
    throw error;
  }
}
