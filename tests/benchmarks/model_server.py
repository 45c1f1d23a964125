"""A minimal model server in a separate process: raw HTTP/1.1 over asyncio.

It calls `look` once per turn until the conversation holds `turns` answers, then finishes. Each answer
takes the given number of seconds.
"""

import asyncio
import json
import sys


def response(turn: int, turns: int) -> bytes:
    function = {"name": "look", "arguments": json.dumps({"text": str(turn)})}
    call = {"id": f"call_{turn}", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if turn >= turns:
        message = {"role": "assistant", "content": "Done."}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 0}}
    choice = {"index": 0, "finish_reason": "stop" if turn >= turns else "tool_calls", "message": message}
    body = json.dumps(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    ).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def main(turns: int, seconds: float) -> None:
    answers = [response(turn, turns) for turn in range(turns + 1)]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.lower().split(b"\r\n")
                length = next(int(line[15:]) for line in lines if line.startswith(b"content-length"))
                body = await reader.readexactly(length)
                turn = body.count(b'"role":"assistant"') + body.count(b'"role": "assistant"')
                if seconds:
                    await asyncio.sleep(seconds)
                writer.write(answers[min(turn, turns)])
                await writer.drain()
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**26, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
