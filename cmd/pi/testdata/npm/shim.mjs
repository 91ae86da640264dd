// Stands in for the reference agent's cli.js: the npm client starts it with
// node, and it starts the program that PI_BINARY names.
import { spawn } from "node:child_process";

const child = spawn(process.env.PI_BINARY, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
