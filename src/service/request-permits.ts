import type { RequestPermits } from "../limits/permits.ts";

/** Releases the permits of a request that fails, and tells them of its response. */
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
