/** Shows a list of any length, with the height of all that was scrolled past. */

import { Component, createRef, useDeferredValue, useEffect, useLayoutEffect, useReducer, useRef, type ReactNode } from "react";
import { T } from "../texts";
import { Loading, Problem } from "./data";
import type { Page, Pages } from "./pages";

export { usePages } from "./pages";

/** The screens ahead at which the next page is loaded, so that a visitor does not wait for it at the end. */
const SCREENS_AHEAD = 1.5;
/** The pages without a match that are skipped before somebody has to ask for more. */
const SEARCHED_PAGES = 20;
const ROWS = "tbody tr, .messages > li, .cards > li, .memories > li";

type ListProps<P extends Page, T> = {
  pages: Pages<P>;
  items: (page: P) => T[];
  empty: ReactNode;
  also?: number; // how many more the children show
  isByButton?: boolean; // for lists that something follows, which scrolling has to reach
  children: (items: T[]) => ReactNode;
};

/** Shows the pages of a list that are loaded. Scrolling loads the next; pages far above leave the document. */
export function List<P extends Page, T>({ pages, items, empty, also = 0, isByButton = false, children }: ListProps<P, T>) {
  const data = useDeferredValue(pages.data); // rows are made bit by bit, without stopping the page
  const [, render] = useReducer((count: number) => count + 1, 0);
  const all = data?.pages.flatMap(items) ?? [];
  const { start, end, scrollBy } = useScrolling(pages, data, { isByButton, isEmpty: all.length + also === 0 });
  if (data === undefined) {
    return pages.error ? <Problem error={pages.error} /> : <Loading />;
  }
  const isHidden = data.pages.some((page) => page.hidden);
  const hasNext = data.pages.at(-1)?.next !== undefined;
  const { above, isFetching } = pages;
  const height = sumHeights(above);
  return (
    <Anchored start={data.pageParams[0] ?? ""} onMoved={(from, to, by) => {
      const top = pages.moveStart(from, to, by);
      start.current!.style.height = `${sumHeights(pages.above)}px`; // at once: what is looked at next depends on it
      scrollBy(top);
      render();
    }}>
      {pages.error && <Problem error={pages.error} />}
      <div ref={start} className="above" style={{ height: `${height}px` }}>
        {height > 0 && (
          <div className="actions">
            <button type="button" disabled={isFetching} onClick={() => pages.loadAbove(above.length - 1)}>{T.list.previous}</button>
            {above.length > 1 && <button type="button" disabled={isFetching} onClick={() => { window.scrollTo(0, 0); pages.loadAbove(0); }}>{T.list.first}</button>}
          </div>
        )}
      </div>
      {all.length + also > 0 || hasNext ? children(all)
        : isHidden || typeof empty === "string" ? <p className="empty">{isHidden ? T.list.hidden : empty}</p> : empty}
      <p className="count" role="status" ref={end}>
        {all.length === 0 && hasNext ? T.list.noneYet : hasNext || height > 0 ? T.list.shown(all.length) : T.list.results(all.length + also)}{" "}
        {hasNext && (
          <button type="button" disabled={isFetching} onClick={pages.loadNext}>{pages.isMoving ? T.list.loading : T.list.more}</button>
        )}
      </p>
    </Anchored>
  );
}

/** Load what somebody scrolls to: the next page, or pages above that have left the document. An empty list goes on by itself. */
function useScrolling(pages: Pages<Page>, data: unknown, { isByButton, isEmpty }: { isByButton: boolean; isEmpty: boolean }) {
  const start = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLParagraphElement>(null);
  const position = useRef({ y: 0, isUpward: false });
  const look = useRef(() => {});
  const lookAround = () => {
    if (!start.current || !end.current || data !== pages.data) return;
    if (isEmpty && !pages.error && pages.above.length < SEARCHED_PAGES) return pages.loadNext();
    if (isByButton) return;
    if (window.scrollY === 0 && pages.above.length === 0) return; // the page has not been scrolled
    const ahead = window.innerHeight * SCREENS_AHEAD;
    const { top, bottom } = start.current.getBoundingClientRect();
    if (position.current.isUpward && bottom > -ahead) pages.loadAbove(findPage(pages.above, -top));
    else if (end.current.getBoundingClientRect().top < window.innerHeight + ahead) pages.loadNext();
  };
  useLayoutEffect(() => { look.current = lookAround; }); // not before its rows are in the document
  useEffect(() => {
    const onScroll = () => {
      const y = window.scrollY;
      if (y !== position.current.y) position.current = { y, isUpward: y < position.current.y };
      look.current();
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => window.removeEventListener("scroll", onScroll);
  }, []);
  useEffect(() => look.current(), [data, pages.isFetching]);
  const scrollBy = (top: number) => {
    window.scrollBy({ top, behavior: "instant" });
    position.current.y = window.scrollY; // who was scrolling upward still is
  };
  return { start, end, scrollBy };
}

function sumHeights(above: Pages<Page>["above"]): number {
  return above.reduce((sum, { height }) => sum + height, 0);
}

/** Find the page at a height; the last one for what is below all. */
function findPage(above: Pages<Page>["above"], y: number): number {
  let bottom = 0;
  const found = above.findIndex(({ height }) => (bottom += height) > y);
  return found === -1 ? above.length - 1 : found;
}

type AnchoredProps = { start: string; onMoved: (from: string, to: string, by: number) => void; children: ReactNode };
type Kept = { row: Element; top: number }[];

/** Tells how far rows that stay have moved when pages above them came or went. */
class Anchored extends Component<AnchoredProps> {
  private readonly box = createRef<HTMLDivElement>();

  override getSnapshotBeforeUpdate({ start }: AnchoredProps): Kept | null {
    if (start === this.props.start) return null;
    const rows = [...(this.box.current?.querySelectorAll(ROWS) ?? [])];
    return [rows[0], rows.at(-1)].flatMap((row) => (row ? [{ row, top: row.getBoundingClientRect().top }] : []));
  }

  override componentDidUpdate({ start }: AnchoredProps, _state: unknown, kept: Kept | null) {
    if (start === this.props.start) return;
    const stays = kept?.find(({ row }) => row.isConnected);
    this.props.onMoved(start, this.props.start, stays ? stays.row.getBoundingClientRect().top - stays.top : 0);
  }

  override render() {
    return <div ref={this.box} className="list">{this.props.children}</div>;
  }
}
