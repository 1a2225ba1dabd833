import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { T } from "../texts";
import { Ask } from "../ui/ask";
import { NEAR } from "../ui/capacity";
import { Loaded } from "../ui/data";
import { toHref } from "../ui/location";
import { cut, describe, Empty, findPerson } from "../ui/memory";
import { Name, Time } from "../ui/text";
import { rememberHeads } from "./entries";
import { findContradictions } from "./contradictions";

const AGENTS = 6;
const NEWEST = 12;
const TALKS = 5;
const SHOWN = 25;
const INTENTS = 10;
const REFRESH_MS = 15_000;
const AUDITED_REFRESH_MS = 60_000; // each look of memory.inspect is a record of the audit log

/** A question to all memory, what has happened, and what needs somebody. */
export function HomeScreen() {
  return (
    <>
      <Ask />
      <div className="columns">
        <section aria-labelledby="feed">
          <h2 id="feed">{T.feed.title}</h2>
          <Feed />
        </section>
        <section aria-labelledby="attention">
          <h2 id="attention">{T.attention.title}</h2>
          <Attention />
        </section>
      </div>
    </>
  );
}

export type News = { id: string; time: string; who: string; verb: string; text: string; href?: string; about?: string };

function Feed() {
  const caller = usePrincipal();
  const isAdmin = can(caller, "memory.admin");
  const query = useQuery({
    queryKey: ["feed"],
    queryFn: () => readNews(isAdmin),
    refetchInterval: can(caller, "memory.inspect") ? AUDITED_REFRESH_MS : REFRESH_MS,
    gcTime: 0,
  });
  return (
    <Loaded query={query}>
      {(news) => news.length === 0 ? <Empty title={T.feed.empty} hint={T.feed.emptyHint} command="agent-memory demo" /> : (
        <ol className="memories">{news.map((each) => <li key={each.id}><NewsItem news={each} /></li>)}</ol>
      )}
    </Loaded>
  );
}

export function NewsItem({ news: { who, verb, text, href, about, time } }: { news: News }) {
  return (
    <>
      <p className="said" dir="auto"><strong><Name>{who}</Name></strong> {verb} {href ? <a href={href}>{cut(text, 200)}</a> : cut(text, 200)}</p>
      <p className="quiet">{about && <a href={toHref(["person", about])}><Name>{about}</Name></a>}<Time>{time}</Time></p>
    </>
  );
}

/** Read what is new from all sources; a source that fails leaves the others. */
async function readNews(isAdmin: boolean): Promise<News[]> {
  const page = { limit: NEWEST, total: "none" } as const;
  const { agents } = await read(api.GET("/api/v1/agents", { params: { query: { limit: AGENTS, total: "none" } } }));
  const entries = (agent_id?: string) => read(api.GET("/api/v1/memory", { params: { query: { ...page, agent_id, values: "ordinary", touch: false } } }))
    .then((found) => { rememberHeads(found.entries); return found.entries.map(toEntryNews); });
  const found = await Promise.allSettled([
    entries(),
    ...agents.map((agent) => entries(agent.agent_id)),
    read(api.GET("/api/v1/facts", { params: { query: page } })).then(({ facts }) => facts.map(toFactNews)),
    read(api.GET("/api/v1/conversations", { params: { query: { limit: TALKS, total: "none", values: "omit" } } }))
      .then(({ conversations }) => Promise.all(conversations.map(readTalkNews))),
    isAdmin ? read(api.GET("/api/v1/audit", { params: { query: { action: "task.change", order: "desc", limit: NEWEST } } }))
      .then(({ records }) => records.flatMap(toHandOverNews)) : [],
  ]);
  if (found.every(({ status }) => status === "rejected")) throw (found[0] as PromiseRejectedResult).reason as Error;
  const news = found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  const unique = new Map(news.map((each) => [each.id, each]));
  return [...unique.values()].sort((a, b) => (a.time < b.time ? 1 : -1)).slice(0, SHOWN);
}

export function toEntryNews(entry: Schemas["Entry"]): News {
  return {
    id: entry.id, time: entry.version === 1 ? entry.occurred_at : entry.updated_at, who: entry.curated_by ?? entry.created_by, verb: T.feed.remembered,
    text: entry.value === undefined ? entry.key : describe(entry.value), href: toHref(["entry", entry.id]),
    about: findPerson(entry.namespace),
  };
}

export function toFactNews(fact: Schemas["Fact"]): News {
  return {
    id: fact.fact_id, time: fact.valid_from, who: fact.learned_by, verb: T.feed.learned,
    text: [fact.subject, fact.predicate, fact.object].join(" "), href: toHref(["fact", fact.fact_id]), about: fact.user_id ?? undefined,
  };
}

/** The last message of a conversation; of a sensitive one only that somebody wrote. */
export async function readTalkNews(talk: Schemas["ConversationHead"]): Promise<News> {
  const { session_id, user_id, message_count } = talk;
  const news = { id: session_id, time: talk.updated_at, who: user_id, href: toHref(["conversation", session_id]), about: user_id };
  const isSensitive = talk.sensitivity === "confidential" || talk.sensitivity === "restricted";
  const params = { path: { session_id }, query: { offset: Math.max(0, message_count - 1), limit: 1 } };
  const last = isSensitive ? undefined : (await read(api.GET("/api/v1/conversations/{session_id}", { params }))).messages[0];
  return last?.content === undefined ? { ...news, verb: T.feed.talked(message_count), text: talk.agent_participants.join(", ") || talk.created_by }
    : { ...news, time: last.timestamp, who: last.role === "user" ? user_id : talk.created_by, verb: T.feed.said, text: `“${describe(last.content)}”` };
}

function toHandOverNews({ id, time, actor, target, before, after }: Schemas["AuditRecord"]): News[] {
  const [from, to] = [before, after].map((each) => (each as Record<string, unknown> | undefined)?.assigned_agent);
  if (typeof to !== "string" || from === to) return [];
  const task = target.replace(/^task:/, "");
  return [{ id, time, who: typeof from === "string" ? from : actor.id, verb: "", text: T.feed.handedOver(task.replace(/^task_/, "").replaceAll("-", " "), to), href: toHref(["task", task]) }];
}

type Warning = { text: string; href: string };

function Attention() {
  const query = useQuery({ queryKey: ["attention"], queryFn: readWarnings, refetchInterval: AUDITED_REFRESH_MS });
  return (
    <Loaded query={query}>
      {(warnings): ReactNode => warnings.length === 0 ? <p className="hint">{T.attention.none}</p> : (
        <ul className="memories">{warnings.map(({ text, href }) => <li key={`${href} ${text}`}><a href={href}>{cut(text, 200)}</a></li>)}</ul>
      )}
    </Loaded>
  );
}

async function readWarnings(): Promise<Warning[]> {
  const found = await Promise.allSettled([readFull(), readFailedRuns(), readContradictions(), readStuckTasks()]);
  return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
}

async function readFull(): Promise<Warning[]> {
  const { agents } = await read(api.GET("/api/v1/agents", { params: { query: { limit: 100, total: "none" } } }));
  return agents.filter(({ episodic }) => episodic.entry_count >= episodic.capacity * NEAR).map(({ agent_id, episodic }) => ({
    text: T.attention.full(agent_id, episodic.entry_count, episodic.capacity), href: toHref(["agent", agent_id], { show: "eviction" }),
  }));
}

async function readFailedRuns(): Promise<Warning[]> {
  const { runs } = await read(api.GET("/api/v1/runs", { params: { query: { status: "failed", values: "omit", limit: 5, total: "none" } } }));
  return runs.map((run) => ({ text: T.attention.failedRun(run.agent_type), href: toHref(["run", run.id]) }));
}

async function readContradictions(): Promise<Warning[]> {
  const { facts } = await read(api.GET("/api/v1/facts", { params: { query: { limit: 200, total: "none" } } }));
  return (await findContradictions(facts)).map(([fact]) => ({
    text: T.attention.contradiction(fact?.subject ?? "", fact?.predicate ?? ""),
    href: toHref(["facts"], { subject: fact?.subject, predicate: fact?.predicate }),
  }));
}

async function readStuckTasks(): Promise<Warning[]> {
  const { intents } = await read(api.GET("/api/v1/intents", { params: { query: { limit: INTENTS, total: "none" } } }));
  const tasks = await Promise.all(intents.map(({ intent_id }) =>
    read(api.GET("/api/v1/intents/{intent_id}/tasks", { params: { path: { intent_id }, query: { limit: 100 } } }))));
  return tasks.flat().filter(({ status }) => status === "failed" || status === "blocked").map(({ id, name, status }) => ({
    text: status === "failed" ? T.attention.failedTask(name) : T.attention.blockedTask(name), href: toHref(["task", id]),
  }));
}
