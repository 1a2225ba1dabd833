import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../api/client";
import { renderValue } from "../api/json";
import { Details, Loaded, Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Tags, Time } from "../ui/text";
import { unique, useConversations } from "./choices";

const MESSAGES = 50;

/** The conversations that one may read, or a user's of these, without what was said. */
export function ConversationsScreen({ params }: { params: URLSearchParams }) {
  const user = params.get("user_id") ?? "";
  const users = unique(useConversations().map((each) => each.user_id));
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["conversations"], readForm(event.currentTarget)));
      }}>
        <TextField label="User" name="user_id" initial={user} options={users} />
        <div className="actions">
          <button type="submit" className="primary">Filter</button>
          <a href={toHref(["conversations"])}>All users</a>
        </div>
      </form>
      <ConversationList user={user} />
    </>
  );
}

function ConversationList({ user }: { user: string }) {
  const pages = usePages(["conversations", user], (after) => {
    const query = { after, total: "none", values: "omit", limit: 100 } as const;
    return user === ""
      ? read(api.GET("/api/v1/conversations", { params: { query } }))
      : read(api.GET("/api/v1/users/{user_id}/conversations", { params: { path: { user_id: user }, query } }));
  });
  return (
    <List pages={pages} items={(page) => page.conversations} empty="There is no conversation that you take part in or may read.">
      {(conversations) => (
        <Table label="Conversations" head={["Session", "User", "Agents", "Messages", "Changed", "Expires", "Tags", "Sensitivity"]}>
          {conversations.map((each) => (
            <tr key={each.session_id}>
              <th scope="row"><a href={toHref(["conversation", each.session_id])}><Name>{each.session_id}</Name></a></th>
              <td><a href={toHref(["conversations"], { user_id: each.user_id })}><Name>{each.user_id}</Name></a></td>
              <td><Tags tags={each.agent_participants} /></td>
              <td className="number">{each.message_count}</td>
              <td><Time>{each.updated_at}</Time></td>
              <td><Time>{each.expires_at}</Time></td>
              <td><Tags tags={each.tags} /></td>
              <td>{each.sensitivity ?? "–"}</td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  );
}

/** One conversation; what was said is fetched when somebody asks for it. */
export function ConversationScreen({ id }: { id: string }) {
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
          <Details rows={[
            ["Session", <Name>{head.session_id}</Name>],
            ["User", <a href={toHref(["conversations"], { user_id: head.user_id })}><Name>{head.user_id}</Name></a>],
            ["Agents", <Tags tags={head.agent_participants} />],
            ["Shared with", <Tags tags={head.shared_with} />],
            ["Created", <><Time>{head.created_at}</Time> by <Name>{head.created_by}</Name></>],
            ["Changed", <><Time>{head.updated_at}</Time>, revision {head.revision}</>],
            ["Expires", <Time>{head.expires_at}</Time>],
            ["Sensitivity", head.sensitivity ?? "–"],
          ]} />
          <p><a href={toHref(["access"], { kind: "conversation", id })}>Who may read it?</a></p>
          <h2>Messages</h2>
          {isAsked ? <Messages id={id} /> : (
            <button type="button" className="primary" onClick={() => setAsked(true)}>Show the messages ({head.message_count})</button>
          )}
        </>
      )}
    </Loaded>
  );
}

function Messages({ id }: { id: string }) {
  const pages = usePages(["messages", id], async (after) => {
    const page = await read(api.GET("/api/v1/conversations/{session_id}", {
      params: { path: { session_id: id }, query: { limit: MESSAGES, offset: Number(after ?? 0) } },
    }));
    return { messages: page.messages, next: page.next_offset === undefined ? undefined : String(page.next_offset) };
  });
  return (
    <List pages={pages} items={(page) => page.messages} empty="Nothing was said.">
      {(messages) => (
        <ol className="messages">
          {messages.map((message) => (
            <li key={message.index} className="card">
              <h3><Name>{message.role}</Name>, <Time>{message.timestamp}</Time></h3>
              {message.content === undefined
                ? <p className="empty">Contents need the permission memory.read.</p>
                : <LongText label={`Message ${message.index}`} text={renderValue(message.content)} />}
            </li>
          ))}
        </ol>
      )}
    </List>
  );
}
