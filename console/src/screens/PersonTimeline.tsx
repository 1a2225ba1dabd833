/** All that is known of a person and was said, in one order of time. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../api/client";
import { T } from "../texts";
import { Loaded } from "../ui/data";
import { Empty } from "../ui/memory";
import { rememberHeads } from "./entries";
import { NewsItem, readTalkNews, toEntryNews, toFactNews, type News } from "./Home";

const NEWEST = 200; // of each kind
const TALKS = 50;
const SHOWN = 50;
const MONTH = new Intl.DateTimeFormat("en", { year: "numeric", month: "long" });

export function PersonTimeline({ id, namespace }: { id: string; namespace: string }) {
  const [shown, setShown] = useState(SHOWN);
  const query = useQuery({ queryKey: ["entries", "timeline", id], queryFn: () => readTimeline(id, namespace), gcTime: 0 });
  return (
    <Loaded query={query}>
      {(news) => news.length === 0 ? <Empty title={T.people.timelineEmpty} /> : (
        <>
          {groupByMonth(news.slice(0, shown)).map(([month, items]) => (
            <section key={month} aria-label={month}>
              <h2>{month}</h2>
              <ol className="memories">{items.map((each) => <li key={each.id}><NewsItem news={{ ...each, about: undefined }} /></li>)}</ol>
            </section>
          ))}
          {shown < news.length && <button type="button" onClick={() => setShown(shown + SHOWN)}>{T.list.more}</button>}
        </>
      )}
    </Loaded>
  );
}

async function readTimeline(id: string, namespace: string): Promise<News[]> {
  const page = { limit: NEWEST, total: "none" } as const;
  const found = await Promise.all([
    read(api.GET("/api/v1/memory", { params: { query: { ...page, namespace, values: "ordinary", touch: false } } }))
      .then(({ entries }) => { rememberHeads(entries); return entries.map(toEntryNews); }),
    read(api.GET("/api/v1/facts", { params: { query: { ...page, user_id: id } } })).then(({ facts }) => facts.map(toFactNews)),
    read(api.GET("/api/v1/users/{user_id}/conversations", { params: { path: { user_id: id }, query: { limit: TALKS, total: "none", values: "omit" } } }))
      .then(({ conversations }) => Promise.all(conversations.map(readTalkNews))),
  ]);
  return found.flat().sort((a, b) => (a.time < b.time ? 1 : -1));
}

function groupByMonth(news: News[]): [string, News[]][] {
  const groups = new Map<string, News[]>();
  for (const each of news) {
    const month = MONTH.format(Date.parse(each.time));
    groups.set(month, [...(groups.get(month) ?? []), each]);
  }
  return [...groups];
}
