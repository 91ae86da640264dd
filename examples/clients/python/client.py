"""A small but whole client of pi in Python: it sends one prompt, prints the
answer as it comes, asks the person what the agent asks, and runs a tool of its
own for the model.

    python3 client.py 'How many words has "to be or not to be"?' --provider demo

What follows the prompt goes to pi, which must be on PATH.
"""

import json
import subprocess
import sys

WORD_COUNT = {
    "name": "word_count",
    "description": "Counts the words of a text.",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: client.py PROMPT [ARGUMENTS FOR PI]")
    # Bytes, not text: a line feed ends a record, and no other line end does.
    agent = subprocess.Popen(["pi", "--mode", "rpc", *sys.argv[2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(frame):
        agent.stdin.write(json.dumps(frame).encode() + b"\n")
        agent.stdin.flush()

    send({"id": "tools", "type": "set_host_tools", "tools": [WORD_COUNT]})
    send({"id": "prompt", "type": "prompt", "message": sys.argv[1]})
    failure = None
    for line in agent.stdout:
        frame = json.loads(line)
        kind = frame["type"]
        if kind == "response" and not frame["success"]:
            failure = f"{frame['command']}: {frame['error']}"
            break
        if kind == "response" and frame.get("data", {}).get("disposition") == "handled":
            break  # a command that was handled begins no run
        if kind == "message_update" and frame["assistantMessageEvent"]["type"] == "text_delta":
            print(frame["assistantMessageEvent"]["delta"], end="", flush=True)
        elif kind == "tool_execution_start":
            print(f"[{frame['toolName']}]")
        elif kind == "host_tool_call":
            send({"type": "host_tool_result", "id": frame["id"], "result": run_tool(frame)})
        elif kind == "extension_ui_request" and frame["method"] in ("select", "confirm", "input", "editor"):
            send({"type": "extension_ui_response", "id": frame["id"], **ask(frame)})
        elif kind == "agent_settled":  # agent_end may come before a retry; this is the end
            print()
            break
    agent.stdin.close()  # the agent ends by itself
    agent.stdout.read()
    code = agent.wait()
    sys.exit(failure or code)


def run_tool(call):
    return {"content": [{"type": "text", "text": str(len(call["arguments"]["text"].split()))}]}


def ask(dialog):
    print(dialog["title"], dialog.get("message", ""), *dialog.get("options", []), sep="\n", file=sys.stderr)
    line = sys.stdin.readline()
    if not line:
        return {"cancelled": True}
    answer = line.strip()
    return {"confirmed": answer == "yes"} if dialog["method"] == "confirm" else {"value": answer}


if __name__ == "__main__":
    main()
