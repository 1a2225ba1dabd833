import { useState } from "react";
import type { Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { T, toWord, toWords } from "../texts";
import { Table } from "../ui/data";
import { ChoiceField, ConfirmDialog, readForm, TextField } from "../ui/form";
import { Name, Sentence, Time } from "../ui/text";
import { useWho } from "./choices";

const ACCESS = toWords("none", "read", "write", "admin");
type Access = keyof typeof ACCESS;
type Change = { who?: string; from: string; to: Access }; // without `who`: everybody else

/** Permissions that are changed: what isn't named stays as it is. */
export type Changed = { default?: Access; allow: { agent: string; access: Access }[] };

type Shared = { permissions: Schemas["NamespacePermissions"]; version: number; updated_at: string };
type Props = { name: string; shared: Shared; change: (permissions: Changed) => Promise<unknown> };

/** The permissions of a namespace, with fields to change them; a change is previewed before it is made. */
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
      <p className="hint"><Sentence text={T.permissions.intro} of={{ version, time: <Time>{updated_at}</Time> }} /></p>
      <Table label={T.permissions.title} head={[T.terms.who, T.terms.access]}>
        {permissions.allow.map(({ agent, access }, at) => (
          <tr key={agent}>
            <th scope="row"><Name>{agent}</Name></th>
            <td><AccessChoice label={T.permissions.accessOf(agent)} name={`allow ${at}`} initial={access} isFixed={!mayChange} /></td>
          </tr>
        ))}
        <tr>
          <th scope="row">{T.permissions.everyoneElse}</th>
          <td><AccessChoice label={T.permissions.accessOfOthers} name="default" initial={permissions.default} isFixed={!mayChange} /></td>
        </tr>
      </Table>
      {mayChange && (
        <>
          <div className="filters">
            <TextField label={T.permissions.add} name="who" options={who} />
            <ChoiceField label={T.terms.access} name="access" initial="read" options={ACCESS} />
            <div className="actions"><button type="submit" className="primary">{T.actions.change}</button></div>
          </div>
          {isEmpty && <p role="status">{T.actions.nothingChanged}</p>}
        </>
      )}
      {changes && (
        <ConfirmDialog title={T.permissions.changeTitle} action={T.actions.changeNow} onClose={() => setChanges(undefined)}
          onConfirm={() => change(toPermissions(changes))}>
          <p><Sentence text={T.permissions.changes} of={{ name: <Name>{name}</Name> }} /></p>
          <ul>
            {changes.map(({ who, from, to }) => (
              <li key={who ?? ""}>{who === undefined ? T.permissions.everyoneElse : <Name>{who}</Name>}: {toWord(from)} → <strong>{toWord(to)}</strong></li>
            ))}
          </ul>
          <p>{T.permissions.warning}</p>
        </ConfirmDialog>
      )}
    </form>
  );
}

type AccessProps = { label: string; name: string; initial: string; isFixed: boolean };

function AccessChoice({ label, name, initial, isFixed }: AccessProps) {
  if (isFixed) return <>{toWord(initial)}</>;
  return (
    <select name={name} defaultValue={initial} aria-label={label}>
      {Object.entries(ACCESS).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
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
