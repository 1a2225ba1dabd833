/** Ask memory: results while somebody types, from all sources, in the order of the questions. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { showInvisible } from "../api/json";
import { rememberOrdinary } from "../screens/entries";
import { T } from "../texts";
import { toRecallCode } from "./code";
import { CopyButton, CopyCode } from "./copy";
import { Problem } from "./data";
import { toHref } from "./location";
import { Empty, findPerson, Item } from "./memory";
import { Name, Time } from "./text";

export type Found = Schemas["RecallItem"];
export type Question = { query: string; user_id?: string; agent_id?: string; as_of?: string; max_tokens?: number };

const DEBOUNCE_MS = 120;
const RESULTS = 12;
const PAST_DAYS = 120;
const DAY = new Intl.DateTimeFormat("en", { dateStyle: "medium" });

/** Return a value once it has stood still. */
export function useSettled<V>(value: V, delay = DEBOUNCE_MS): V {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return settled;
}

/** Ask once the question has stood still, for somebody else if a principal is named. A newer question cancels the older one, so an old answer never replaces a new one. */
export function useRecall(question: Question, refresh: number | false = false, as_principal?: string) {
  const query = useSettled(question.query.trim());
  const body = { ...question, query, top_k: RESULTS, explain: true };
  return useQuery({
    queryKey: ["recall", body, as_principal],
    queryFn: async ({ signal }) => {
      const found = await read(api.POST("/api/v1/recall", { params: { query: { as_principal } }, body, signal }));
      rememberOrdinary(found.items.flatMap(({ source, id }) => (source === "entries" ? [id] : [])));
      return found;
    },
    enabled: query !== "",
    placeholderData: query === "" ? undefined : keepPreviousData,
    refetchInterval: refresh,
    gcTime: 0,
    staleTime: 0,
  });
}

/** The address of what recall found. */
export function toItemHref(item: Found): string | undefined {
  switch (item.source) {
    case "entries": return toHref(["entry", item.id]);
    case "messages": return toHref(["conversation", item.session_id ?? ""], { message: String(item.index ?? "") });
    case "episodes": return toHref(["run", item.run_id ?? ""]);
    case "facts": return toHref(["fact", item.id]);
  }
}

type AskProps = { of?: Omit<Question, "query">; autoFocus?: boolean; onOpen?: () => void };

/** The box and its results. What is asked is in no address. */
export function Ask({ of = {}, autoFocus = false, onOpen }: AskProps) {
  const id = useId();
  const [query, setQuery] = useState("");
  const [daysAgo, setDaysAgo] = useState(0);
  const asOf = useSettled(daysAgo);
  const question: Question = { ...of, query, as_of: toTime(asOf) };
  const found = useRecall(question);
  const isAsked = query.trim() !== "";
  return (
    <search className="ask">
      <label htmlFor={id} className="visually-hidden">{T.ask.label}</label>
      <input id={id} type="search" className="ask-box" placeholder={T.ask.placeholder} autoComplete="off" spellCheck={false}
        autoFocus={autoFocus} value={query} onChange={(event) => setQuery(event.target.value)} aria-describedby={`${id}-hint`} />
      <div className="quiet">
        <span id={`${id}-hint`}>{T.ask.hint}</span>
        <TimeSlider daysAgo={daysAgo} onChange={setDaysAgo} />
      </div>
      {found.isError && <Problem error={found.error} />}
      {isAsked && found.data && <Answer recall={found.data} question={question} onOpen={onOpen} />}
    </search>
  );
}

/** Return the time that a slider names; undefined for now. */
export function toTime(daysAgo: number): string | undefined {
  if (daysAgo === 0) return undefined;
  const day = new Date(Date.now() - daysAgo * 86_400_000);
  day.setUTCHours(12, 0, 0, 0); // the same question all day
  return day.toISOString();
}

/** Goes back in time, day by day. */
export function TimeSlider({ daysAgo, most = PAST_DAYS, onChange }: { daysAgo: number; most?: number; onChange: (daysAgo: number) => void }) {
  const id = useId();
  const shown = daysAgo === 0 ? T.ask.now : DAY.format(Date.parse(toTime(daysAgo) ?? ""));
  return (
    <span className="slider">
      <label htmlFor={id}>{T.ask.asOf}</label>
      <input id={id} type="range" min={-most} max={0} step={1} value={-daysAgo} aria-valuetext={shown}
        onChange={(event) => onChange(-Number(event.target.value))} />
      <output htmlFor={id}>{shown}</output>
    </span>
  );
}

type AnswerProps = { recall: Schemas["Recall"]; question: Question; onOpen?: () => void };

function Answer({ recall, question, onOpen }: AnswerProps) {
  return (
    <>
      <div className="quiet spread" role="status">
        <span>{recall.items.length === 0 ? T.ask.none : T.ask.results(recall.items.length)}</span>
        {recall.items.length > 0 && (
          <span className="quiet">
            {T.ask.promptSize(recall.tokens)} <CopyButton text={recall.text} label={T.ask.prompt} />
            <CopyCode code={toRecallCode(question)} />
          </span>
        )}
      </div>
      {recall.items.length === 0 && <Empty title={T.ask.none} hint={T.ask.noneHint} />}
      <ol className="memories answers" onClick={(event) => { if ((event.target as Element).closest("a")) onOpen?.(); }}>
        {recall.items.map((item) => <li key={item.reference}><FoundItem item={item} /></li>)}
      </ol>
      <details className="why-not">
        <summary>{T.ask.whyNot}</summary>
        <ul>{T.ask.whyNotRules.map((rule) => <li key={rule}>{rule}</li>)}</ul>
        <p><a href={toHref(["access"])} onClick={onOpen}>{T.ask.whoMaySee}</a></p>
      </details>
    </>
  );
}

/** One result: its text, its place, and on demand why it is one. */
export function FoundItem({ item }: { item: Found }) {
  const author = item.speaker ?? readAuthor(item);
  const person = item.user_id ?? findPerson(item.namespace ?? "");
  return (
    <Item text={item.text} href={toItemHref(item)} actions={<Why item={item} />}>
      <span className="badge" data-source={item.source}>{T.ask.sources[item.source]}</span>
      {person && <a href={toHref(["person", person])}><Name>{person}</Name></a>}
      <Place item={item} />
      {author && <span>{T.memory.by} <Name>{author}</Name></span>}
      <Time>{item.time}</Time>
      {(item.provenance as { conflicts_with?: string[] }).conflicts_with?.length ? <span className="badge warn">{T.ask.conflict}</span> : null}
    </Item>
  );
}

function readAuthor({ provenance }: Found): string | undefined {
  const fields = provenance as Record<string, unknown>;
  return ["created_by", "learned_by", "author"].map((name) => fields[name]).find((each) => typeof each === "string") as string | undefined;
}

function Place({ item }: { item: Found }) {
  if (item.namespace) return <span><Name>{item.namespace}</Name> / <Name>{item.key ?? ""}</Name></span>;
  if (item.session_id) return <Name>{item.session_id}</Name>;
  return item.run_id ? <Name>{item.run_id.slice(0, 12)}</Name> : null;
}

function Why({ item }: { item: Found }) {
  const parts = Object.entries((item.explanation ?? {}) as Record<string, unknown>)
    .flatMap(([name, value]) => (typeof value === "number" ? [[name, value] as const] : []));
  return (
    <details className="why">
      <summary>{T.ask.why}</summary>
      <p>{item.matched.length > 0 ? T.ask.matched(item.matched.map(showInvisible).join(", ")) : T.ask.similar}</p>
      <dl className="parts-of-score" aria-label={T.ask.whyParts}>
        {parts.map(([name, value]) => (
          <div key={name}><dt>{name.replaceAll("_", " ")}</dt><dd><meter min={0} max={1} value={Math.max(0, Math.min(1, value))} aria-label={name} /> {value.toFixed(2)}</dd></div>
        ))}
      </dl>
    </details>
  );
}
