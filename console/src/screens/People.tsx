import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { T } from "../texts";
import { Ask } from "../ui/ask";
import { Loaded, Problem } from "../ui/data";
import { ConfirmDialog } from "../ui/form";
import { toHref } from "../ui/location";
import { cut, describe, Empty, findPerson } from "../ui/memory";
import { Parts } from "../ui/parts";
import { Name, Time } from "../ui/text";
import { ConversationList } from "./Conversations";
import { FactList } from "./Facts";
import { EntryList } from "./Memory";
import { PersonTimeline } from "./PersonTimeline";

const NEWEST = 200;
const POLL_MS = 500;

type Person = { id: string; time?: string; talk?: Schemas["ConversationHead"]; talks: number };

/** The people that memory is about, by what was said last. */
export function PeopleScreen() {
  const query = useQuery({ queryKey: ["people"], queryFn: readPeople });
  return (
    <Loaded query={query}>
      {(people) => people.length === 0
        ? <Empty title={T.people.empty} hint={T.people.emptyHint} command={'agent-memory remember --user ada "Prefers email"'} />
        : <ul className="memories">{people.map((each) => <li key={each.id}><PersonItem person={each} /></li>)}</ul>}
    </Loaded>
  );
}

/** Read who is in conversations, in facts, and in namespaces of users; a source that fails leaves the others. */
async function readPeople(): Promise<Person[]> {
  const page = { limit: NEWEST, total: "none" } as const;
  const [talks, facts, namespaces] = await Promise.allSettled([
    read(api.GET("/api/v1/conversations", { params: { query: { ...page, values: "omit" } } })),
    read(api.GET("/api/v1/facts", { params: { query: { ...page, values: "omit" } } })),
    read(api.GET("/api/v1/memory/namespaces", { params: { query: page } })),
  ]);
  if (talks.status === "rejected") throw talks.reason as Error;
  const people = new Map<string, Person>();
  const note = (id: string, time?: string) => {
    const known = people.get(id) ?? { id, talks: 0 };
    people.set(id, { ...known, time: [known.time ?? "", time ?? ""].sort().at(-1) });
    return people.get(id)!;
  };
  for (const talk of talks.value.conversations) {
    const person = note(talk.user_id, talk.updated_at);
    person.talks += 1;
    person.talk ??= talk;
  }
  if (facts.status === "fulfilled") for (const fact of facts.value.facts) if (fact.user_id) note(fact.user_id, fact.updated_at);
  if (namespaces.status === "fulfilled") for (const each of namespaces.value.namespaces) {
    const person = findPerson(each.namespace);
    if (person && person !== "*") note(person, each.updated_at);
  }
  return [...people.values()].sort((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1));
}

function PersonItem({ person: { id, talk, talks, time } }: { person: Person }) {
  const isSensitive = talk?.sensitivity === "confidential" || talk?.sensitivity === "restricted";
  const query = useQuery({
    queryKey: ["last said", talk?.session_id, talk?.revision],
    queryFn: () => read(api.GET("/api/v1/conversations/{session_id}", {
      params: { path: { session_id: talk!.session_id }, query: { offset: Math.max(0, talk!.message_count - 1), limit: 1 } },
    })),
    enabled: talk !== undefined && !isSensitive,
  });
  const last = query.data?.messages[0];
  return (
    <>
      <p className="said"><a href={toHref(["person", id])}><Name>{id}</Name></a></p>
      {last?.content !== undefined && <p className="last" dir="auto">“{cut(describe(last.content), 160)}”</p>}
      <p className="quiet">{talks > 0 && <span>{T.people.conversations(talks)}</span>}{time && <Time>{time}</Time>}</p>
    </>
  );
}

/** Write a person's part of a namespace, as the SDK does. */
export function quotePerson(id: string): string {
  return encodeURIComponent(id).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** One person: what is known, and what was said. */
export function PersonScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const shown = params.get("show") ?? "memories";
  const namespace = `users/${quotePerson(id)}/*`;
  return (
    <>
      <div className="spread"><p className="subject"><Name>{id}</Name></p><Forget id={id} /></div>
      <Figures id={id} namespace={namespace} />
      <Ask of={{ user_id: id }} />
      <Parts label={T.places.people} path={["person", id]} shown={shown} parts={T.people.tabs}>
        {shown === "memories" && <EntryList params={new URLSearchParams({ namespace })} person={id} />}
        {shown === "timeline" && <PersonTimeline id={id} namespace={namespace} />}
        {shown === "facts" && <FactList query={{ user_id: id }} />}
        {shown === "conversations" && <ConversationList user={id} />}
      </Parts>
    </>
  );
}

function Figures({ id, namespace }: { id: string; namespace: string }) {
  const query = useQuery({
    queryKey: ["figures", id],
    queryFn: async () => {
      const [memories, facts, talks] = await Promise.all([
        read(api.GET("/api/v1/memory", { params: { query: { namespace, values: "omit", touch: false, total: "exact", limit: 1 } } })),
        read(api.GET("/api/v1/facts", { params: { query: { user_id: id, values: "omit", total: "exact", limit: 1 } } })),
        read(api.GET("/api/v1/users/{user_id}/conversations", { params: { path: { user_id: id }, query: { values: "omit", total: "exact", limit: 1 } } })),
      ]);
      return { memories: memories.total ?? 0, facts: facts.total ?? 0, conversations: talks.total ?? 0 };
    },
  });
  return (
    <Loaded query={query}>
      {(counts) => (
        <p className="quiet">
          <span>{T.people.memories(counts.memories)}</span><span>{T.people.facts(counts.facts)}</span><span>{T.people.conversations(counts.conversations)}</span>
        </p>
      )}
    </Loaded>
  );
}

type Deletion = Schemas["Deletion"];

/** Forgets a person: first a preview of everything that goes, then a receipt. */
function Forget({ id }: { id: string }) {
  const isAdmin = can(usePrincipal(), "memory.admin");
  const [isAsking, setAsking] = useState(false);
  const [receipt, setReceipt] = useState<Deletion>();
  if (!isAdmin) return null;
  return (
    <>
      <button type="button" className="danger" onClick={() => setAsking(true)}>{T.people.forget}</button>
      {isAsking && <ForgetDialog id={id} onClose={() => setAsking(false)} onStarted={setReceipt} />}
      {receipt && <Receipt id={id} started={receipt} />}
    </>
  );
}

function useDeletion(id: string, isDry: boolean, isEnabled = true) {
  return useQuery({
    queryKey: ["deletion", id, isDry],
    queryFn: () => read(api.GET("/api/v1/deletions/{kind}/{id}", { params: { path: { kind: "person", id }, query: { dry_run: isDry } } })),
    enabled: isEnabled,
    refetchInterval: ({ state }) => (state.data?.status === "done" ? false : POLL_MS),
    gcTime: 0,
    staleTime: 0,
  });
}

function start(id: string, isDry: boolean) {
  return read(api.POST("/api/v1/deletions", { body: { kind: "person", id, dry_run: isDry } }));
}

function ForgetDialog({ id, onClose, onStarted }: { id: string; onClose: () => void; onStarted: (started: Deletion) => void }) {
  const field = useId();
  const [typed, setTyped] = useState("");
  const preview = useQuery({ queryKey: ["deletion", id, "preview"], queryFn: () => start(id, true), gcTime: 0, staleTime: Infinity });
  const counted = useDeletion(id, true, preview.isSuccess);
  return (
    <ConfirmDialog title={T.people.forgetTitle(id)} action={T.people.forgetConfirm} isReady={typed === id && counted.data?.status === "done"}
      onClose={onClose} onConfirm={async () => onStarted(await start(id, false))}>
      {preview.isError && <Problem error={preview.error} />}
      {counted.data?.status === "done" ? <Counts counts={counted.data.counts} title={T.people.forgetPreview} />
        : <><Figures id={id} namespace={`users/${quotePerson(id)}/*`} /><p role="status"><label className="quiet">{T.people.counting} <progress /></label></p></>}
      <p><strong>{T.people.forgetWarning}</strong></p>
      <label htmlFor={field}>{T.people.forgetType(id)}</label>
      <input id={field} value={typed} autoComplete="off" spellCheck={false} onChange={(event) => setTyped(event.target.value)} />
    </ConfirmDialog>
  );
}

function Counts({ counts, title }: { counts: Deletion["counts"]; title: string }) {
  const rows = Object.entries(counts as Record<string, number>);
  if (rows.length === 0) return <p>{T.people.forgetNothing}</p>;
  return (
    <>
      <p>{title}</p>
      <ul>{rows.map(([name, count]) => <li key={name}>{count.toLocaleString()} × {name.replaceAll("_", " ")}</li>)}</ul>
    </>
  );
}

function Receipt({ id, started }: { id: string; started: Deletion }) {
  const { data = started } = useDeletion(id, false);
  return (
    <section className="notice receipt" role="status" aria-label={T.people.receipt}>
      <h2>{T.people.receipt}</h2>
      <p>{data.status === "done" ? T.people.receiptDone : T.people.receiptRunning}</p>
      <p className="quiet">
        <span>{T.people.requested} <Time>{data.requested_at}</Time> {T.memory.by} <Name>{data.requested_by.id}</Name></span>
        {data.finished_at && <span>{T.people.finished} <Time>{data.finished_at}</Time></span>}
      </p>
      {(data.status === "done" || Object.keys(data.counts).length > 0) && <Counts counts={data.counts} title={T.people.deleted} />}
    </section>
  );
}
