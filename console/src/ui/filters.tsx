/** One filter bar: chips such as `agent:reader`, completed from what is there, kept in the address. */

import { Combobox, ComboboxItem, ComboboxPopover, ComboboxProvider } from "@ariakit/react";
import { useState } from "react";
import { T } from "../texts";
import { goTo, toHref } from "./location";
import { Name } from "./text";

/** A filter: the parameter of the address that it sets, or a screen that it opens, and what it offers to choose from. */
export type Filter = { param: string; open?: (value: string) => string; options?: string[]; example?: string };
export type Filters = Record<string, Filter>;

const MOST_OFFERED = 30;
type Props = { path: string[]; params: URLSearchParams; filters: Filters };

export function FilterBar({ path, params, filters }: Props) {
  const [typed, setTyped] = useState("");
  const chips = Object.entries(filters).flatMap(([name, { param }]) => {
    const value = params.get(param);
    return value ? [{ name, param, value }] : [];
  });
  const set = (param: string, value: string | undefined) => goTo(toHref(path, { ...Object.fromEntries(params), [param]: value }));
  const add = (chip: string) => {
    const [name, value] = splitChip(chip);
    const filter = filters[name];
    if (filter === undefined || value === "") return;
    setTyped("");
    if (filter.open) goTo(filter.open(value));
    else set(filter.param, value);
  };
  const offered = offer(filters, typed);
  return (
    <div className="filter-bar" role="group" aria-label={T.filter.label}>
      {chips.map(({ name, param, value }) => (
        <button key={name} type="button" className="chip" aria-label={T.filter.remove(`${name}:${value}`)} onClick={() => set(param, undefined)}>
          {name}:<Name>{value}</Name> <span aria-hidden="true">×</span>
        </button>
      ))}
      <ComboboxProvider value={typed} setValue={setTyped} focusLoop="vertical">
        <Combobox className="filter-input" aria-label={T.filter.add} placeholder={chips.length > 0 ? "" : toExample(filters)} autoSelect={typed.includes(":") ? false : "always"}
          onKeyDown={(event) => {
            if (event.key === "Enter" && typed.includes(":")) add(typed);
            const last = chips.at(-1);
            if (event.key === "Backspace" && typed === "" && last) set(last.param, undefined);
          }} />
        <ComboboxPopover gutter={4} className="menu" aria-label={T.filter.suggestions} unmountOnHide>
          {offered.map((each) => (
            <ComboboxItem key={each} value={each} className="menu-item" setValueOnClick={each.endsWith(":")} hideOnClick={!each.endsWith(":")}
              onClick={() => { if (!each.endsWith(":")) add(each); }}><Name>{each}</Name></ComboboxItem>
          ))}
        </ComboboxPopover>
      </ComboboxProvider>
      {chips.length > 1 && <a href={toHref(path)}>{T.filter.clear}</a>}
    </div>
  );
}

/** An example of filters, such as `agent:reader tag:books after:yesterday`. */
function toExample(filters: Filters): string {
  return Object.entries(filters).slice(0, 3).map(([name, { options, example }]) => `${name}:${example ?? options?.[0] ?? "…"}`).join(" ");
}

function splitChip(chip: string): [string, string] {
  const at = chip.indexOf(":");
  return at === -1 ? [chip, ""] : [chip.slice(0, at).trim(), chip.slice(at + 1).trim()];
}

/** Offer filters by name; after a name, its values. */
function offer(filters: Filters, typed: string): string[] {
  if (typed.includes(":")) {
    const [name, value] = splitChip(typed);
    const options = filters[name]?.options ?? [];
    return options.filter((each) => each.toLowerCase().includes(value.toLowerCase())).slice(0, MOST_OFFERED).map((each) => `${name}:${each}`);
  }
  const wanted = typed.trim().toLowerCase();
  const names = Object.keys(filters).filter((each) => each.startsWith(wanted)).map((each) => `${each}:`);
  if (wanted === "") return names;
  const values = Object.entries(filters).flatMap(([name, { options = [] }]) =>
    options.filter((each) => each.toLowerCase().includes(wanted)).slice(0, 5).map((each) => `${name}:${each}`));
  return [...names, ...values].slice(0, MOST_OFFERED);
}
