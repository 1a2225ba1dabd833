// The arithmetic of operations/estimate.py for the page; tests/operations/test_calculator.py compares them.
const PRICES = {
  turn: 9.02, recall: 3.04, put: 2.79, get: 1.43, coldStart: 0.01 * 1.5 * 13.3334,
  edgeFixed: 11, edgeRequest: 1.6, replicatedTurn: 7.62, replicatedPut: 1.25,
  storedGb: 0.45, backupGb: 0.1, turnBytes: 2300, eventBytes: 480, months: 12,
  fixed: 56 * 0.1 + 3 + 2.4 + 0.3 + 0.17, keyRequest: 3, valuesAKey: 10000,
  learnedIn: 1200, learnedOut: 150,
};

function estimate(usage) {
  const p = PRICES;
  const turns = usage.agents * usage.turns;
  const puts = turns + usage.puts;
  const gets = turns + usage.gets;
  const requests = 2 * turns + puts + gets;
  const regions = usage.standby ? 2 : 1;
  let fixed = p.fixed * regions;
  let use = turns * (p.turn + p.recall) + puts * p.put + gets * p.get + requests * p.coldStart
    + (2 * turns + puts) / p.valuesAKey * p.keyRequest
    + turns * (p.learnedIn * usage.modelIn + p.learnedOut * usage.modelOut);
  if (usage.edge) {
    fixed += p.edgeFixed;
    use += requests * p.edgeRequest;
  }
  if (usage.standby) use += turns * p.replicatedTurn + puts * p.replicatedPut;
  const stored = (turns * p.turnBytes + puts * p.eventBytes) / 1e9
    * (p.storedGb * regions + p.backupGb * usage.backupDays);
  const base = fixed + use / 1e6;
  return { requests, fixed, first: base + stored, afterAYear: base + stored * p.months };
}

const FIELDS = [
  ["agents", "agents", 100],
  ["turns", "turns of each agent", 1000],
  ["gets", "further reads of entries", 0],
  ["puts", "further writes of entries", 0],
  ["backupDays", "days to keep daily backups", 0],
  ["modelIn", "a learning model: USD for a million tokens in", 0],
  ["modelOut", "a learning model: USD for a million tokens out", 0],
  ["edge", "CloudFront and a firewall", false],
  ["standby", "a second Region", false],
];

function addField(form, [name, text, value]) {
  const label = form.appendChild(document.createElement("p")).appendChild(document.createElement("label"));
  const isChoice = typeof value === "boolean";
  const input = document.createElement("input");
  Object.assign(input, { name, type: isChoice ? "checkbox" : "number", min: 0, step: "any" });
  if (!isChoice) input.value = value;
  label.append(`${text} `, input);
}

function readUsage(form) {
  const read = ([name, , value]) => {
    const input = form.elements[name];
    return [name, typeof value === "boolean" ? input.checked : Number(input.value) || 0];
  };
  return Object.fromEntries(FIELDS.map(read));
}

function show(form, output) {
  const found = estimate(readUsage(form));
  const dollars = (value) => `${value.toFixed(2)} USD`;
  output.textContent = [
    `${found.requests.toLocaleString("en")} requests a month`,
    `${dollars(found.first)} in the first month (${dollars(found.fixed)} fixed)`,
    `${dollars(found.afterAYear)} a month after a year`,
  ].join(", ");
}

function start(place) {
  const form = place.appendChild(document.createElement("form"));
  const output = place.appendChild(document.createElement("output"));
  for (const field of FIELDS) addField(form, field);
  form.addEventListener("input", () => show(form, output));
  form.addEventListener("submit", (event) => event.preventDefault());
  show(form, output);
}

if (typeof document !== "undefined") start(document.getElementById("calculator"));
if (typeof module !== "undefined") module.exports = { estimate, FIELDS };
