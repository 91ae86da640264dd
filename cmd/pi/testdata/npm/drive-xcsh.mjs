// Drives pi, in the xcsh dialect, with the RpcClient of the npm package
// @oh-my-pi/pi-coding-agent, which needs Bun on PATH:
//
//   go build -o bin/ ./cmd/pi ./cmd/modelserver ./examples/extensions/rpc-demo
//   bun cmd/pi/testdata/npm/drive-xcsh.mjs PATH/@oh-my-pi/pi-coding-agent bin
//
// What that client has no method for (todos, dialogs, the interrupt mode, names
// and the events that it keeps to itself) is written and read as lines, as the
// documents of the dialect show them. It prints a line a check and exits with 1
// if one failed. It is no part of the tests: those need nothing from npm.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

const [library, bin] = process.argv.slice(2).map((path) => resolve(path));
process.env.PI_BINARY = join(bin, "pi");
const { RpcClient } = await import(pathToFileURL(join(library, "src/modes/rpc/rpc-client.ts")));
const work = mkdtempSync(join(tmpdir(), "pi-npm-"));
const agent = join(work, "agent");
mkdirSync(agent);

const server = spawn(join(bin, "modelserver"), { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((done) => createInterface({ input: server.stdout }).once("line", done));
const model = (id) => ({ id, name: id, reasoning: true, input: ["text", "image"], contextWindow: 200000, maxTokens: 16000 });
writeFileSync(join(agent, "models.json"), JSON.stringify({
  providers: { mock: { baseUrl: url, api: "anthropic-messages", apiKey: "x", models: [model("m1"), model("m2")] } },
}));
writeFileSync(join(agent, "settings.json"), JSON.stringify({ compaction: { keepRecentTokens: 1 }, retry: { baseDelayMs: 50 } }));
const env = { PI_CODING_AGENT_DIR: agent, PI_RPC_EMIT_TITLE: "1" };

let failed = 0;
async function check(name, f) {
  try {
    const late = new Promise((_, fail) => setTimeout(() => fail(new Error("nothing came for 20 s")), 20000).unref());
    const shown = await Promise.race([f(), late]);
    console.log(`ok    ${name}${shown === undefined ? "" : ": " + JSON.stringify(shown)}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}: ${error.message}`);
  }
}

const text = (message) => message.content.filter((block) => block.type === "text").map((block) => block.text).join("");
const ends = (events, role) => events.filter((e) => e.type === "message_end" && e.message.role === role).map((e) => e.message);

const client = new RpcClient({
  cliPath: fileURLToPath(new URL("shim.mjs", import.meta.url)),
  cwd: work, provider: "mock", model: "m1", sessionDir: join(work, "sessions"), args: ["--dialect", "xcsh"], env,
  customTools: [{
    name: "word_count", description: "Counts words", parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: ({ text }, context) => {
      context.sendUpdate("counting");
      return String(text.split(" ").length);
    },
  }, {
    name: "stuck", description: "Never ends", parameters: { type: "object", properties: {} },
    execute: (_, context) => new Promise((done) => context.signal.addEventListener("abort", () => {
      stopped = true;
      done("too late");
    })),
  }],
});
let stopped = false;
const updates = [];
client.onEvent((e) => e.type === "message_update" && updates.push(e));
// settled waits until the agent says so: this client knows agent_end only.
const settled = async () => {
  while ((await client.getState()).isStreaming) await new Promise((done) => setTimeout(done, 20));
};
const ask = async (message) => {
  const events = await client.promptAndWait(message);
  await settled();
  return events;
};

await check("start waits for ready, and sets the tools", () => client.start());
await check("getState", async () => {
  const state = await client.getState();
  assert.equal(state.model.id, "m1");
  for (const field of ["steeringMode", "followUpMode", "interruptMode", "sessionId", "autoCompactionEnabled", "messageCount", "queuedMessageCount", "todoPhases"])
    assert(field in state, field);
  return state.interruptMode;
});
await check("promptAndWait", async () => {
  const events = await ask("SAY one two");
  assert.equal(text(ends(events, "assistant")[0]), "one two");
  return [...new Set(events.map((e) => e.type))];
});
await check("message_update carries the message and the delta's partial", () => {
  const last = updates.filter((e) => e.assistantMessageEvent.type === "text_delta").at(-1);
  assert.equal(text(last.message), "one two");
  assert.equal(text(last.assistantMessageEvent.partial), "one two");
});
await check("getLastAssistantText", async () => assert.equal(await client.getLastAssistantText(), "one two"));
await check("a host tool", async () => {
  const events = await ask('TOOL word_count {"text":"to be or not"}');
  assert.equal(text(ends(events, "toolResult")[0]), "4");
  assert(events.some((e) => e.type === "tool_execution_update" && text(e.partialResult) === "counting"), "no update");
});
await check("a host tool that is aborted", async () => {
  const idle = client.waitForIdle();
  await client.prompt("TOOL stuck {}");
  await new Promise((done) => { const off = client.onEvent((e) => e.type === "tool_execution_start" && (off(), done())); });
  await client.abort();
  await idle;
  assert(stopped, "the host was not told");
});
await check("steer", async () => {
  const all = client.collectEvents();
  await client.prompt('TOOL bash {"command":"sleep 0.3"}');
  await client.steer("SAY steered");
  const events = await all;
  await settled();
  assert.deepEqual(ends(events, "user").map((m) => m.content[0].text), ['TOOL bash {"command":"sleep 0.3"}', "SAY steered"]);
});
await check("followUp", async () => {
  await client.prompt("SLOW 30\nSAY a b c d e");
  await client.followUp("SAY followed");
  await settled();
  assert.equal(await client.getLastAssistantText(), "followed");
});
await check("abort", async () => {
  const all = client.collectEvents();
  await client.prompt("HANG");
  await client.abort();
  assert.equal(ends(await all, "assistant").at(-1).stopReason, "aborted");
});
await check("abortAndPrompt", async () => {
  await client.prompt("HANG");
  await client.abortAndPrompt("SAY instead");
  await settled();
  assert.equal(await client.getLastAssistantText(), "instead");
});
await check("a failure is retried", async () => {
  await client.setAutoRetry(true);
  await client.prompt("FAIL 529 1\nSAY again");
  await settled();
  assert.equal(await client.getLastAssistantText(), "again");
});
await check("abortRetry", () => client.abortRetry());
await check("getAvailableModels", async () => (await client.getAvailableModels()).map((m) => m.id));
await check("setModel", async () => assert.equal((await client.setModel("mock", "m2")).id, "m2"));
await check("cycleModel", async () => (await client.cycleModel()).model.id);
await check("a refusal is an error", () => assert.rejects(client.setModel("no", "such"), /Model not found: no\/such/));
await check("setThinkingLevel", async () => {
  await client.setThinkingLevel("low");
  assert.equal((await client.getState()).thinkingLevel, "low");
});
await check("cycleThinkingLevel", () => client.cycleThinkingLevel());
await check("setSteeringMode, setFollowUpMode", async () => {
  await client.setSteeringMode("all");
  await client.setFollowUpMode("all");
  const state = await client.getState();
  assert.deepEqual([state.steeringMode, state.followUpMode], ["all", "all"]);
});
await check("bash", async () => {
  const result = await client.bash("echo hi; exit 3");
  assert.deepEqual([result.output, result.exitCode, result.cancelled], ["hi\n", 3, false]);
});
await check("abortBash", async () => {
  const running = client.bash("sleep 30");
  await client.abortBash();
  assert.equal((await running).cancelled, true);
});
await check("getMessages", async () => (await client.getMessages()).length);
await check("getSessionStats", async () => (await client.getSessionStats()).userMessages);
await check("compact", async () => {
  await ask("SAY " + "alpha ".repeat(50));
  const result = await client.compact("briefly");
  assert(result.summary && result.firstKeptEntryId && result.tokensBefore > 0);
});
await check("setAutoCompaction", () => client.setAutoCompaction(false));
await check("exportHtml", async () => {
  const { path } = await client.exportHtml(join(work, "page.html"));
  assert(existsSync(path));
});
await check("getBranchMessages and branch", async () => {
  const first = (await client.getBranchMessages())[0];
  const { text, cancelled } = await client.branch(first.entryId);
  assert.deepEqual([text, cancelled], [first.text, false]);
  return text;
});
await check("newSession and switchSession", async () => {
  await ask("SAY here");
  const { sessionFile } = await client.getState();
  assert.deepEqual(await client.newSession(), { cancelled: false });
  assert.equal((await client.getState()).messageCount, 0);
  assert.deepEqual(await client.switchSession(sessionFile), { cancelled: false });
  assert.equal((await client.getState()).sessionFile, sessionFile);
});
await check("switchSession to a missing file", () => assert.rejects(client.switchSession(join(work, "missing.jsonl"))));
await check("setCustomTools", async () => assert.deepEqual(await client.setCustomTools([]), []));
await check("stop", () => client.stop());

// Lines, for what the client has no method for.
const child = spawn(process.env.PI_BINARY, ["--mode", "rpc", "--dialect", "xcsh", "--provider", "mock", "--model", "m1", "--extension", join(bin, "rpc-demo")],
  { cwd: work, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "inherit"] });
const frames = [];
const waiting = [];
createInterface({ input: child.stdout }).on("line", (line) => {
  frames.push(JSON.parse(line));
  for (const look of [...waiting]) look();
});
const send = (frame) => child.stdin.write(JSON.stringify(frame) + "\n");
// until gives the first frame that fits, of those that came behind the last one.
let at = 0;
const until = (fits) => new Promise((done) => {
  const look = () => {
    const found = frames.findIndex((frame, i) => i >= at && fits(frame));
    if (found < 0) return;
    at = found + 1;
    waiting.splice(waiting.indexOf(look), 1);
    done(frames[found]);
  };
  waiting.push(look);
  look();
});
let n = 0;
const call = async (command) => {
  const id = `r${++n}`;
  send({ id, ...command });
  const response = await until((f) => f.type === "response" && f.id === id);
  assert(response.success, response.error);
  return response.data;
};

await check("the first frame is ready", async () => {
  await until(() => true);
  assert.deepEqual(frames[0], { type: "ready" });
});
await check("set_todos", async () => {
  const { todoPhases } = await call({ type: "set_todos", phases: [{ id: "p", name: "Phase", tasks: [{ id: "t", content: "Task", status: "pending" }] }] });
  assert.deepEqual(todoPhases[0].tasks.map((t) => [t.content, t.status]), [["Task", "in_progress"]]);
  assert.deepEqual((await call({ type: "get_state" })).todoPhases, todoPhases);
});
await check("todo_reminder", async () => {
  await call({ type: "prompt", message: "SAY not yet" });
  return (await until((f) => f.type === "todo_reminder")).todos?.length;
});
await check("set_interrupt_mode", async () => {
  await call({ type: "set_interrupt_mode", mode: "immediate" });
  assert.equal((await call({ type: "get_state" })).interruptMode, "immediate");
});
await check("set_session_name", async () => {
  await call({ type: "set_session_name", name: "named" });
  assert.equal((await call({ type: "get_state" })).sessionName, "named");
});
for (const [method, answer] of [["select", { value: "Red" }], ["confirm", { confirmed: true }], ["input", { value: "typed" }], ["editor", { value: "written" }]]) {
  await check(`dialog: ${method}`, async () => {
    send({ id: method, type: "prompt", message: `/demo ${method}` });
    const asked = await until((f) => f.type === "extension_ui_request" && f.method === method);
    send({ type: "extension_ui_response", id: asked.id, ...answer });
    return (await until((f) => f.type === "extension_ui_request" && f.method === "notify")).message;
  });
}
await check("a dialog that ends on the agent's side is cancelled", async () => {
  send({ id: "timeout", type: "prompt", message: "/demo timeout" });
  const asked = await until((f) => f.type === "extension_ui_request" && f.timeout > 0);
  assert.equal((await until((f) => f.method === "cancel")).targetId, asked.id);
});
await check("setTitle", async () => {
  send({ id: "title", type: "prompt", message: "/demo title" });
  return (await until((f) => f.method === "setTitle")).title.length > 0;
});
await check("a prompt during a run fails behind its acknowledgement", async () => {
  await call({ type: "prompt", message: "HANG" });
  await call({ type: "prompt", message: "SAY no" });
  assert.match((await until((f) => f.type === "response" && f.success === false)).error, /streaming/);
  await call({ type: "abort" });
});
await check("automatic compaction has its own events", async () => {
  await call({ type: "set_auto_compaction", enabled: true });
  await call({ type: "prompt", message: "USAGE 199000\nSAY " + "alpha ".repeat(50) });
  await until((f) => f.type === "auto_compaction_start");
  await until((f) => f.type === "auto_compaction_end");
});
await check("an unknown command is answered without id", async () => {
  send({ id: "u", type: "nonsense" });
  const response = await until((f) => f.type === "response" && f.command === "nonsense");
  assert(!("id" in response) && response.success === false);
});
await check("the end of input ends the process", async () => {
  child.stdin.end();
  assert.equal(await new Promise((done) => child.once("exit", done)), 0);
});
server.kill("SIGINT");
rmSync(work, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
