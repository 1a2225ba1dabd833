import { api, read } from "../api/client";
import { renderValue } from "../api/json";
import { List, Table, usePages } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Time } from "../ui/text";

const PAGE = 100;

/** Who did what with authority, oldest first. */
export function AuditScreen({ params }: { params: URLSearchParams }) {
  const get = (name: string) => params.get(name) ?? undefined;
  const filters = { actor: get("actor"), action: get("action") };
  const pages = usePages(["audit", filters], async (after) => {
    const { records, next } = await read(api.GET("/api/v1/audit", {
      params: { query: { ...filters, after, limit: PAGE } as never },
    }));
    return { records, next: records.length === 0 ? undefined : next };
  });
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["audit"], readForm(event.currentTarget)));
      }}>
        <TextField label="Who did it" name="actor" initial={filters.actor} />
        <TextField label="Action" name="action" initial={filters.action} />
        <div className="actions"><button type="submit" className="primary">Filter</button></div>
      </form>
      <p>Oldest first.</p>
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
                    <details>
                      <summary>before and after</summary>
                      <LongText label="The change" text={renderValue({ before: record.before, after: record.after })} />
                    </details>
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
