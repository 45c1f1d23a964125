"""Files in the simulated Slack: their description, who can download them, and deletion."""

from dataclasses import replace

import httpx2

from gofer_simulators.json_values import object_of, objects
from support.vendors.slack_web_api import TOKEN, Slack, play


async def upload(slack: Slack, name: str = "a b.txt", mode: str = "hosted") -> dict[str, object]:
    await slack.simulator.upload("U1", "C1", name, b"what it says", "look", mode=mode)
    (file,) = slack.simulator.workspace.files.values()
    return object_of(await slack.call("files.info", file=file.id), "file")


def test_simulated_slack_message_describes_a_file_as_files_info_does() -> None:
    async def story(slack: Slack) -> None:
        told = await upload(slack)
        shared = slack.simulator.workspace.timeline("C1")[-1]
        (file,) = objects(shared.extra["files"])
        assert shared.extra["subtype"] == "file_share"
        assert file["url_private"] == f"https://files.slack.com/files-pri/T1-{file['id']}/a%20b.txt"
        assert file["url_private_download"] == f"https://files.slack.com/files-pri/T1-{file['id']}/download/a%20b.txt"
        elsewhere = {"url_private", "url_private_download"}
        assert {key: file[key] for key in file if key not in elsewhere} == {
            key: told[key] for key in told if key not in elsewhere
        }
        assert (file["size"], file["mode"], file["is_external"], file["user"]) == (12, "hosted", False, "U1")

    play(story)


def test_simulated_slack_file_needs_the_token_and_scope_or_redirects_to_login() -> None:
    async def story(slack: Slack) -> None:
        told = await upload(slack)

        async def get(headers: dict[str, str]) -> httpx2.Response:
            return await slack.http.get(str(told["url_private_download"]), headers=headers)

        assert (await get(TOKEN)).content == b"what it says"
        for headers in ({}, {"Authorization": "Bearer xoxb-wrong"}):
            refused = await get(headers)
            assert refused.status_code == 302
            page = await slack.http.get(refused.headers["location"])
            assert (page.status_code, page.headers["content-type"].split(";")[0]) == (200, "text/html")
        slack.simulator.workspace.bot = replace(slack.simulator.workspace.bot, scopes=frozenset({"chat:write"}))
        assert (await get(TOKEN)).status_code == 302
        assert await slack.error("files.info", file=str(told["id"])) == "missing_scope"

    play(story)


def test_simulated_slack_deleted_file_leaves_a_tombstone() -> None:
    async def story(slack: Slack) -> None:
        told = await upload(slack)
        await slack.simulator.delete_file(str(told["id"]))
        (file,) = objects(slack.simulator.workspace.timeline("C1")[-1].extra["files"])
        assert file == {"id": told["id"], "mode": "tombstone"}
        assert await slack.error("files.info", file=str(told["id"])) == "file_deleted"
        assert (await slack.http.get(str(told["url_private"]), headers=TOKEN)).status_code == 404
        assert await slack.error("files.info", file="F0") == "file_not_found"

    play(story)


def test_simulated_slack_external_file_has_no_download() -> None:
    async def story(slack: Slack) -> None:
        told = await upload(slack, mode="external")
        assert (told["is_external"], "url_private_download" in told) == (True, False)

    play(story)
