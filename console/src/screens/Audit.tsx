import { api, read } from "../api/client";
import { renderValue } from "../api/json";
import { Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Expandable, LongText, Name, Time } from "../ui/text";
import { useWho } from "./choices";

const PAGE = 100;
const REFRESH_MS = 5_000;

/** Who did what with authority, newest first. */
export function AuditScreen({ params }: { params: URLSearchParams }) {
  const who = useWho();
  const get = (name: string) => params.get(name) ?? undefined;
  const filters = { actor: get("actor"), action: get("action"), from: get("from"), to: get("to") };
  const pages = usePages(["audit", filters], (after) =>
    read(api.GET("/api/v1/audit", { params: { query: { ...filters, order: "desc", after, limit: PAGE } } })), { refresh: REFRESH_MS },
  );
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["audit"], readForm(event.currentTarget)));
      }}>
        <TextField label="Who did it" name="actor" initial={filters.actor} options={who} />
        <TextField label="Action" name="action" initial={filters.action} hint="such as task.change" />
        <TextField label="From" name="from" initial={filters.from} hint="such as 2030-12-31T08:00Z" />
        <TextField label="To" name="to" initial={filters.to} />
        <div className="actions"><button type="submit" className="primary">Filter</button></div>
      </form>
      <List pages={pages} items={(page) => page.records} empty="Nothing is recorded that fits.">
        {(records) => (
          <Table label="Audit log" head={["When", "Who", "Action", "Of what", "Change"]}>
            {records.map((record) => (
              <tr key={record.id}>
                <td><Time>{record.time}</Time></td>
                <td><Name>{record.actor.id}</Name> ({record.actor.kind})</td>
                <td><Name>{record.action}</Name></td>
                <td><Name>{record.target}</Name></td>
                <td>
                  {(record.before ?? record.after) !== undefined && (
                    <Expandable summary="before and after">
                      {() => <LongText label="The change" text={renderValue({ before: record.before, after: record.after })} />}
                    </Expandable>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </List>
    </>
  );
}
