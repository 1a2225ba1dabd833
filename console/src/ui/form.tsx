/** Form fields and the dialog that asks before something is destroyed. */

import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { showInvisible } from "../api/json";
import { T } from "../texts";
import { Problem } from "./data";

type FieldProps = { label: string; hint?: string; isWide?: boolean; children: (id: string, hint: string | undefined) => ReactNode };

export function Field({ label, hint, isWide, children }: FieldProps) {
  const id = useId();
  return (
    <div className={isWide ? "field wide" : "field"}>
      <label htmlFor={id}>{label}</label>
      {children(id, hint ? `${id}-hint` : undefined)}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

type TextProps = { label: string; name: string; initial?: string; hint?: string; options?: string[]; required?: boolean; pattern?: string; isWide?: boolean };

export function TextField({ label, name, initial = "", hint, options, required, pattern, isWide }: TextProps) {
  const list = useId();
  return (
    <Field label={label} hint={hint} isWide={isWide}>
      {(id, described) => (
        <>
          <input id={id} name={name} defaultValue={initial} autoComplete="off" spellCheck={false}
            required={required} pattern={pattern} aria-describedby={described} list={options && list} />
          {options && <datalist id={list}>{options.map((each) => <option key={each} value={each} />)}</datalist>}
        </>
      )}
    </Field>
  );
}

type ChoiceProps = { label: string; name: string; initial?: string; options: Record<string, string>; onChange?: (chosen: string) => void };

export function ChoiceField({ label, name, initial = "", options, onChange }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} name={name} defaultValue={initial} onChange={(event) => onChange?.(event.target.value)}>
          {Object.entries(options).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
        </select>
      )}
    </Field>
  );
}

/** Return the texts of a form's fields by name. */
export function readForm(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

type DialogProps = { title: string; action: string; children: ReactNode; isReady?: boolean; onConfirm: () => Promise<unknown>; onClose: () => void };

/** Asks before something happens that can't be taken back. */
export function ConfirmDialog({ title, action, children, isReady = true, onConfirm, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{showInvisible(title)}</h2>
      {children}
      {confirm.isError && <Problem error={confirm.error} />}
      <div className="actions">
        <button type="button" autoFocus onClick={onClose}>{T.actions.cancel}</button>
        <button type="button" className="danger" disabled={confirm.isPending || !isReady} onClick={() => confirm.mutate()}>{action}</button>
      </div>
    </dialog>
  );
}
