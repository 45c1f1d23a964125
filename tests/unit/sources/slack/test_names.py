"""Names of people: one look-up for each person of a run, and a fresh look-up for each decision about a person."""

from dataclasses import replace

from gofer.sources.slack.approvals import MayDecide, slack_may_decide
from gofer.sources.slack.directory import GetUser, slack_get_user
from gofer.sources.slack.read_thread import ReadThread, slack_read_thread
from gofer.tools.definition import Call, RunAtHand
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer_simulators.slack.simulator import SlackSimulator
from support.vendors.slack import API, play

ADA = "U0000001"


class Counting(Http):
    """HTTP that counts the look-ups of people."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self.asked: list[str] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        if request.url.endswith("/users.info"):
            self.asked.append(request.content.decode().removeprefix("user="))
        return await self._http.send(request)


def counted(call: Call) -> tuple[Counting, Call]:
    http = Counting(call.http)
    return http, replace(call, http=http)


def test_texts_of_a_run_look_each_person_up_once() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        http, call = counted(call)
        await slack_get_user.act(API, call, GetUser(name=ADA))
        for _ in range(2):
            assert "@Ada at " in (await slack_read_thread.act(API, call, ReadThread())).text
        assert http.asked == [ADA]
        await slack_read_thread.act(API, replace(call, run=RunAtHand()), ReadThread())
        assert http.asked == [ADA, ADA]

    play(story)


def test_decisions_about_a_person_look_the_person_up_each_time() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        http, call = counted(call)
        await slack_read_thread.act(API, call, ReadThread())
        for _ in range(2):
            await slack_get_user.act(API, call, GetUser(name=ADA))
            await slack_may_decide.act(API, call, MayDecide(user=ADA, by=[ADA]))
        assert http.asked == [ADA] * 5

    play(story)


def test_person_unknown_to_slack_is_looked_up_again() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        http, call = counted(call)
        slack.fail_next("users.info", "user_not_found")
        assert "@unknown user at " in (await slack_read_thread.act(API, call, ReadThread())).text
        assert "@Ada at " in (await slack_read_thread.act(API, call, ReadThread())).text
        assert http.asked == [ADA, ADA]

    play(story)
