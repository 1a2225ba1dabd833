/** Reloads what a change has made stale. */

import type { QueryClient } from "@tanstack/react-query";

/** Load all of these subjects that are shown. A first load that is under way ends: it may have read before the change. */
export async function reload(client: QueryClient, ...subjects: string[]): Promise<void> {
  await Promise.all(subjects.map(async (subject) => {
    await client.cancelQueries({ queryKey: [subject] });
    await client.invalidateQueries({ queryKey: [subject] });
  }));
}
