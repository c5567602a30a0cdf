from __future__ import annotations

import json
from dataclasses import replace

import pytest
from run_examples import example_run

from jupyter_codeagent.types.run_json import call_view, run_from_json, run_to_json, run_view, run_with_messages
from jupyter_codeagent.types.sandbox import ExecutionResult, RecordedValue, ToolCall


def test_a_run_comes_back_equal_from_its_json_text() -> None:
    run = example_run()

    assert run_from_json(json.loads(json.dumps(run_to_json(run)))) == run


def test_what_calls_returned_is_in_the_record_and_not_in_what_a_page_gets() -> None:
    value = RecordedValue(kind="json", meta_json='{"list": [7411]}', data="")
    call = ToolCall(tool="send", call="send('ada')", status="ok", key="k1", value=value)
    first, *others = example_run().steps
    first = replace(first, result=ExecutionResult(status="ok", calls=(call,)))
    run = replace(example_run(), steps=(first, *others))

    assert run_from_json(json.loads(json.dumps(run_to_json(run)))) == run
    for page in (run_view(run), run_with_messages(run), call_view(call)):
        assert "send('ada')" in json.dumps(page)
        assert "7411" not in json.dumps(page)


def test_where_what_stands_in_a_message_comes_back_with_it() -> None:
    run, again = example_run(), run_from_json(json.loads(json.dumps(run_to_json(example_run()))))

    assert run.steps[0].messages[1].spans
    assert [message.spans for message in again.steps[0].messages] == [one.spans for one in run.steps[0].messages]
    assert again.steps[0].prefill_spans == run.steps[0].prefill_spans
    assert again.context_spans == run.context_spans


def test_keys_of_a_newer_version_are_ignored() -> None:
    record = run_to_json(example_run())
    record["mood"] = "good"
    record["steps"][0]["result"]["colour"] = "blue"

    assert run_from_json(record) == example_run()


def test_a_record_of_an_older_version_gets_the_defaults_of_new_fields() -> None:
    record = run_to_json(example_run())
    del record["notes"], record["replayed_from"], record["request"]["server"]
    del record["model_calls"], record["context_spans"], record["usage"]["estimated"]
    for step in record["steps"]:
        del step["prefill_spans"]
        for message in step["messages"]:
            del message["spans"]

    run = run_from_json(record)

    assert (run.notes, run.replayed_from, run.request.server) == ((), "", "")
    assert (run.model_calls, run.usage.estimated, run.steps[0].messages[0].spans) == ((), False, ())


def test_a_record_without_a_required_field_is_refused() -> None:
    record = run_to_json(example_run())
    del record["id"]

    with pytest.raises(TypeError, match="id"):
        run_from_json(record)


def test_the_view_of_a_page_has_all_but_messages_what_was_left_out_of_them_functions_and_their_results() -> None:
    whole, view = run_to_json(example_run()), run_view(example_run())

    assert all("messages" not in step for step in view["steps"])
    for step in whole["steps"]:
        assert step.pop("messages")
        assert (step.pop("left_out"), step.pop("prefill_spans") != ()) == ("", step["index"] == 1)
        del step["rules"]
        if step["result"] is not None:
            del step["result"]["operations"]
    assert whole["manifest"].pop("tools")
    assert whole.pop("context_spans")
    for part in (whole, *whole["steps"]):
        del part["written"]
    calls = [call for step in whole["steps"] for call in (step["result"] or {}).get("calls", ())]
    assert calls
    for call in calls:
        del call["key"], call["value"]
    assert view == whole
