import { useState } from "react";
import type { Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { Table } from "../ui/data";
import { ChoiceField, ConfirmDialog, readForm, TextField } from "../ui/form";
import { Name, Time } from "../ui/text";
import { useWho } from "./choices";

const ACCESS = { none: "none", read: "read", write: "write", admin: "admin" };
type Access = keyof typeof ACCESS;
type Change = { who?: string; from: string; to: Access }; // without `who`: everybody else

/** Permissions that are changed: what isn't named stays as it is. */
export type Changed = { default?: Access; allow: { agent: string; access: Access }[] };

type Shared = { permissions: Schemas["NamespacePermissions"]; version: number; updated_at: string };
type Props = { name: string; shared: Shared; change: (permissions: Changed) => Promise<unknown> };

/** Who may do what, with fields to change it; what will change is shown before it happens. */
export function Permissions({ name, shared, change }: Props) {
  const [changes, setChanges] = useState<Change[]>();
  const who = useWho();
  const [isEmpty, setEmpty] = useState(false);
  const { permissions, version, updated_at } = shared;
  const mayChange = can(usePrincipal(), "memory.write") || can(usePrincipal(), "memory.admin");
  return (
    <form onSubmit={(event) => {
      event.preventDefault();
      const found = readChanges(shared, readForm(event.currentTarget));
      setEmpty(found.length === 0);
      if (found.length > 0) setChanges(found);
    }}>
      <p>Version {version}, of <Time>{updated_at}</Time>. An access includes those before it: none, read, write, admin.</p>
      <Table label="Permissions" head={["Who", "Access"]}>
        {permissions.allow.map(({ agent, access }, at) => (
          <tr key={agent}>
            <th scope="row"><Name>{agent}</Name></th>
            <td><AccessChoice label={`Access of ${agent}`} name={`allow ${at}`} initial={access} isFixed={!mayChange} /></td>
          </tr>
        ))}
        <tr>
          <th scope="row">everybody else</th>
          <td><AccessChoice label="Access of everybody else" name="default" initial={permissions.default} isFixed={!mayChange} /></td>
        </tr>
      </Table>
      {mayChange && (
        <>
          <div className="filters">
            <TextField label="Somebody else’s id" name="who" options={who} />
            <ChoiceField label="Access" name="access" initial="read" options={ACCESS} />
            <div className="actions"><button type="submit" className="primary">Change…</button></div>
          </div>
          {isEmpty && <p role="status">Nothing is changed.</p>}
        </>
      )}
      {changes && (
        <ConfirmDialog title="Change who may do what?" action="Change" onClose={() => setChanges(undefined)}
          onConfirm={() => change(toPermissions(changes))}>
          <p>In <Name>{name}</Name>, from now on:</p>
          <ul>
            {changes.map(({ who, from, to }) => (
              <li key={who ?? ""}>{who === undefined ? "everybody else" : <Name>{who}</Name>}: {from} → <strong>{to}</strong></li>
            ))}
          </ul>
          <p>It counts for all that is in it. The audit log keeps who changed it.</p>
        </ConfirmDialog>
      )}
    </form>
  );
}

type AccessProps = { label: string; name: string; initial: string; isFixed: boolean };

function AccessChoice({ label, name, initial, isFixed }: AccessProps) {
  if (isFixed) return <>{initial}</>;
  return (
    <select name={name} defaultValue={initial} aria-label={label}>
      {Object.keys(ACCESS).map((each) => <option key={each}>{each}</option>)}
    </select>
  );
}

function readChanges({ permissions }: Shared, form: Record<string, string>): Change[] {
  const listed = permissions.allow.map(({ agent, access }, at) => ({ who: agent, from: access as string, to: form[`allow ${at}`] as Access }));
  const added = form.who ? [{ who: form.who, from: permissions.default as string, to: form.access as Access }] : [];
  const others: Change = { from: permissions.default, to: form.default as Access };
  return [...listed.filter(({ from, to }) => from !== to), ...added, ...(others.from === others.to ? [] : [others])];
}

function toPermissions(changes: Change[]): Changed {
  const others = changes.find(({ who }) => who === undefined)?.to;
  return { default: others, allow: changes.flatMap(({ who, to }) => (who === undefined ? [] : [{ agent: who, access: to }])) };
}
