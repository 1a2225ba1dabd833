import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { T } from "../texts";
import { TimeSlider, toTime, useSettled } from "../ui/ask";
import { Details, Loaded } from "../ui/data";
import { FilterBar, type Filters } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Empty, Item } from "../ui/memory";
import { Id, Name, Time } from "../ui/text";
import { Uses } from "../ui/uses";
import { useAgentTypes } from "./choices";
import { findContradictions } from "./contradictions";

type Fact = Schemas["Fact"];
type Query = { subject?: string; predicate?: string; agent_type?: string; learned_from_run_id?: string; user_id?: string; as_of?: string };

/** The facts that agents have learned, as they are valid now or were valid on a day. */
export function FactsScreen({ params }: { params: URLSearchParams }) {
  const types = useAgentTypes();
  const filters: Filters = {
    subject: { param: "subject", example: T.facts.exampleSubject },
    predicate: { param: "predicate", example: T.facts.examplePredicate },
    user: { param: "user_id" },
    "agent-type": { param: "agent_type", options: types },
    run: { param: "learned_from_run_id" },
  };
  const asked = Object.fromEntries(Object.values(filters).map(({ param }) => [param, params.get(param) ?? undefined])) as Query;
  return (
    <>
      <FilterBar path={["facts"]} params={params} filters={filters} />
      <Contradictions />
      <FactList query={asked} />
    </>
  );
}

/** Facts with a slider that goes back in time. */
export function FactList({ query }: { query: Query }) {
  const [daysAgo, setDaysAgo] = useState(0);
  const asked = { ...query, as_of: toTime(useSettled(daysAgo)) };
  const pages = usePages(["facts", asked], (after) =>
    read(api.GET("/api/v1/facts", { params: { query: { ...asked, after, total: "none", limit: 100 } } })));
  return (
    <>
      <div className="quiet"><TimeSlider daysAgo={daysAgo} onChange={setDaysAgo} /></div>
      <List pages={pages} items={(page) => page.facts} empty={<Empty title={T.facts.none} hint={T.facts.noneHint} command='agent-memory facts learn "Ada" "lives in" "Berlin"' />}>
        {(facts) => <ul className="memories">{facts.map((fact) => <li key={fact.fact_id}><FactItem fact={fact} /></li>)}</ul>}
      </List>
    </>
  );
}

function toSentence({ subject, predicate, object, fact_id }: Fact): string {
  return [subject, predicate, object].filter((each) => each !== undefined).join(" ") || fact_id;
}

export function FactItem({ fact }: { fact: Fact }) {
  return (
    <Item text={toSentence(fact)} href={toHref(["fact", fact.fact_id])}>
      {fact.user_id && <a href={toHref(["person", fact.user_id])}><Name>{fact.user_id}</Name></a>}
      <span><meter min={0} max={1} value={fact.confidence} aria-label={T.facts.confidence} /> {T.facts.sure(fact.confidence)}</span>
      <span>{T.memory.by} <Name>{fact.learned_by}</Name></span>
      <span>{fact.valid_until ? <>{T.facts.held} <Time>{fact.valid_from}</Time> – <Time>{fact.valid_until}</Time></> : <>{T.facts.began} <Time>{fact.valid_from}</Time></>}</span>
      <span>{T.facts.learned(fact.learned_count)}</span>
    </Item>
  );
}

/** Facts that say different things of the same subject. */
function Contradictions() {
  const query = useQuery({
    queryKey: ["facts", "contradictions"],
    queryFn: async () => findContradictions((await read(api.GET("/api/v1/facts", { params: { query: { limit: 500, total: "none" } } }))).facts),
  });
  if (!query.data?.length) return null;
  return (
    <section aria-labelledby="contradictions" className="notice">
      <h2 id="contradictions">{T.facts.contradictions}</h2>
      {query.data.map((group) => (
        <ul key={group[0]?.fact_id} className="memories">{group.map((fact) => <li key={fact.fact_id}><FactItem fact={fact} /></li>)}</ul>
      ))}
    </section>
  );
}

/** One fact: where it is from, and what held before. */
export function FactScreen({ id }: { id: string }) {
  const params = { path: { fact_id: id } };
  const query = useQuery({ queryKey: ["fact", id], queryFn: () => read(api.GET("/api/v1/facts/{fact_id}", { params })) });
  const history = useQuery({ queryKey: ["fact", id, "history"], queryFn: () => read(api.GET("/api/v1/facts/{fact_id}/history", { params })) });
  return (
    <Loaded query={query}>
      {(fact) => (
        <>
          <p className="said large" dir="auto"><Name>{toSentence(fact)}</Name></p>
          <Details rows={[
            [T.facts.confidence, T.facts.sure(fact.confidence)],
            [T.facts.learnedBy, <><Name>{fact.learned_by}</Name>, {T.facts.learned(fact.learned_count)}</>],
            [T.facts.from, fact.learned_from_run_ids.length === 0 ? "–"
              : fact.learned_from_run_ids.map((run) => <a key={run} href={toHref(["run", run])}><Id>{run}</Id></a>)],
            [T.terms.since, <Time>{fact.valid_from}</Time>],
            [T.facts.until, <Time>{fact.valid_until}</Time>],
          ]} />
          <Uses reference={`f.${fact.fact_id}`} />
          <h2>{T.facts.history}</h2>
          <Loaded query={history}>
            {({ facts }) => (
              <ol className="memories">
                {facts.map((each) => (
                  <li key={each.fact_id}>
                    <FactItem fact={each} />
                    {each.changes.map((change) => (
                      <p key={change.time + change.change} className="quiet">{change.change.replaceAll("_", " ")} <Name>{change.actor}</Name> <Time>{change.time}</Time></p>
                    ))}
                  </li>
                ))}
              </ol>
            )}
          </Loaded>
        </>
      )}
    </Loaded>
  );
}
