import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { renderValue, showInvisible } from "../api/json";
import { T, toWord } from "../texts";
import { Details, Loaded } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Empty } from "../ui/memory";
import { Expandable, LongText, Name, Sentence, Tags, Time } from "../ui/text";
import { unique, useConversations } from "./choices";

const MESSAGES = 50;
const BEFORE = 5; // messages before the one that somebody looks for
const LONG = 20_000; // characters

/** The conversations that one may read, or a user's of these, without what was said. */
export function ConversationsScreen({ params }: { params: URLSearchParams }) {
  const user = params.get("user_id") ?? "";
  const users = unique(useConversations().map((each) => each.user_id));
  return (
    <>
      <FilterBar path={["conversations"]} params={params} filters={{ user: { param: "user_id", options: users } }} />
      <ConversationList user={user} />
    </>
  );
}

/** A user's conversations, or all. */
export function ConversationList({ user }: { user: string }) {
  const pages = usePages(["conversations", user], (after) => {
    const query = { after, total: "none", values: "omit", limit: 100 } as const;
    return user === ""
      ? read(api.GET("/api/v1/conversations", { params: { query } }))
      : read(api.GET("/api/v1/users/{user_id}/conversations", { params: { path: { user_id: user }, query } }));
  });
  return (
    <List pages={pages} items={(page) => page.conversations} empty={<Empty title={T.talks.none} hint={T.talks.noneHint} command={T.talks.command} />}>
      {(conversations) => (
        <ul className="memories">
          {conversations.map((each) => (
            <li key={each.session_id}>
              <p className="said"><a href={toHref(["conversation", each.session_id])}><Name>{each.session_id}</Name></a></p>
              <div className="quiet">
                {isSensitive(each) && <span className="badge">{each.sensitivity}</span>}
                <a href={toHref(["person", each.user_id])}><Name>{each.user_id}</Name></a>
                {each.agent_participants.length > 0 && <span>{T.talks.with} <Name>{each.agent_participants.join(", ")}</Name></span>}
                <span>{T.people.messages(each.message_count)}</span>
                <Time>{each.updated_at}</Time>
                {each.tags.map((tag) => <span key={tag} className="tag"><Name>{tag}</Name></span>)}
              </div>
            </li>
          ))}
        </ul>
      )}
    </List>
  );
}

/** One conversation as it was said; a sensitive one is fetched when somebody asks for it. */
export function ConversationScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const [isAsked, setAsked] = useState(false);
  const query = useQuery({
    queryKey: ["conversation", id],
    queryFn: () => read(api.GET("/api/v1/conversations/{session_id}", {
      params: { path: { session_id: id }, query: { values: "omit", limit: 0 } },
    })),
  });
  return (
    <Loaded query={query}>
      {(head) => (
        <>
          <div className="quiet">
            <a href={toHref(["person", head.user_id])}><Name>{head.user_id}</Name></a>
            {head.agent_participants.length > 0 && <span>{T.talks.with} <Name>{head.agent_participants.join(", ")}</Name></span>}
            <span>{T.people.messages(head.message_count)}</span>
            <Time>{head.updated_at}</Time>
          </div>
          {isAsked || !isSensitive(head) ? <Messages id={id} marked={params.get("message")} /> : (
            <p className="notice">
              {T.talks.sensitive(head.sensitivity ?? "")}{" "}
              <button type="button" className="primary" onClick={() => setAsked(true)}>{T.talks.show}</button>
            </p>
          )}
          <Expandable summary={T.talks.details}>
            {() => (
              <>
                <Details rows={[
                  [T.talks.session, <Name>{head.session_id}</Name>],
                  [T.talks.sharedWith, <Tags tags={head.shared_with} />],
                  [T.terms.created, <Sentence text={T.terms.timeBy} of={{ time: <Time>{head.created_at}</Time>, who: <Name>{head.created_by}</Name> }} />],
                  [T.terms.changed, <Time>{head.updated_at}</Time>],
                  [T.terms.revision, head.revision],
                  [T.terms.expires, <Time>{head.expires_at}</Time>],
                  [T.terms.sensitivity, toWord(head.sensitivity ?? T.terms.nothing)],
                ]} />
                <p><a href={toHref(["access"], { kind: "conversation", id })}>{T.entry.whoMayRead}</a></p>
              </>
            )}
          </Expandable>
        </>
      )}
    </Loaded>
  );
}

function isSensitive({ sensitivity }: { sensitivity: string | null }): boolean {
  return sensitivity === "confidential" || sensitivity === "restricted";
}

/** Messages as bubbles: the user's on one side, all others on the other. */
function Messages({ id, marked }: { id: string; marked: string | null }) {
  const start = Math.max(0, Number(marked ?? 0) - BEFORE);
  const pages = usePages(["messages", id, start], async (after) => {
    const page = await read(api.GET("/api/v1/conversations/{session_id}", {
      params: { path: { session_id: id }, query: { limit: MESSAGES, offset: Number(after ?? start) } },
    }));
    return { messages: page.messages, next: page.next_offset === undefined ? undefined : String(page.next_offset) };
  });
  return (
    <>
      {start > 0 && <p><a href={toHref(["conversation", id])}>{T.talks.fromStart}</a></p>}
      <List pages={pages} items={(page) => page.messages} empty={T.talks.empty}>
        {(messages) => (
          <ol className="messages bubbles">
            {messages.map((message) => (
              <li key={message.index} data-role={message.role === "user" ? "user" : "other"} data-marked={String(message.index) === marked || undefined}>
                <Bubble message={message} />
                <p className="quiet"><Name>{message.role}</Name> <Time>{message.timestamp}</Time></p>
              </li>
            ))}
          </ol>
        )}
      </List>
    </>
  );
}

function Bubble({ message: { content, index } }: { message: Schemas["ConversationMessage"] }) {
  if (content === undefined) return <p className="bubble hint">{T.memory.noValue}</p>;
  const text = typeof content === "string" ? content : renderValue(content);
  if (text.length > LONG) return <LongText label={T.talks.message(index)} text={text} />;
  return <p className="bubble" dir="auto">{showInvisible(text)}</p>;
}
