async def coordinate(run):
    while True:
        try:
            await run.call("slack_read_thread")
        except:
            pass
        try:
            await run.call("slack_read_thread")
        except (ValueError, BaseException):
            pass
        try:
            await run.call("slack_read_thread")
        except BaseException:
            raise
        finally:
            run.now()
