// Drives pi with the RpcClient of the reference agent's npm package:
//
//   PI_BINARY=bin/pi node cmd/pi/testdata/npm/drive.mjs PATH/@earendil-works/pi-coding-agent
//
// It prints a line a check and exits with 1 if one failed. It is no part of
// the tests: those need nothing from npm.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

process.env.PI_BINARY = resolve(process.env.PI_BINARY ?? "bin/pi");
const { RpcClient } = await import(pathToFileURL(resolve(process.argv[2], "dist/index.js")));
const work = mkdtempSync(join(tmpdir(), "pi-npm-"));
const script = join(work, "script.json");
const texts = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
writeFileSync(script, JSON.stringify({ turns: texts.map((text) => ({ steps: [{ text }] })), repeat: true }));
const client = new RpcClient({
  cliPath: fileURLToPath(new URL("shim.mjs", import.meta.url)),
  cwd: work,
  provider: "demo",
  env: { PI_CODING_AGENT_DIR: join(work, "agent"), PI_DEMO_SCRIPT: script },
});

let failed = 0;
async function check(name, f) {
  try {
    const shown = await f();
    console.log(`ok    ${name}${shown === undefined ? "" : ": " + JSON.stringify(shown)}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}: ${error.message}`);
  }
}

await client.start();
await check("getState", async () => (await client.getState()).model.provider);
await check("promptAndWait", async () => {
  const events = await client.promptAndWait("hello");
  assert(events.some((e) => e.type === "message_update"), "no update");
  return [...new Set(events.map((e) => e.type))];
});
await check("getLastAssistantText", async () => {
  const text = await client.getLastAssistantText();
  assert(texts.includes(text), text);
  return text;
});
await check("prompt and waitForIdle", async () => {
  const idle = client.waitForIdle();
  const disposition = await client.prompt("again");
  await idle;
  return disposition;
});
await check("getMessages", async () => {
  const messages = await client.getMessages();
  assert.equal(messages.length, 4);
});
await check("steer and followUp, then clearQueue", async () => {
  await client.steer("s");
  await client.followUp("f");
  if (client.clearQueue) assert.deepEqual(await client.clearQueue(), { steering: ["s"], followUp: ["f"] });
});
await check("getAvailableModels", async () => (await client.getAvailableModels()).length);
await check("setModel", async () => {
  const [model] = await client.getAvailableModels();
  return (await client.setModel(model.provider, model.id)).id;
});
await check("cycleModel", () => client.cycleModel());
await check("setThinkingLevel", () => client.setThinkingLevel("low"));
await check("cycleThinkingLevel", () => client.cycleThinkingLevel());
await check("setSteeringMode", () => client.setSteeringMode("all"));
await check("setFollowUpMode", () => client.setFollowUpMode("all"));
await check("setAutoCompaction", () => client.setAutoCompaction(true));
await check("setAutoRetry", () => client.setAutoRetry(true));
await check("abortRetry", () => client.abortRetry());
await check("bash", async () => {
  const result = await client.bash("echo hi");
  assert.equal(result.output, "hi\n");
  assert.equal(result.exitCode, 0);
});
await check("abortBash", async () => {
  const running = client.bash("sleep 30");
  await client.abortBash();
  assert.equal((await running).cancelled, true);
});
await check("getSessionStats", async () => (await client.getSessionStats()).userMessages);
await check("getForkMessages and fork", async () => {
  const [first] = await client.getForkMessages();
  return client.fork(first.entryId);
});
await check("setSessionName", async () => {
  await client.setSessionName("named");
  assert.equal((await client.getState()).sessionName, "named");
});
await check("exportHtml", async () => {
  await client.promptAndWait("something to export");
  return (await client.exportHtml(join(work, "page.html"))).path === join(work, "page.html");
});
await check("newSession", () => client.newSession());
await check("getCommands", async () => (await client.getCommands()).length);
await check("a refusal is an error", () => assert.rejects(client.setModel("no", "such"), /Model not found: no\/such/));
await check("abort", () => client.abort());
await check("stop", () => client.stop());
rmSync(work, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
