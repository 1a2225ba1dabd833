/** Lists of any length, page by page: a few pages are kept, and of those above them the cursors and heights. */

import { useInfiniteQuery, useMutation, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { getSession, subscribe } from "../session/session";

export type Page = { next?: string; hidden?: boolean };

/** A page above those that are kept: where it begins, and how many pixels high it was. */
type PageAbove = { cursor: string; height: number };

/** The number of pages that stay in the document, however far somebody scrolls. */
const KEPT_PAGES = 3;

/** The pages above those that are kept, by list. */
const above = new Map<string, PageAbove[]>();

subscribe(() => {
  if (getSession().principal === undefined) above.clear();
});

/** A list whose pages come and go. */
export type Pages<P extends Page> = {
  data: InfiniteData<P, string> | undefined;
  error: Error | null;
  isFetching: boolean;
  isMoving: boolean; // another page is being loaded; not if those that are shown are loaded again
  above: readonly PageAbove[];
  loadNext: () => void;
  /** Loads a page above: the one before the kept ones joins them, any other takes their place. */
  loadAbove: (at: number) => void;
  /** Takes note that the kept pages begin elsewhere; `by` is how far rows that stay have moved. Returns what to scroll by. */
  moveStart: (from: string, to: string, by: number) => number;
};

/** Load a list page by page; `refresh` (ms) reloads it while only its first page is shown. */
export function usePages<P extends Page>(
  key: unknown[],
  load: (after: string | undefined) => Promise<P>,
  options: { enabled?: boolean; refresh?: number | false } = {},
): Pages<P> {
  const client = useQueryClient();
  const name = JSON.stringify(key);
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => load(pageParam || undefined),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    getPreviousPageParam: () => above.get(name)?.at(-1)?.cursor,
    maxPages: KEPT_PAGES,
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : (options.refresh ?? false)),
  });
  if (query.data === undefined) above.delete(name);
  const findAbove = () => above.get(name) ?? [];
  const jump = useMutation({
    mutationKey: key,
    mutationFn: async (cursor: string) => {
      const page = await load(cursor || undefined);
      client.setQueryData<InfiniteData<P, string>>(key, { pages: [page], pageParams: [cursor] });
    },
    gcTime: 0,
  });
  const isFetching = query.isFetching || jump.isPending;
  /** True while a page is on its way, or has come and isn't shown yet: `above` doesn't know it, and it would be loaded twice. */
  const isBusy = () =>
    client.isFetching({ queryKey: key, exact: true }) > 0 ||
    client.isMutating({ mutationKey: key, exact: true }) > 0 ||
    client.getQueryData(key) !== query.data;
  return {
    data: query.data as InfiniteData<P, string> | undefined,
    error: query.error ?? jump.error,
    isFetching,
    isMoving: query.isFetchingNextPage || query.isFetchingPreviousPage || jump.isPending,
    get above() {
      return findAbove(); // as it is once the rows have moved
    },
    loadNext: () => {
      if (query.hasNextPage && !isBusy()) void query.fetchNextPage();
    },
    loadAbove: (at) => {
      const list = findAbove();
      const wanted = list[at];
      if (isBusy() || wanted === undefined) return;
      if (at === list.length - 1) void query.fetchPreviousPage();
      else jump.mutate(wanted.cursor);
    },
    moveStart: (from, to, by) => {
      const known = findAbove();
      const at = known.findIndex(({ cursor }) => cursor === to);
      above.set(name, at === -1 ? [...known, { cursor: from, height: -by }] : known.slice(0, at));
      return at !== -1 && at === known.length - 1 ? by - known[at]!.height : 0;
    },
  };
}
