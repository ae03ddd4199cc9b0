"""Faults that make fuzz-python found, each as the smallest call that shows it."""
import os
import threading

import pytest
import tracekit
from tracekit import _native

from conftest import FIXTURES

TRACE = os.path.join(FIXTURES, "json", "viz", "viz_small.json")


@pytest.fixture
def trace():
    return tracekit.load(TRACE)


def test_a_callback_cannot_use_the_trace_that_it_reports_on(trace, tmp_path):
    """A callback that uses the trace of its own call gets an error; otherwise it would wait for itself."""
    said = []

    def use(done, total):
        for call in (trace.close, trace.top, lambda: trace.info, lambda: trace.diff(trace)):
            with pytest.raises(ValueError, match="in use") as e:
                call()
            said.append(str(e.value))
    trace.save(tmp_path / "out.json", progress=use)
    assert said and trace.info["events"] > 0


def test_two_threads_compare_two_traces_in_both_orders(trace):
    other = tracekit.load(TRACE)
    running = [threading.Thread(target=lambda a=a, b=b: [a.diff(b) for _ in range(20)], daemon=True)
               for a, b in ((trace, other), (other, trace))]
    for one in running:
        one.start()
    for one in running:
        one.join(60)
    assert not any(one.is_alive() for one in running)


def test_a_trace_closes_while_another_thread_asks_for_its_summary():
    for _ in range(30):
        t = tracekit.load(TRACE)
        closing = threading.Thread(target=t.close)
        closing.start()
        try:
            assert t.info["events"] > 0
        except ValueError as e:
            assert "closed" in str(e)
        closing.join()


def test_traces_are_made_by_load_alone():
    with pytest.raises(TypeError, match="load"):
        type(tracekit.load(TRACE)._native)()


def test_scopes_need_a_key(trace):
    with pytest.raises(ValueError, match="key"):
        trace.scopes(None)


def test_a_refused_option_ends_the_call(trace):
    """After an invalid option, no further option is read: reading it could run Python code while the exception is set."""
    class Odd:
        def __bool__(self):
            raise KeyError("never called")
    with pytest.raises((TypeError, ValueError)):
        trace.save("x.json", format=1, pretty=Odd())


def test_a_nul_ends_no_name(trace, tmp_path):
    with pytest.raises(ValueError, match="null"):
        trace.save(str(tmp_path / "a\0b.json"))
    with pytest.raises(ValueError, match="null"):
        tracekit.load(TRACE + "\0x")
    assert os.listdir(tmp_path) == []


def test_names_of_files_need_not_be_utf8(trace, tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/r\xe9sum\xe9.json")
    trace.save(path)
    assert len(tracekit.load(path)) == len(trace)
    with pytest.raises(FileNotFoundError):
        tracekit.load(path + ".gone")


def test_rows_before_the_first(trace):
    batch = _native.batch(trace._native.table(0, {}))
    assert _native.batch_slice(batch, -2**63, 1) == _native.batch_slice(batch, 0, 1)


def test_no_input():
    with pytest.raises(ValueError, match="nothing"):
        tracekit.load([])


def test_times_at_the_end_of_the_range(tmp_path):
    """Merging rounds up the end time of a rank; this must not overflow."""
    path = tmp_path / "late.json"
    path.write_text('[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":9223372036854.775807,"name":"a"}]')
    assert len(tracekit.load([path, TRACE])) > 1
