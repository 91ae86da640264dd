// A small but whole client of pi in JavaScript: it sends one prompt, prints the
// answer as it comes, asks the person what the agent asks, and runs a tool of
// its own for the model.
//
//   node client.js 'How many words has "to be or not to be"?' --provider demo
//
// What follows the prompt goes to pi, which must be on PATH. docs/protocol.d.ts
// has the types of all frames.
"use strict";

const { spawn } = require("node:child_process");
const readline = require("node:readline");

if (process.argv.length < 3) {
  console.error("usage: client.js PROMPT [ARGUMENTS FOR PI]");
  process.exit(2);
}

const wordCount = {
  name: "word_count",
  description: "Counts the words of a text.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

const agent = spawn("pi", ["--mode", "rpc", ...process.argv.slice(3)], { stdio: ["pipe", "pipe", "inherit"] });
const send = (frame) => agent.stdin.write(JSON.stringify(frame) + "\n");
const end = () => agent.stdin.end(); // the agent ends by itself

agent.on("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
agent.on("close", (code) => {
  process.exitCode ||= code ?? 1;
  person.close();
});

// readline would split records at U+2028 too, so lines are cut by hand.
let rest = Buffer.alloc(0);
agent.stdout.on("data", (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end; (end = rest.indexOf(0x0a)) >= 0; rest = rest.subarray(end + 1)) {
    receive(JSON.parse(rest.subarray(0, end).toString("utf8")));
  }
});

send({ id: "tools", type: "set_host_tools", tools: [wordCount] });
send({ id: "prompt", type: "prompt", message: process.argv[2] });

function receive(frame) {
  switch (frame.type) {
    case "response":
      if (!frame.success) {
        console.error(`${frame.command}: ${frame.error}`);
        process.exitCode = 1;
        end();
      } else if (frame.data?.disposition === "handled") {
        end(); // a command that was handled begins no run
      }
      break;
    case "message_update":
      if (frame.assistantMessageEvent.type === "text_delta") process.stdout.write(frame.assistantMessageEvent.delta);
      break;
    case "tool_execution_start":
      console.log(`[${frame.toolName}]`);
      break;
    case "host_tool_call": {
      const words = frame.arguments.text.split(/\s+/).filter(Boolean).length;
      send({ type: "host_tool_result", id: frame.id, result: { content: [{ type: "text", text: String(words) }] } });
      break;
    }
    case "extension_ui_request":
      if (["select", "confirm", "input", "editor"].includes(frame.method)) ask(frame);
      break;
    case "agent_settled": // agent_end may come before a retry; this is the end
      console.log();
      end();
  }
}

const person = readline.createInterface({ input: process.stdin });
const typed = []; // lines that nobody asked for yet
const asked = []; // who waits for a line
person.on("line", (line) => (asked.length > 0 ? asked.shift()(line.trim()) : typed.push(line.trim())));
person.on("close", () => asked.splice(0).forEach((answer) => answer(undefined)));

function ask(dialog) {
  console.error([dialog.title, dialog.message, ...(dialog.options ?? [])].filter(Boolean).join("\n"));
  const answer = (line) => {
    const value = line === undefined ? { cancelled: true } : dialog.method === "confirm" ? { confirmed: line === "yes" } : { value: line };
    send({ type: "extension_ui_response", id: dialog.id, ...value });
  };
  if (typed.length > 0) answer(typed.shift());
  else if (person.closed) answer(undefined);
  else asked.push(answer);
}
