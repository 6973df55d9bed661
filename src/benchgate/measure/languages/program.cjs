// Observes a program of Node from its start to its end.
//
// Loaded by `node --require`. A variable says where to write what was observed, and what to observe.
// Every process of the program does that, and writes a file of its own.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { observeProgram } = require("./observed.cjs");

if (process.env.BENCHGATE_OBSERVE) {
  const [folder, what] = process.env.BENCHGATE_OBSERVE.split("|");
  const observed = observeProgram(what === "counts");
  process.on("exit", () => {
    const found = { ...observed(), folders: [], is_over: false };
    if (fs.existsSync(folder)) fs.writeFileSync(path.join(folder, String(process.pid)), JSON.stringify(found));
  });
}
