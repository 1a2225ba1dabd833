// Prints the public methods of each part of the client, as JSON.

import { Client } from "../dist/index.js";

const client = new Client({ serverUrl: "http://127.0.0.1:1", apiKey: "am_key", fetch: async () => new Response("{}") });

function list(part) {
  const names = new Set();
  for (let at = Object.getPrototypeOf(part); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
  }
  return [...names];
}

const parts = Object.entries(client).filter(([name]) => !["admin", "protocols"].includes(name));
const run = await client.openwop.start({ agent: "any" });
const all = [["client", client], ["forUser", client.forUser("ada")], ...parts, ["openwop", run]];
console.log(JSON.stringify(Object.fromEntries(all.map(([name, part]) => [name, list(part)]))));
