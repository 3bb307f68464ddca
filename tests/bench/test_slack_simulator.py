"""The simulated Slack, asked by slack-sdk itself."""
from __future__ import annotations

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from mirage.bench.company import PEOPLE
from mirage.bench.services.clock import Clock
from mirage.bench.services.slack import SlackSimulator
from mirage.bench.services.slack.seed import NOW


@pytest.fixture
def simulator():
    with SlackSimulator(messages=120) as simulator:
        yield simulator


def client(simulator, token="xoxp-simulator"):
    web = WebClient(token, base_url=f"{simulator.address}api/", retry_handlers=[])
    web.proxy = None
    return web


def error(function, **arguments):
    with pytest.raises(SlackApiError) as caught:
        function(**arguments)
    return caught.value.response["error"]


def test_a_seed_is_a_workspace():
    one, two, other = (SlackSimulator(seed=seed, messages=300) for seed in (1, 1, 2))
    assert one.state() == two.state() != other.state()
    assert 280 <= len(one.state()) <= 320 and 800 <= len(SlackSimulator().state()) <= 920
    assert max(float(key.split()[1]) for key in one.state()) < NOW


def test_the_people_are_those_of_the_mailbox(simulator):
    addresses = {user["profile"]["email"] for user in client(simulator).users_list()["members"]}
    assert {person.partition("<")[2].rstrip(">") for person in PEOPLE} | {"mara@norrsken.example"} <= addresses


def test_pages_by_the_sdk(simulator):
    web = client(simulator)
    whole = web.conversations_history(channel="C02APOLLO", limit=999)["messages"]
    paged = [m for page in web.conversations_history(channel="C02APOLLO", limit=3) for m in page["messages"]]
    assert paged == whole and len(whole) > 6 and [m["ts"] for m in whole] == sorted((m["ts"] for m in whole), reverse=True)
    middle = whole[5]["ts"]
    assert web.conversations_history(channel="C02APOLLO", oldest=middle, limit=999)["messages"] == whole[:5]
    assert web.conversations_history(channel="C02APOLLO", oldest=middle, inclusive=True, limit=999)["messages"] == whole[:6]
    assert error(web.conversations_history, channel="C02APOLLO", cursor="nonsense") == "invalid_cursor"


def test_threads(simulator):
    web = client(simulator)
    ts = web.chat_postMessage(channel="C05RANDOM", text="parent")["ts"]
    first = web.chat_postMessage(channel="C05RANDOM", text="reply", thread_ts=ts)["ts"]
    web.reactions_add(channel="C05RANDOM", timestamp=first, name="eyes")
    messages = web.conversations_replies(channel="C05RANDOM", ts=ts)["messages"]
    assert [m["text"] for m in messages] == ["parent", "reply"] and messages[0]["latest_reply"] == first > ts
    assert messages[1]["reactions"] == [{"name": "eyes", "users": ["U01MARA"], "count": 1}]
    assert [m["text"] for m in web.conversations_history(channel="C05RANDOM", limit=1)["messages"]] == ["parent"]
    assert error(web.chat_postMessage, channel="C05RANDOM", text="x", thread_ts="1.2") == "thread_not_found"


def test_errors(simulator):
    web = client(simulator)
    assert error(web.conversations_history, channel="C99") == "channel_not_found"
    assert error(web.conversations_history, channel="C10OTHERS") == "not_in_channel"
    assert error(client(simulator, "xoxp-wrong").auth_test) == "invalid_auth"
    assert error(client(simulator, "xoxb-simulator").search_messages, query="x") == "not_allowed_token_type"
    assert error(web.api_call, api_method="no.such") == "unknown_method"
    simulator.fault("status", "users.list", status=429, seconds=7)
    with pytest.raises(SlackApiError) as caught:
        web.users_list()
    assert caught.value.response.status_code == 429 and caught.value.response.headers["Retry-After"] == "7"


def test_search_lags():
    clock = Clock(NOW)
    with SlackSimulator(messages=60, index_lag=60, clock=clock) as simulator:
        web = client(simulator)
        assert web.search_messages(query="quartz")["messages"]["matches"][0]["permalink"].endswith("?thread_ts=1790067600.000119")
        web.chat_postMessage(channel="C05RANDOM", text="a zebra")
        assert web.search_messages(query="zebra")["messages"]["total"] == 0
        clock.advance(61)
        assert web.search_messages(query="zebra")["messages"]["total"] == 1
        assert web.search_messages(query="has::tada:")["messages"]["total"] >= 1


def test_snapshots(simulator):
    before, kept = simulator.state(), simulator.snapshot()
    client(simulator).chat_postMessage(channel="C05RANDOM", text="new")
    (added,) = simulator.diff(before, simulator.state())["added"].values()
    assert added["text"] == "new"
    simulator.restore(kept)
    assert simulator.state() == before
